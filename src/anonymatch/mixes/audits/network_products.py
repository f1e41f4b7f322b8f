"""Networks of mixes whose delays matter: posteriors of the mixes, multiplied.

If every link is seen and delays are independent, histories are as likely as the product over the
mixes of how likely their matchings are. So where a message came out is the product of the mixes'
posterior matrices, exactly; errors of the matrices add up. Delays matter if the law has a memory,
and in exponential mixes if packets are lost, made by mixes or inside at the start.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from anonymatch import counting
from anonymatch._native import CARRIED
from anonymatch.audits import Resources
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, quoted, several
from anonymatch.counting import Posterior, count
from anonymatch.counting.measures import entropy_terms, system
from anonymatch.mixes import (
    MixGraph,
    Network,
    NetworkJoint,
    NetworkMarginals,
    NetworkObservation,
    NetworkSteps,
    Weigh,
    marginals_of,
    mix_graphs,
    network_joint,
    network_sample,
    network_steps,
    steps_cost,
)
from anonymatch.running import Execution

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from anonymatch.base.arrays import Floats, Ints

__all__ = ["hidden_marginals", "product_marginals"]

_LN2 = math.log(2.0)
_BYTES = 24  # of an entry of a product, with the copy that sorts it
_SECONDS = 1e-8  # of one multiplication of sparse rows
_QUICK = 60.0  # seconds that all mixes together may take unless told otherwise
_POSSIBLE = 1e-12
_DROPPED = 1e-13  # probability of a path below which it is left out
_TOGETHER = 1024  # messages whose products are made at once
_LOOKED_AT = 64  # messages whose products show how long those of all take


def product_marginals(
    observation: NetworkObservation, network: Network, resources: Resources
) -> tuple[NetworkMarginals, NetworkJoint, float]:
    """Where each message may have come out, joint figures, and how sure both are."""
    links = network.links
    n_events = len(links.events.to)
    mixes = list(mix_graphs(network, budget=resources.budget))
    allowed = resources.budget.seconds if resources.budget.chosen else _QUICK
    share = allowed / max(3 * len(mixes), 1)  # three questions about each of them
    each = replace(resources, budget=replace(resources.budget, seconds=share))
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


def hidden_marginals(
    observation: NetworkObservation, network: Network, resources: Resources, sample: tuple[int, int]
) -> tuple[Ints, Floats | None, NetworkMarginals, NetworkJoint]:
    """Where messages may have come out if packets are lost, made by mixes or inside at the start.

    Returns the messages that are looked at, their weights (None for all of them), their figures,
    and joint figures. ``sample`` says how many messages are drawn and how many of those that met
    the fewest others are added if all of them would take too long.
    """
    links, rates = network.links, network.rates
    assert rates is not None
    effort = Execution(executor=resources.executor, progress=resources.stage())
    seconds, memory = steps_cost(links, rates)
    if not resources.budget.allows(seconds, memory):
        raise resources.budget.refusal("the chains of the mixes", seconds, memory)
    solved = network_steps(links, network.times, rates, effort=effort)
    if isinstance(solved, int):
        raise _unexplained(network, solved)
    if network.lost_at is not None:  # packets that a corrupt mix never sends on
        ends = (links.events.to == CARRIED) & (np.diff(solved.steps.indptr) == 0)
        solved.lost[ends] = network.lost_at[ends]
        solved.inside[ends] = 1.0 - network.lost_at[ends]
    number = len(links.sent)
    chosen, weights = np.arange(number), None
    budget = resources.budget
    allowed = budget.seconds / 2 if budget.chosen else _QUICK / 2
    some = np.unique(np.linspace(0, number - 1, _LOOKED_AT).astype(np.int64))
    _, _, _, products = _reached(solved, links.sent[some], links.out)
    seconds = _SECONDS * products * number / len(some)
    if seconds > allowed and number > sum(sample):
        met = links.first_met()[1]
        chosen, weights = network_sample(met, size=sample[0], worst=sample[1], seed=resources.seed)
    truth = None if observation.truth is None else observation.truth[chosen]
    parts = []
    for begin in range(0, len(chosen), _TOGETHER):
        group = chosen[begin : begin + _TOGETHER]
        effort.stop.check()
        rows, lost, inside, _ = _reached(solved, links.sent[group], links.out)
        asked = None if truth is None else truth[begin : begin + _TOGETHER]
        miss = np.abs(1.0 - np.asarray(rows.sum(axis=1)).ravel() - lost - inside)
        error = float(miss.max(initial=0.0)) + solved.error
        parts.append(_with_fates(_figures(rows, asked, error), lost, inside))
    marginals = _joined(parts)
    own = float(marginals.shannon_all.sum()) if weights is None else math.inf
    high = min(own, solved.bits)
    low = min(float(marginals.shannon_all.max(initial=0.0)), high)
    joint = NetworkJoint(
        histories=solved.bits, who=Interval.between(low, high), box=high, ceiling=None, parts=1
    )
    return chosen, weights, marginals, joint


def _unexplained(network: Network, mix: int) -> InputError:
    name, events = quoted(network.mixes[mix]), network.links.events
    missing = np.count_nonzero(events.to == mix) - np.count_nonzero(events.from_ == mix)
    if missing > 0 and network.rates is not None and network.rates.drained:
        return InputError(
            f"mix {name} is empty at the end by ",
            Argument("drained"),
            f", and {several(int(missing), 'packet')} that entered it did not leave: give ",
            Argument("loss"),
        )
    return InputError(
        f"mix {name}: no matching explains its packets with these losses and "
        "cover traffic; more packets leave it than entered it: give ",
        Argument("cover_rate"),
        " or ",
        Argument("inside_at_start"),
    )


def _reached(
    solved: NetworkSteps, sent: Ints, out: Ints
) -> tuple[csr_array, Floats, Floats, float]:
    """Return exits of messages with their probabilities, P(lost), P(inside), and products made."""
    from scipy.sparse import csr_array

    size, number = len(sent), len(solved.lost)
    at = csr_array((np.ones(size), (np.arange(size), sent)), shape=(size, number))
    lost, inside = np.zeros(size), np.zeros(size)
    reached, lengths, products = at, np.diff(solved.steps.indptr), 0.0
    while at.nnz:
        lost += np.asarray(at @ solved.lost)
        inside += np.asarray(at @ solved.inside)
        products += float(lengths[at.indices].sum())
        at = at @ solved.steps
        at.data[at.data < _DROPPED] = 0.0
        at.eliminate_zeros()
        reached = reached + at
    return csr_array(reached[:, out]), lost, inside, products


def _with_fates(marginals: NetworkMarginals, lost: Floats, inside: Floats) -> NetworkMarginals:
    """The figures with lost and inside as two outcomes."""
    left, shannon = marginals.left, marginals.shannon
    exits = left * shannon + entropy_terms(left)
    bits = exits + entropy_terms(lost) + entropy_terms(inside)
    return replace(marginals, shannon_all=np.maximum(bits, 0.0), lost=lost)


def _joined(parts: list[NetworkMarginals]) -> NetworkMarginals:
    """Figures of all groups of messages."""
    values = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(NetworkMarginals)
        if one.name != "error"
    }
    return NetworkMarginals(**values, error=max(part.error for part in parts))


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
) -> csr_array:
    """Probabilities of each message (row) to be the packet of each exit (column).

    Steps from event to event are one matrix, of which a hop more is a product more.
    """
    from scipy.sparse import csr_array

    links = network.links
    before = links.events.before
    size = len(links.sent)
    carried = np.flatnonzero(before >= 0)
    rows, columns, values = [before[carried]], [carried], [np.ones(len(carried))]
    for mix, found in matrices.values():
        matrix = found.matrix[:, : len(mix.departures)].tocoo()
        rows.append(mix.arrivals[matrix.row])
        columns.append(mix.departures[matrix.col])
        values.append(np.clip(matrix.data, 0.0, 1.0))
    steps = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(n_events, n_events),
    )
    at = csr_array((np.ones(size), (np.arange(size), links.sent)), shape=(size, n_events))
    out = at[:, links.out]
    lengths = np.diff(steps.indptr)
    while at.nnz:
        products = float(lengths[at.indices].sum())
        memory = _BYTES * min(products, float(size) * n_events)
        if not resources.budget.allows(_SECONDS * products, memory):
            raise resources.budget.refusal(
                "the product of the mixes' posteriors", _SECONDS * products, memory
            )
        at = at @ steps
        out = out + at[:, links.out]
    return csr_array(out)


def _figures(rows: csr_array, truth: Ints | None, error: float) -> NetworkMarginals:
    rows.eliminate_zeros()
    rows.sort_indices()
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
