"""The only importer of the compiled kernels: checks going in, Python values coming out.

A file a family of kernels, named as in ``cpp/kernels``.
"""

from __future__ import annotations

from anonymatch._native.arrays import LARGEST, Floats, Integers, Ints, Rows, Words
from anonymatch._native.band import (
    Band,
    BandPlan,
    BandTask,
    band_job,
    meet_real,
    meet_words,
    plan_band,
)
from anonymatch._native.belief_propagation import BeliefPropagation, propagate_beliefs
from anonymatch._native.class_sums import (
    CLASS_SUMS_LARGEST_PRIME,
    CLASS_SUMS_MOST_ROWS,
    CLASS_SUMS_RATE,
    ClassSums,
)
from anonymatch._native.extension import version
from anonymatch._native.frontier import (
    FRONTIER_WIDTH_LIMIT,
    Frontier,
    FrontierPart,
    FrontierPlan,
    frontier_reals,
    frontier_sampler,
    frontier_words,
    plan_frontier,
    split_frontier,
)
from anonymatch._native.glynn import (
    GLYNN_LARGEST,
    GLYNN_RATE,
    GlynnMatrix,
    Isa,
    best_isa,
    glynn_count_double,
    glynn_minors_double,
    glynn_minors_errors,
    glynn_rounding,
    glynn_units,
)
from anonymatch._native.hidden_chain import Counted, HiddenFigures, hidden_chain_job
from anonymatch._native.importance import Importance, ImportanceDraws
from anonymatch._native.link_chain import (
    LINK_CHAIN_LANES,
    LINK_CHAIN_SAMPLES,
    LinkChain,
    LinkRecord,
    LinkRows,
    LinkSums,
)
from anonymatch._native.nested_bound import NESTED_BOUND_GROUP, NestedBound, nested_bound_job
from anonymatch._native.particles import PARTICLE_LANES, ParticleRuns, Particles
from anonymatch._native.passage import PassageStay, passage_stay
from anonymatch._native.phase_chain import (
    PHASE_CHAIN_LARGEST,
    PhaseChain,
    PhaseRows,
    PhaseSampler,
    stage_log_density,
    stage_survival,
)
from anonymatch._native.planar import (
    PLANAR_LANES,
    PLANAR_PRIME_BITS,
    PlanarPlan,
    PlanarResidues,
    add_fractions,
    chinese_coefficients,
    plan_planar,
    run_planar,
)
from anonymatch._native.ryser import (
    RYSER_LARGEST,
    ryser_count,
    ryser_order,
    ryser_prefixes,
    ryser_units,
)
from anonymatch._native.sinkhorn import sinkhorn_scaling
from anonymatch._native.small import (
    SMALL_BEHAVIOURS,
    SmallBlocks,
    small_counts,
    small_counts_weighted,
)
from anonymatch._native.structure import (
    BlockTable,
    Structure,
    block_table,
    find_structure,
    group_hashes,
    sort_edges,
)
from anonymatch._native.subset import (
    SUBSET_LIMIT,
    SubsetProgramme,
    subset_bytes,
    subset_fits,
    subset_programme,
)
from anonymatch._native.swap_chain import (
    SWAP_CHAIN_LANES,
    SWAP_CHAIN_SAMPLES,
    SwapChain,
    SwapRows,
)
from anonymatch._native.tree import TREE_WIDTH_LIMIT, TreePlan, plan_tree, run_tree
from anonymatch._native.worm import Worm, WormSamples

__all__ = [
    "CLASS_SUMS_LARGEST_PRIME",
    "CLASS_SUMS_MOST_ROWS",
    "CLASS_SUMS_RATE",
    "FRONTIER_WIDTH_LIMIT",
    "GLYNN_LARGEST",
    "GLYNN_RATE",
    "LARGEST",
    "LINK_CHAIN_LANES",
    "LINK_CHAIN_SAMPLES",
    "NESTED_BOUND_GROUP",
    "PARTICLE_LANES",
    "PHASE_CHAIN_LARGEST",
    "PLANAR_LANES",
    "PLANAR_PRIME_BITS",
    "RYSER_LARGEST",
    "SMALL_BEHAVIOURS",
    "SUBSET_LIMIT",
    "SWAP_CHAIN_LANES",
    "SWAP_CHAIN_SAMPLES",
    "TREE_WIDTH_LIMIT",
    "Band",
    "BandPlan",
    "BandTask",
    "BeliefPropagation",
    "BlockTable",
    "ClassSums",
    "Counted",
    "Floats",
    "Frontier",
    "FrontierPart",
    "FrontierPlan",
    "GlynnMatrix",
    "HiddenFigures",
    "Importance",
    "ImportanceDraws",
    "Integers",
    "Ints",
    "Isa",
    "LinkChain",
    "LinkRecord",
    "LinkRows",
    "LinkSums",
    "NestedBound",
    "ParticleRuns",
    "Particles",
    "PassageStay",
    "PhaseChain",
    "PhaseRows",
    "PhaseSampler",
    "PlanarPlan",
    "PlanarResidues",
    "Rows",
    "SmallBlocks",
    "Structure",
    "SubsetProgramme",
    "SwapChain",
    "SwapRows",
    "TreePlan",
    "Words",
    "Worm",
    "WormSamples",
    "add_fractions",
    "band_job",
    "best_isa",
    "block_table",
    "chinese_coefficients",
    "find_structure",
    "frontier_reals",
    "frontier_sampler",
    "frontier_words",
    "glynn_count_double",
    "glynn_minors_double",
    "glynn_minors_errors",
    "glynn_rounding",
    "glynn_units",
    "group_hashes",
    "hidden_chain_job",
    "meet_real",
    "meet_words",
    "nested_bound_job",
    "passage_stay",
    "plan_band",
    "plan_frontier",
    "plan_planar",
    "plan_tree",
    "propagate_beliefs",
    "run_planar",
    "run_tree",
    "ryser_count",
    "ryser_order",
    "ryser_prefixes",
    "ryser_units",
    "sinkhorn_scaling",
    "small_counts",
    "small_counts_weighted",
    "sort_edges",
    "split_frontier",
    "stage_log_density",
    "stage_survival",
    "subset_bytes",
    "subset_fits",
    "subset_programme",
    "version",
]
