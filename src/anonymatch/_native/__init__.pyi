"""The only importer of the compiled kernels: checks going in, Python values coming out.

A file a family of kernels, named as in ``cpp/kernels``.
"""

from anonymatch._native.arrays import (
    Floats as Floats,
    Integers as Integers,
    Ints as Ints,
    LARGEST as LARGEST,
    Rows as Rows,
    Words as Words,
)
from anonymatch._native.band import (
    Band as Band,
    BandPlan as BandPlan,
    BandTask as BandTask,
    band_job as band_job,
    meet_real as meet_real,
    meet_words as meet_words,
    plan_band as plan_band,
)
from anonymatch._native.belief_propagation import (
    BeliefPropagation as BeliefPropagation,
    propagate_beliefs as propagate_beliefs,
)
from anonymatch._native.class_sums import (
    CLASS_SUMS_LARGEST_PRIME as CLASS_SUMS_LARGEST_PRIME,
    CLASS_SUMS_MOST_ROWS as CLASS_SUMS_MOST_ROWS,
    CLASS_SUMS_RATE as CLASS_SUMS_RATE,
    ClassSums as ClassSums,
)
from anonymatch._native.extension import (
    version as version,
)
from anonymatch._native.frontier import (
    FRONTIER_WIDTH_LIMIT as FRONTIER_WIDTH_LIMIT,
    Frontier as Frontier,
    FrontierPart as FrontierPart,
    FrontierPlan as FrontierPlan,
    frontier_reals as frontier_reals,
    frontier_sampler as frontier_sampler,
    frontier_words as frontier_words,
    plan_frontier as plan_frontier,
    split_frontier as split_frontier,
)
from anonymatch._native.glynn import (
    GLYNN_LARGEST as GLYNN_LARGEST,
    GLYNN_RATE as GLYNN_RATE,
    GlynnMatrix as GlynnMatrix,
    Isa as Isa,
    best_isa as best_isa,
    glynn_count_double as glynn_count_double,
    glynn_minors_double as glynn_minors_double,
    glynn_minors_errors as glynn_minors_errors,
    glynn_rounding as glynn_rounding,
    glynn_units as glynn_units,
)
from anonymatch._native.hidden_chain import (
    ClassFigures as ClassFigures,
    Counted as Counted,
    HiddenFigures as HiddenFigures,
    class_chain as class_chain,
    hidden_chain_job as hidden_chain_job,
)
from anonymatch._native.importance import (
    Importance as Importance,
    ImportanceDraws as ImportanceDraws,
)
from anonymatch._native.link_chain import (
    LINK_CHAIN_LANES as LINK_CHAIN_LANES,
    LINK_CHAIN_SAMPLES as LINK_CHAIN_SAMPLES,
    LinkChain as LinkChain,
    LinkRecord as LinkRecord,
    LinkRows as LinkRows,
    LinkSums as LinkSums,
    LinkTop as LinkTop,
)
from anonymatch._native.nested_bound import (
    NESTED_BOUND_GROUP as NESTED_BOUND_GROUP,
    NestedBound as NestedBound,
    nested_bound_job as nested_bound_job,
)
from anonymatch._native.network import (
    CARRIED as CARRIED,
    DrawnNetwork as DrawnNetwork,
    MIX_KINDS as MIX_KINDS,
    NETWORK_LANES as NETWORK_LANES,
    NetworkEvents as NetworkEvents,
    NetworkMix as NetworkMix,
    NetworkTargets as NetworkTargets,
    OUTSIDE as OUTSIDE,
    network_draw as network_draw,
    network_forward as network_forward,
    network_inside as network_inside,
    network_rows as network_rows,
)
from anonymatch._native.particles import (
    PARTICLE_LANES as PARTICLE_LANES,
    ParticleRuns as ParticleRuns,
    Particles as Particles,
)
from anonymatch._native.passage import (
    FlushStay as FlushStay,
    PassageStay as PassageStay,
    flush_stay as flush_stay,
    passage_stay as passage_stay,
)
from anonymatch._native.phase_chain import (
    PHASE_CHAIN_LARGEST as PHASE_CHAIN_LARGEST,
    PhaseChain as PhaseChain,
    PhaseRows as PhaseRows,
    PhaseSampler as PhaseSampler,
    stage_log_density as stage_log_density,
    stage_survival as stage_survival,
)
from anonymatch._native.planar import (
    PLANAR_LANES as PLANAR_LANES,
    PLANAR_PRIME_BITS as PLANAR_PRIME_BITS,
    PlanarPlan as PlanarPlan,
    PlanarResidues as PlanarResidues,
    add_fractions as add_fractions,
    chinese_coefficients as chinese_coefficients,
    plan_planar as plan_planar,
    run_planar as run_planar,
)
from anonymatch._native.profile_chain import (
    ProfileChain as ProfileChain,
    ROUND_MARGINALS_LIMIT as ROUND_MARGINALS_LIMIT,
    RoundMessages as RoundMessages,
    round_marginals as round_marginals,
)
from anonymatch._native.ryser import (
    RYSER_LARGEST as RYSER_LARGEST,
    ryser_count as ryser_count,
    ryser_order as ryser_order,
    ryser_prefixes as ryser_prefixes,
    ryser_units as ryser_units,
)
from anonymatch._native.sinkhorn import (
    sinkhorn_scaling as sinkhorn_scaling,
)
from anonymatch._native.small import (
    SMALL_BEHAVIOURS as SMALL_BEHAVIOURS,
    SmallBlocks as SmallBlocks,
    small_counts as small_counts,
    small_counts_weighted as small_counts_weighted,
)
from anonymatch._native.spare_chain import (
    SpareChain as SpareChain,
    SpareSamples as SpareSamples,
)
from anonymatch._native.structure import (
    BlockTable as BlockTable,
    Structure as Structure,
    block_table as block_table,
    find_structure as find_structure,
    group_hashes as group_hashes,
    sort_edges as sort_edges,
)
from anonymatch._native.subset import (
    SUBSET_LIMIT as SUBSET_LIMIT,
    SubsetProgramme as SubsetProgramme,
    subset_bytes as subset_bytes,
    subset_fits as subset_fits,
    subset_programme as subset_programme,
)
from anonymatch._native.swap_chain import (
    SWAP_CHAIN_LANES as SWAP_CHAIN_LANES,
    SWAP_CHAIN_SAMPLES as SWAP_CHAIN_SAMPLES,
    SwapChain as SwapChain,
    SwapRows as SwapRows,
)
from anonymatch._native.table_chain import (
    TableChain as TableChain,
    TableStretch as TableStretch,
)
from anonymatch._native.tree import (
    TREE_WIDTH_LIMIT as TREE_WIDTH_LIMIT,
    TreePlan as TreePlan,
    plan_tree as plan_tree,
    run_tree as run_tree,
)
from anonymatch._native.worm import (
    Worm as Worm,
    WormSamples as WormSamples,
)
