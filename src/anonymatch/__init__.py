"""Measure and design anonymity by counting the ways users can be matched to what was seen."""

from anonymatch._native import version as __version__
from anonymatch.counting.bounds import Bounds, bounds, bregman
from anonymatch.counting.dispatch import count, posterior
from anonymatch.counting.minors import gains, minors
from anonymatch.counting.plan import METHODS
from anonymatch.counting.posterior import EdgeCounts, Posterior
from anonymatch.counting.result import Count, Plan, Step
from anonymatch.counting.sampling import sample
from anonymatch.effort import Budget
from anonymatch.errors import AnonymatchError, BudgetError, InputError, NoMatchingError
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

__all__ = [
    "METHODS",
    "AnonymatchError",
    "BlockView",
    "Blocks",
    "Bounds",
    "Budget",
    "BudgetError",
    "Count",
    "EdgeCounts",
    "FileNote",
    "Graph",
    "InputError",
    "NoMatchingError",
    "Plan",
    "Posterior",
    "Step",
    "Witness",
    "__version__",
    "allowed",
    "aztec",
    "band",
    "blocks",
    "bounds",
    "bregman",
    "circulant",
    "complete",
    "count",
    "crown",
    "ferrers",
    "forced",
    "gains",
    "grid",
    "hessenberg",
    "hexagon",
    "hypercube",
    "minors",
    "partition",
    "posterior",
    "random_density",
    "random_regular",
    "read",
    "ring",
    "sample",
    "witness",
    "write",
]
