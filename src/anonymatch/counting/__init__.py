"""How many perfect matchings: reduce a graph to blocks, plan, run, combine."""

from anonymatch.counting.api import count, known_posterior, posterior
from anonymatch.counting.approximate.chain_sample import ApproximateNote
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import BlockClass, places
from anonymatch.counting.blocks.solution import shares
from anonymatch.counting.bounds.bregman import Bounds, block_bits, bounds, bregman
from anonymatch.counting.exact import glynn
from anonymatch.counting.exact.rook import canonical
from anonymatch.counting.integers import multiply, product, words_for
from anonymatch.counting.minor_counts import gains, minors
from anonymatch.counting.planning.choose import METHODS, Option
from anonymatch.counting.planning.execute import Computation, Settings
from anonymatch.counting.reference import first_minors, matchings, permanent
from anonymatch.counting.results import (
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
    "ApproximateNote",
    "Block",
    "BlockClass",
    "Bounds",
    "Computation",
    "Count",
    "EdgeCounts",
    "Option",
    "Plan",
    "Posterior",
    "Settings",
    "Step",
    "block_bits",
    "bounds",
    "bregman",
    "canonical",
    "count",
    "first_minors",
    "gains",
    "glynn",
    "known_posterior",
    "log_of",
    "matchings",
    "minors",
    "multiply",
    "permanent",
    "places",
    "posterior",
    "power_product",
    "product",
    "sample",
    "shares",
    "words_for",
]
