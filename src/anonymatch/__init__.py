"""Measure and design anonymity by counting the ways users can be matched to what was seen."""

# ruff: noqa: E402  (the program hears Ctrl-C before anything that takes time is imported)
from anonymatch_start import listen_as_module as _listen_as_module

_listen_as_module()

from anonymatch import paper, sources
from anonymatch._native import version as __version__
from anonymatch.attacks.best_play import Adaptive, adaptive, reveals_needed
from anonymatch.attacks.campaign import attack
from anonymatch.attacks.exposed import Exposure, Outcome
from anonymatch.attacks.exposure import Exposures, exposure, exposures
from anonymatch.attacks.improve import improve
from anonymatch.attacks.improvement import AddedEdge, Improvement
from anonymatch.attacks.result import Attack, AttackStep, Ties
from anonymatch.attacks.strategies import STRATEGIES
from anonymatch.audits.auditing import audit
from anonymatch.audits.compare import Comparison, compare
from anonymatch.audits.gates import GATES, Gate, check_gates
from anonymatch.audits.result import Audit, Score
from anonymatch.counting.bounds import Bounds, bounds, bregman
from anonymatch.counting.chain_sample import ApproximateNote
from anonymatch.counting.dispatch import count, posterior
from anonymatch.counting.minors import gains, minors
from anonymatch.counting.plan import METHODS
from anonymatch.counting.posterior import EdgeCounts, Posterior
from anonymatch.counting.result import Count, Plan, Step
from anonymatch.counting.sampling import sample
from anonymatch.designs.bound import Equity, equity, max_bound
from anonymatch.designs.design import Design, design
from anonymatch.designs.formulas import (
    attack_component,
    equity_increment,
    limit_ratio,
    linked_pair,
    restricted_permutations,
    restricted_permutations_log,
    steps_to_full_deanonymisation,
)
from anonymatch.designs.parts import Part
from anonymatch.designs.polish import polish
from anonymatch.designs.random_graphs import (
    RandomDistribution,
    random_distribution,
    random_expectation,
    random_expectation_exact,
    stirling_comparison,
)
from anonymatch.designs.rivals import Rival, rivals
from anonymatch.effort import Budget
from anonymatch.errors import (
    AnonymatchError,
    BudgetError,
    InputError,
    NoMatchingError,
    StoppedError,
)
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.families import (
    aztec,
    band,
    circulant,
    complete,
    crown,
    ferrers,
    grid,
    hessenberg,
    hexagon,
    hypercube,
    partition,
    random_density,
    random_regular,
    ring,
)
from anonymatch.graph.files import FileNote, read, write
from anonymatch.graph.structure import (
    Blocks,
    BlockView,
    Witness,
    allowed,
    blocks,
    forced,
    witness,
)
from anonymatch.measures import mixes
from anonymatch.measures.figure import Figure
from anonymatch.measures.mixes import (
    exponential_mix_count,
    exponential_mix_log,
    pool_mix_bits,
    threshold_mix_bits,
)
from anonymatch.measures.summary import Metrics, metrics
from anonymatch.runs import Run
from anonymatch.sources.relays import path_counts, relay_graph, relay_weights

__all__ = [
    "GATES",
    "METHODS",
    "STRATEGIES",
    "Adaptive",
    "AddedEdge",
    "AnonymatchError",
    "ApproximateNote",
    "Attack",
    "AttackStep",
    "Audit",
    "BlockView",
    "Blocks",
    "Bounds",
    "Budget",
    "BudgetError",
    "Comparison",
    "Count",
    "Design",
    "EdgeCounts",
    "Equity",
    "Exposure",
    "Exposures",
    "Figure",
    "FileNote",
    "Gate",
    "Graph",
    "Improvement",
    "InputError",
    "Metrics",
    "NoMatchingError",
    "Outcome",
    "Part",
    "Plan",
    "Posterior",
    "RandomDistribution",
    "Rival",
    "Run",
    "Score",
    "Step",
    "StoppedError",
    "Ties",
    "Witness",
    "__version__",
    "adaptive",
    "allowed",
    "attack",
    "attack_component",
    "audit",
    "aztec",
    "band",
    "blocks",
    "bounds",
    "bregman",
    "check_gates",
    "circulant",
    "compare",
    "complete",
    "count",
    "crown",
    "design",
    "equity",
    "equity_increment",
    "exponential_mix_count",
    "exponential_mix_log",
    "exposure",
    "exposures",
    "ferrers",
    "forced",
    "gains",
    "grid",
    "hessenberg",
    "hexagon",
    "hypercube",
    "improve",
    "limit_ratio",
    "linked_pair",
    "max_bound",
    "metrics",
    "minors",
    "mixes",
    "paper",
    "partition",
    "path_counts",
    "polish",
    "pool_mix_bits",
    "posterior",
    "random_density",
    "random_distribution",
    "random_expectation",
    "random_expectation_exact",
    "random_regular",
    "read",
    "relay_graph",
    "relay_weights",
    "restricted_permutations",
    "restricted_permutations_log",
    "reveals_needed",
    "ring",
    "rivals",
    "sample",
    "sources",
    "steps_to_full_deanonymisation",
    "stirling_comparison",
    "threshold_mix_bits",
    "witness",
    "write",
]
