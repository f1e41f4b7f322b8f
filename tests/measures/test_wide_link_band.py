"""Which graphs of logs are bands: messages in that fit runs of messages out."""

from __future__ import annotations

from anonymatch.graph import Graph
from anonymatch.mixes import LinkBand


def test_graphs_of_logs_become_bands_and_others_do_not() -> None:
    graph = Graph.from_rows(["11011", "01111", "00111"])
    assert LinkBand.of(graph, 2) is not None
    assert LinkBand.of(Graph.from_rows(["1010", "0110"]), 0) is None
    assert LinkBand.of(Graph.from_rows(["0110", "1100"]), 0) is None
