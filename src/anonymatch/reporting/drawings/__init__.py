"""All drawings in one place: graphs, matrices, sets, networks, exposures, designs."""

from anonymatch.reporting.drawings.curves import network, sets
from anonymatch.reporting.drawings.graphs import bipartite, exposure, parts
from anonymatch.reporting.drawings.matrices import heat, matrix, permutations

__all__ = ["bipartite", "exposure", "heat", "matrix", "network", "parts", "permutations", "sets"]
