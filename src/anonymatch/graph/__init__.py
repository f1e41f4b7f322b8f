"""The graph: who may have done what, how graphs are made, and their files."""

from anonymatch.graph.bipartite import Graph

__all__ = ["Graph"]
