"""How many perfect matchings: reduce a graph to blocks, plan, run, combine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.faces import on_first_use

# At once: there is also a folder of the name bounds, whose import would hide the function.
from anonymatch.counting.bounds.bregman import Bounds, bounds, bregman

if TYPE_CHECKING:
    from anonymatch.counting.api import count, known_posterior, plan_posterior, posterior
    from anonymatch.counting.approximate.spare_chain import SPARE_METHOD
    from anonymatch.counting.blocks.block_classes import concatenated_ranges, members_of_classes
    from anonymatch.counting.class_solutions import ClassSolution, SolutionCost, solve_classes
    from anonymatch.counting.exact.rook import canonical
    from anonymatch.counting.integers import multiply, product
    from anonymatch.counting.minor_counts import gains, minors, minors_at_once_seconds
    from anonymatch.counting.planning.choose import METHODS, exact_words, method_named
    from anonymatch.counting.reference import first_minors, matchings, permanent
    from anonymatch.counting.results import (
        ApproximateNote,
        Count,
        EdgeCounts,
        Plan,
        Posterior,
        Step,
        log_of,
        power_product,
    )
    from anonymatch.counting.sampling import sample

__all__ = [
    "METHODS",
    "SPARE_METHOD",
    "ApproximateNote",
    "Bounds",
    "ClassSolution",
    "Count",
    "EdgeCounts",
    "Plan",
    "Posterior",
    "SolutionCost",
    "Step",
    "bounds",
    "bregman",
    "canonical",
    "concatenated_ranges",
    "count",
    "exact_words",
    "first_minors",
    "gains",
    "known_posterior",
    "log_of",
    "matchings",
    "members_of_classes",
    "method_named",
    "minors",
    "minors_at_once_seconds",
    "multiply",
    "permanent",
    "plan_posterior",
    "posterior",
    "power_product",
    "product",
    "sample",
    "solve_classes",
]

__getattr__ = on_first_use(
    __name__,
    {
        "approximate.spare_chain": "SPARE_METHOD",
        "api": "count known_posterior plan_posterior posterior",
        "blocks.block_classes": "concatenated_ranges members_of_classes",
        "class_solutions": "ClassSolution SolutionCost solve_classes",
        "exact.rook": "canonical",
        "integers": "multiply product",
        "minor_counts": "gains minors minors_at_once_seconds",
        "planning.choose": "METHODS exact_words method_named",
        "reference": "first_minors matchings permanent",
        "results": "ApproximateNote Count EdgeCounts Plan Posterior Step log_of power_product",
        "sampling": "sample",
    },
)
