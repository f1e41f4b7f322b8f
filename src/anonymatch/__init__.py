"""Measure and design anonymity by counting the ways users can be matched to what was seen."""

# ruff: noqa: E402  (the program hears Ctrl-C before anything that takes time is imported)
from anonymatch_start import listen_as_module as _listen_as_module

_listen_as_module()

from anonymatch import paper, sources
from anonymatch._native import version as __version__
from anonymatch.attacks.all_exposures import Exposures, exposure, exposures
from anonymatch.attacks.best_play import Adaptive, adaptive, reveals_needed
from anonymatch.attacks.campaign import attack
from anonymatch.attacks.improvement import AddedEdge, Improvement
from anonymatch.attacks.improving import improve
from anonymatch.attacks.one_exposure import Exposure, Outcome
from anonymatch.attacks.result import Attack, AttackStep, Ties
from anonymatch.attacks.strategies import STRATEGIES
from anonymatch.audits.auditing import audit
from anonymatch.audits.comparing import Comparison, compare
from anonymatch.audits.gates import GATES, Gate, check_gates
from anonymatch.audits.result import Audit, Score
from anonymatch.base.errors import (
    AnonymatchError,
    BudgetError,
    InputError,
    NoMatchingError,
    StoppedError,
)
from anonymatch.counting.api import count, posterior
from anonymatch.counting.approximate.chain_sample import ApproximateNote
from anonymatch.counting.bounds.bregman import Bounds, bounds, bregman
from anonymatch.counting.minor_counts import gains, minors
from anonymatch.counting.planning.choose import METHODS
from anonymatch.counting.results import Count, EdgeCounts, Plan, Posterior, Step
from anonymatch.counting.sampling import sample
from anonymatch.designs.bound import Equity, equity, max_bound
from anonymatch.designs.designer import Design, design
from anonymatch.designs.formulas import (
    attack_component,
    equity_increment,
    limit_ratio,
    linked_pair,
    restricted_permutations,
    restricted_permutations_log,
    steps_to_full_deanonymisation,
)
from anonymatch.designs.parts.part import Part
from anonymatch.designs.polish import polish
from anonymatch.designs.random_graphs import (
    RandomDistribution,
    random_distribution,
    random_expectation,
    random_expectation_exact,
    stirling_comparison,
)
from anonymatch.designs.rival_graphs import Rival, rivals
from anonymatch.graph.decomposition import (
    Blocks,
    BlockView,
    Witness,
    allowed,
    blocks,
    forced,
    witness,
)
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
from anonymatch.graph.graph import Graph
from anonymatch.graph.io.files import FileNote, read, write
from anonymatch.measures import mixes
from anonymatch.measures.interval import Interval
from anonymatch.measures.mixes import (
    exponential_mix_count,
    exponential_mix_log,
    pool_mix_bits,
    threshold_mix_bits,
)
from anonymatch.measures.summary import Metrics, metrics
from anonymatch.running.budget import Budget
from anonymatch.running.checkpoint import Checkpoint
from anonymatch.sources.formats.relays import path_counts, relay_graph, relay_weights

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
    "Checkpoint",
    "Comparison",
    "Count",
    "Design",
    "EdgeCounts",
    "Equity",
    "Exposure",
    "Exposures",
    "FileNote",
    "Gate",
    "Graph",
    "Improvement",
    "InputError",
    "Interval",
    "Metrics",
    "NoMatchingError",
    "Outcome",
    "Part",
    "Plan",
    "Posterior",
    "RandomDistribution",
    "Rival",
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
