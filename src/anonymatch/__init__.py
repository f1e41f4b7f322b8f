"""Measure and design anonymity by counting the ways users can be matched to what was seen.

Names are loaded when they are first used. Their types are in ``__init__.pyi``.
"""

# ruff: noqa: E402  (the program hears Ctrl-C before anything that takes time is imported)
from anonymatch_start import listen_as_module as _listen_as_module

_listen_as_module()

from importlib import import_module as _import_module

_ROOMS = {
    "graph": "Graph allowed blocks families forced witness write",
    "counting": "Bounds Count Posterior bounds count gains minors posterior sample",
    "base.interval": "Interval",
    "counting.measures": "Metrics metrics",
    "mixes": "MixAudit NetworkAudit read",
    "tables": "TableAudit audit_table",
    "rings": "RingAudit audit_rings",
    "theory.attacks": "Attack adaptive attack exposure exposures improve",
    "theory.designs": "Design design formulas max_bound random_expectation",
    "audits": "Audit Comparison GraphAudit LogTotals audit check_gates compare totals",
    "planning": "NetworkPlan plan",
    "disclosure": "Disclosure rounds",
    "running": "Budget Checkpoint Cluster",
    "base.errors": "AnonymatchError BudgetError InputError NoMatchingError StoppedError",
    "_native": "__version__",
}
"""The public names, by the room in which they live."""

_MORE = {
    "graph": "BlockView Blocks FileNote Witness",
    "graph.families": (
        "aztec band circulant complete crown ferrers grid hessenberg hexagon hypercube "
        "partition random_density random_regular ring"
    ),
    "counting": "METHODS ApproximateNote EdgeCounts Plan Step bregman",
    "mixes": (
        "path_counts relay_graph relay_weights exponential_mix_count exponential_mix_log "
        "pool_mix_bits threshold_mix_bits"
    ),
    "theory.attacks": (
        "STRATEGIES Adaptive AddedEdge AttackStep Exposure Exposures Improvement Outcome "
        "Ties reveals_needed"
    ),
    "theory.designs": (
        "Equity Part RandomDistribution Rival equity polish random_distribution "
        "random_expectation_exact rivals stirling_comparison"
    ),
    "theory.designs.formulas": (
        "attack_component equity_increment limit_ratio linked_pair "
        "restricted_permutations restricted_permutations_log "
        "steps_to_full_deanonymisation"
    ),
    "audits": "GATES Gate Score",
}
"""Names that work here too: they belong to ``am.families``, ``am.formulas`` and other rooms."""

_SUBPACKAGES = ("disclosure", "mixes", "paper", "rings", "sources", "tables", "theory")
_HOMES = {
    name: room
    for table in (_MORE, _ROOMS)
    for room, names in table.items()
    for name in names.split()
}

__all__ = sorted((*_SUBPACKAGES, *" ".join(_ROOMS.values()).split()))


def __getattr__(name: str) -> object:
    if name in _SUBPACKAGES:
        return _import_module(f"anonymatch.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymatch' has no attribute {name!r}")
    room = _import_module(f"anonymatch.{_HOMES[name]}")
    value = room.version if name == "__version__" else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
