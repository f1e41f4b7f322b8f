"""The graphs of the mixes of a network whose delays have a memory: arrivals x departures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.graph import Graph, Names, structure
from anonymatch.mixes.laws import Law
from anonymatch.mixes.laws.candidates import Candidates, edges_of
from anonymatch.mixes.logs.observation import Network
from anonymatch.running import Budget


class MixGraph(NamedTuple):
    """A mix by its number: events at which packets arrive and leave, and who may be whom.

    The graph has the places of packets that are still inside as its last behaviours.
    """

    mix: int
    arrivals: Ints
    departures: Ints
    graph: Graph


def mix_graphs(network: Network, *, budget: Budget) -> Iterator[MixGraph]:
    """The graphs of all mixes that somebody passes, layer by layer.

    Raises
    ------
    InputError
        If no history of a mix fits the law.
    """
    law, links = network.law, network.links
    assert law is not None
    for mix in np.argsort(links.layer, kind="stable").tolist():
        arrivals = np.flatnonzero(links.events.to == mix)
        departures = np.flatnonzero(links.events.from_ == mix)
        if len(arrivals):
            yield MixGraph(
                mix, arrivals, departures, _graph(network, law, mix, arrivals, departures, budget)
            )


def _graph(
    network: Network, law: Law, mix: int, arrivals: Ints, departures: Ints, budget: Budget
) -> Graph:
    came, left = network.times[arrivals], network.times[departures]
    n_in, n_out = len(came), len(left)
    runs = law.candidates(
        came,
        left,
        users=np.arange(n_in),
        behaviours=np.arange(n_out),
        end=float(network.times[-1]),
    )
    inside = n_in - n_out
    edges = edges_of(
        runs, n_out, budget=budget, lost_slots=inside, linked=runs.late if inside else None
    )
    names = Names(range(n_in), "user"), Names(range(n_out + inside), "behaviour")
    graph = Graph(*names, edges)
    if not structure(graph).matched:
        raise _unexplained(network, law, mix, runs, left)
    return graph


def _unexplained(
    network: Network, law: Law, mix: int, runs: Candidates, left: np.ndarray
) -> InputError:
    name = quoted(network.mixes[mix])
    alone = runs.orphans(len(left))
    where = (
        f"what leaves it at {left[alone[0]]:.6g} s fits nothing" if len(alone) else "times clash"
    )
    return InputError(
        f"mix {name}: no way to match what came in and left fits the {law} ({where}); check times "
        "and law"
    )
