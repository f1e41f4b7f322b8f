"""What to build: the best groups for a number of users and edges, and what random graphs give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.faces import on_first_use

if TYPE_CHECKING:
    from anonymatch.designs import formulas
    from anonymatch.designs.bound import Equity, equity, max_bound
    from anonymatch.designs.designer import Design, design
    from anonymatch.designs.formulas import (
        attack_component,
        avoiding_share_log,
        equity_increment,
        limit_ratio,
        linked_pair,
        restricted_permutations,
        restricted_permutations_log,
        steps_to_full_deanonymisation,
    )
    from anonymatch.designs.partition import layered, parameters
    from anonymatch.designs.parts import Near, Part, graph_of
    from anonymatch.designs.random_graphs import (
        RandomDistribution,
        Rival,
        random_distribution,
        random_expectation,
        random_expectation_exact,
        rivals,
        stirling_comparison,
    )
    from anonymatch.designs.small import polish

__all__ = [
    "Design",
    "Equity",
    "Near",
    "Part",
    "RandomDistribution",
    "Rival",
    "attack_component",
    "avoiding_share_log",
    "design",
    "equity",
    "equity_increment",
    "formulas",
    "graph_of",
    "layered",
    "limit_ratio",
    "linked_pair",
    "max_bound",
    "parameters",
    "polish",
    "random_distribution",
    "random_expectation",
    "random_expectation_exact",
    "restricted_permutations",
    "restricted_permutations_log",
    "rivals",
    "steps_to_full_deanonymisation",
    "stirling_comparison",
]

__getattr__ = on_first_use(
    __name__,
    {
        "bound": "Equity equity max_bound",
        "designer": "Design design",
        "formulas": (
            "attack_component avoiding_share_log equity_increment limit_ratio linked_pair "
            "restricted_permutations restricted_permutations_log steps_to_full_deanonymisation"
        ),
        "partition": "layered parameters",
        "parts": "Near Part graph_of",
        "random_graphs": (
            "RandomDistribution Rival random_distribution random_expectation "
            "random_expectation_exact rivals stirling_comparison"
        ),
        "small": "polish",
    },
)
