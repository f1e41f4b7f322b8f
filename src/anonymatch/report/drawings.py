"""All drawings in one place: graphs, matrices, sets, networks, exposures, designs."""

from anonymatch.report.bipartite import bipartite, exposure
from anonymatch.report.matrix import heat, matrix, permutations
from anonymatch.report.parts import parts
from anonymatch.report.relays import network
from anonymatch.report.sets import sets

__all__ = [
    "bipartite",
    "exposure",
    "heat",
    "matrix",
    "network",
    "parts",
    "permutations",
    "sets",
]
