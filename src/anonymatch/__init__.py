"""Measure and design anonymity by counting the ways users can be matched to what was seen."""

from anonymatch._native import version as __version__
from anonymatch.counting.bounds import Bounds, bounds, bregman
from anonymatch.counting.dispatch import count, posterior
from anonymatch.counting.plan import METHODS
from anonymatch.counting.posterior import Posterior
from anonymatch.counting.result import Count, Plan
from anonymatch.effort import Budget
from anonymatch.errors import AnonymatchError, BudgetError, InputError, NoMatchingError
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import allowed, blocks, forced, witness
