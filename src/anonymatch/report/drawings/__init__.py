"""All drawings in one place: graphs, matrices, sets, networks, exposures, designs."""

from anonymatch.report.drawings.anonymity_sets import sets
from anonymatch.report.drawings.design_parts import parts
from anonymatch.report.drawings.graphs import bipartite, exposure
from anonymatch.report.drawings.matrices import heat, matrix, permutations
from anonymatch.report.drawings.networks import network

__all__ = ["bipartite", "exposure", "heat", "matrix", "network", "parts", "permutations", "sets"]
