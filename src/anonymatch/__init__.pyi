"""Types of the public names."""

from anonymatch.graph import (
    BlockView as BlockView,
    Blocks as Blocks,
    FileNote as FileNote,
    Graph as Graph,
    Witness as Witness,
    allowed as allowed,
    blocks as blocks,
    families as families,
    forced as forced,
    witness as witness,
    write as write,
)
from anonymatch.counting import (
    ApproximateNote as ApproximateNote,
    Bounds as Bounds,
    Count as Count,
    EdgeCounts as EdgeCounts,
    METHODS as METHODS,
    Plan as Plan,
    Posterior as Posterior,
    Step as Step,
    bounds as bounds,
    bregman as bregman,
    count as count,
    gains as gains,
    minors as minors,
    posterior as posterior,
    sample as sample,
)
from anonymatch.base.interval import Interval as Interval
from anonymatch.counting.measures import Metrics as Metrics, metrics as metrics
from anonymatch.mixes import (
    MixAudit as MixAudit,
    NetworkAudit as NetworkAudit,
    exponential_mix_count as exponential_mix_count,
    exponential_mix_log as exponential_mix_log,
    path_counts as path_counts,
    pool_mix_bits as pool_mix_bits,
    read as read,
    relay_graph as relay_graph,
    relay_weights as relay_weights,
    threshold_mix_bits as threshold_mix_bits,
)
from anonymatch.tables import TableAudit as TableAudit, audit_table as audit_table
from anonymatch.rings import RingAudit as RingAudit, audit_rings as audit_rings
from anonymatch.theory.attacks import (
    Adaptive as Adaptive,
    AddedEdge as AddedEdge,
    Attack as Attack,
    AttackStep as AttackStep,
    Exposure as Exposure,
    Exposures as Exposures,
    Improvement as Improvement,
    Outcome as Outcome,
    STRATEGIES as STRATEGIES,
    Ties as Ties,
    adaptive as adaptive,
    attack as attack,
    exposure as exposure,
    exposures as exposures,
    improve as improve,
    reveals_needed as reveals_needed,
)
from anonymatch.theory.designs import (
    Design as Design,
    Equity as Equity,
    Part as Part,
    RandomDistribution as RandomDistribution,
    Rival as Rival,
    design as design,
    equity as equity,
    formulas as formulas,
    max_bound as max_bound,
    polish as polish,
    random_distribution as random_distribution,
    random_expectation as random_expectation,
    random_expectation_exact as random_expectation_exact,
    rivals as rivals,
    stirling_comparison as stirling_comparison,
)
from anonymatch.audits import (
    Audit as Audit,
    Comparison as Comparison,
    GATES as GATES,
    Gate as Gate,
    GraphAudit as GraphAudit,
    LogTotals as LogTotals,
    Score as Score,
    audit as audit,
    check_gates as check_gates,
    compare as compare,
    totals as totals,
)
from anonymatch.planning import (
    NetworkPlan as NetworkPlan,
    plan as plan,
)
from anonymatch.disclosure import (
    Disclosure as Disclosure,
    rounds as rounds,
)
from anonymatch.running import (
    Budget as Budget,
    Checkpoint as Checkpoint,
    Cluster as Cluster,
)
from anonymatch.base.errors import (
    AnonymatchError as AnonymatchError,
    BudgetError as BudgetError,
    InputError as InputError,
    NoMatchingError as NoMatchingError,
    StoppedError as StoppedError,
)
from anonymatch.graph.families import (
    aztec as aztec,
    band as band,
    circulant as circulant,
    complete as complete,
    crown as crown,
    ferrers as ferrers,
    grid as grid,
    hessenberg as hessenberg,
    hexagon as hexagon,
    hypercube as hypercube,
    partition as partition,
    random_density as random_density,
    random_regular as random_regular,
    ring as ring,
)
from anonymatch.theory.designs.formulas import (
    attack_component as attack_component,
    equity_increment as equity_increment,
    limit_ratio as limit_ratio,
    linked_pair as linked_pair,
    restricted_permutations as restricted_permutations,
    restricted_permutations_log as restricted_permutations_log,
    steps_to_full_deanonymisation as steps_to_full_deanonymisation,
)
from anonymatch import disclosure as disclosure, mixes as mixes, paper as paper, rings as rings, sources as sources, tables as tables, theory as theory

__all__: list[str]
__version__: str
