"""Networks of mixes whose delays have a memory: posteriors of the mixes, multiplied.

If every link is seen and delays are independent, histories are as likely as the product over the
mixes of how likely their matchings are. So where a message came out is the product of the mixes'
posterior matrices, exactly; errors of the matrices add up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonymatch import counting
from anonymatch.audits.answers import Resources
from anonymatch.base.errors import BudgetError
from anonymatch.base.text import quoted
from anonymatch.counting import Posterior, count
from anonymatch.measures import (
    NetworkJoint,
    NetworkMarginals,
    Weigh,
    marginals_of,
    network_joint,
    system,
)
from anonymatch.sources import MixGraph, Network, Observation, mix_graphs

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from anonymatch.base.arrays import Floats, Ints

__all__ = ["product_marginals"]

_LN2 = math.log(2.0)
_BYTES = 24  # of an entry of a product, with the copy that sorts it
_POSSIBLE = 1e-12


def product_marginals(
    observation: Observation, network: Network, resources: Resources
) -> tuple[NetworkMarginals, NetworkJoint, float]:
    """Where each message may have come out, joint figures, and how sure both are."""
    links = network.links
    n_events = len(links.events.to)
    mixes = list(mix_graphs(network, budget=resources.budget))
    share = replace(resources.budget, seconds=resources.budget.seconds / max(2 * len(mixes), 1))
    each = replace(resources, budget=share)
    entropies = np.zeros(len(network.mixes))
    matrices: dict[int, tuple[MixGraph, Posterior]] = {}
    confidence, by_layer = 1.0, np.zeros(network.n_layers)
    for mix in mixes:
        found, bits = _solved(network, mix, each)
        matrices[mix.mix], entropies[mix.mix] = (mix, found), bits
        confidence = min(confidence, found.confidence)
        layer = links.layer[mix.mix]
        by_layer[layer] = max(by_layer[layer], float(found.error))
    rows = _through(network, matrices, n_events, resources)
    truth = observation.truth
    marginals = _figures(rows, truth, float(by_layer.sum()))
    flight = int(np.count_nonzero(links.events.from_ == -1)) - len(links.out)
    weigh = _weights(matrices) if flight == 0 else None
    own = None
    if int(np.count_nonzero(links.events.from_ == -1)) == len(links.sent):
        own = marginals.shannon_all
    joint = network_joint(links, entropies=entropies, own=own, weigh=weigh)
    return marginals, joint, confidence


def _solved(network: Network, mix: MixGraph, resources: Resources) -> tuple[Posterior, float]:
    """The posterior of a mix, and the entropy of its matching in bits."""
    try:
        found = counting.posterior(
            mix.graph,
            budget=resources.budget,
            seed=resources.seed,
            executor=resources.executor,
        )
        support = system.reweighted(mix.graph, None) if mix.graph.weighted else mix.graph
        ways = count(support, exact=False, budget=resources.budget, seed=resources.seed)
        weight = ways
        if mix.graph.weighted:
            weight = count(mix.graph, exact=False, budget=resources.budget, seed=resources.seed)
    except BudgetError as error:
        name = quoted(network.mixes[mix.mix])
        raise error.about(
            f"mix {name}, {len(mix.arrivals)} packets under a law with a memory"
        ) from None
    entropy = system.matching_entropy(weight, found, mix.graph, ways).value
    places = math.lgamma(len(mix.arrivals) - len(mix.departures) + 1)
    return found, max(entropy - places, 0.0) / _LN2


def _through(
    network: Network,
    matrices: dict[int, tuple[MixGraph, Posterior]],
    n_events: int,
    resources: Resources,
) -> csc_array:
    """Probabilities of each message (row) to be the packet of each exit (column)."""
    from scipy.sparse import csc_array, hstack

    links = network.links
    from_, before = links.events.from_, links.events.before
    size = len(links.sent)
    columns: list[csc_array | None] = [None] * n_events
    for row, event in enumerate(links.sent.tolist()):
        columns[event] = csc_array(([1.0], ([row], [0])), shape=(size, 1))
    nothing = csc_array((size, 1))
    left_of = {int(e): k for _, (mix, _) in matrices.items() for k, e in enumerate(mix.departures)}
    solved: dict[int, csc_array] = {}
    entries = 0
    # A mix is solved when all layers before have been; what is carried follows in between.
    for layer in range(network.n_layers + 1):
        for event in np.flatnonzero((from_ == -2) | (from_ >= 0)).tolist():
            if columns[event] is not None:
                continue
            if from_[event] == -2:
                columns[event] = columns[int(before[event])]
            elif int(from_[event]) in solved:
                k = left_of[event]
                columns[event] = solved[int(from_[event])][:, [k]]
        if layer == network.n_layers:
            break
        for number in np.flatnonzero(links.layer == layer).tolist():
            if number not in matrices:
                continue
            mix, found = matrices[number]
            came = hstack(
                [nothing if columns[e] is None else columns[e] for e in mix.arrivals.tolist()],
                format="csc",
            )
            solved[number] = csc_array(came @ found.matrix[:, : len(mix.departures)])
            entries += solved[number].nnz
            memory = _BYTES * entries
            if memory > resources.budget.memory:
                raise resources.budget.refusal("the product of posteriors", 0.0, memory)
    exits = [columns[e] for e in links.out.tolist()]
    return csc_array(hstack([nothing if one is None else one for one in exits], format="csc"))


def _figures(columns: csc_array, truth: Ints | None, error: float) -> NetworkMarginals:
    rows = columns.tocsr()
    rows.eliminate_zeros()
    size = rows.shape[0]
    of = np.repeat(np.arange(size), np.diff(rows.indptr))
    p = np.clip(rows.data, 0.0, 1.0)
    logs = np.log2(np.where(p > 0.0, p, 1.0))
    guess, largest, guesses = np.full(size, -1), np.zeros(size), np.full(size, np.nan)
    asked = np.zeros(size)
    for row in range(size):
        cut = slice(rows.indptr[row], rows.indptr[row + 1])
        if cut.stop == cut.start:
            continue
        values = p[cut]
        largest[row] = values.max()
        best = np.flatnonzero(values >= largest[row] * (1 - 1e-12))
        guess[row] = rows.indices[cut][best].min()
        falling = np.sort(values)[::-1]
        guesses[row] = float(falling @ np.arange(1, len(falling) + 1)) / float(falling.sum())
        if truth is not None and truth[row] >= 0:
            asked[row] = float(values[rows.indices[cut] == truth[row]].sum())
    return marginals_of(
        entropy=_sums(of, -p * logs, size),
        collision=_sums(of, p * p, size),
        largest=largest,
        guess=guess,
        left=_sums(of, p, size),
        asked=asked,
        guesses=guesses,
        candidates=np.bincount(of[p > _POSSIBLE], minlength=size),
        error=error,
    )


def _sums(groups: Ints, values: Floats, number: int) -> Floats:
    return np.bincount(groups, values, number).astype(np.float64)


def _weights(matrices: dict[int, tuple[MixGraph, Posterior]]) -> Weigh:
    """Weights of mixes by events of arrival and departure, for histories one by one."""
    known: dict[tuple[int, int], float] = {}
    for mix, _ in matrices.values():
        graph = mix.graph
        weights: Floats = np.ones(graph.n_edges) if graph.weights is None else graph.weights
        pairs = zip(mix.arrivals[graph.rows()], mix.departures[graph.indices], strict=True)
        known.update(((int(a), int(d)), float(w)) for (a, d), w in zip(pairs, weights, strict=True))
    return lambda arrival, departure: known.get((arrival, departure), 0.0)
