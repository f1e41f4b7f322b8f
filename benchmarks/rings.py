"""Ring signatures: posteriors where most outputs are spent by none, counts, and chain reactions."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import anonymatch as am
from anonymatch.counting import known_posterior
from anonymatch.counting.measures import user_figures
from anonymatch.graph import chain_reaction
from anonymatch.running import Budget
from benchmarks.report import Line, Size, plain

__all__ = ["lines"]

_RINGS = {"tiny": (200,), "quick": (1_500, 10_000), "full": (1_500, 10_000, 100_000)}
_SMALL = {"tiny": 3, "quick": 20, "full": 60}
_CLOSE = 0.01  # half of the widest interval
_SECONDS = 60.0
_CHAIN = {"tiny": 3_000, "quick": 20_000, "full": 100_000}

# Inputs of Monero with 1 to 10 and more decoys while these were uniform, and the share of each that
# the chain reaction told (Moeser et al. 2018, table 2).
_PUBLISHED = {
    1: (683_458, 0.890),
    2: (250_520, 0.823),
    3: (634_520, 0.757),
    4: (217_493, 0.721),
    5: (87_077, 0.496),
    6: (115_199, 0.569),
    7: (3_671, 0.458),
    8: (2_216, 0.481),
    9: (1_811, 0.463),
    10: (57_363, 0.129),
}
_ALONE = 0.64  # share of all inputs that had no decoy
_SPENT = 0.97  # share of outputs that are spent: chosen by hand to fit the first row of that table


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    for number in _RINGS[size]:
        yield _posteriors(number, judged=judged)
    yield _held(_SMALL[size], judged=judged)
    yield _entropies_held(_SMALL[size], judged=judged)
    for number in _RINGS[size]:
        yield _counted(number)
    yield _published(_CHAIN[size])


def simulated(number: int, outputs: int, size: int, seed: int) -> tuple[am.Graph, list[int]]:
    """Rings of one spent output and decoys that are uniform, and what each spends."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(outputs)[:number]
    members = np.concatenate((truth[:, None], rng.integers(0, outputs, (number, size - 1))), axis=1)
    edges = [
        (ring, output) for ring, row in enumerate(members.tolist()) for output in sorted(set(row))
    ]
    return am.Graph.from_edges(edges, users=range(number)), truth.tolist()


def _posteriors(number: int, *, judged: bool) -> Line:
    """To +-0.01 within a minute, and so many guesses come true as are promised."""
    graph, truth = simulated(number, 3 * number, 16, 1)
    begin = time.process_time()
    posterior = known_posterior(graph, budget=_SECONDS)
    seconds = time.process_time() - begin
    assert posterior.errors is not None
    assert posterior.method == "moves and swaps"
    widest = 2.0 * float(posterior.errors.max())
    best = np.maximum.reduceat(posterior.probabilities, graph.indptr[:-1])
    first = graph.indptr[:-1]
    at = np.array(
        [
            begin + int(np.argmax(posterior.probabilities[begin:end]))
            for begin, end in zip(first.tolist(), graph.indptr[1:].tolist(), strict=True)
        ]
    )
    spent = np.array([graph.behaviours[j] for j in graph.indices[at].tolist()])
    right = float((spent == np.array(truth)).mean())
    error = float(np.sqrt((best * (1 - best)).sum()) / number)
    assert abs(right - best.mean()) < 4 * error
    return plain(
        f"{number} rings of 16 over {3 * number} outputs",
        seconds,
        goal=f"+-{_CLOSE:g} in {_SECONDS:g} s",
        passed=(widest <= _CLOSE and seconds <= _SECONDS) if judged else None,
        note=f"+-{widest:.2g}; {right:.2%} of guesses right, {best.mean():.2%} promised",
    )


def _held(graphs: int, *, judged: bool) -> Line:
    """On rings that exact methods reach: how often intervals of probabilities hold."""
    held = number = 0
    begin = time.process_time()
    for seed in range(graphs):
        graph, _ = simulated(16, 40, 4, seed)
        exact = am.posterior(graph).probabilities
        estimate = am.posterior(graph, method="estimate", budget=Budget(seconds=0.2), seed=seed)
        if estimate.errors is None:
            continue
        sampled = estimate.errors > 0
        away = np.abs(estimate.probabilities - exact)[sampled]
        held += int((away <= 2.0 * estimate.errors[sampled]).sum())
        number += int(sampled.sum())
    share = held / max(number, 1)
    return plain(
        f"intervals of {number} probabilities that hold",
        time.process_time() - begin,
        goal="93 % or more",
        passed=share >= 0.93 if judged else None,
        note=f"{share:.1%} within two standard errors of the exact answer",
    )


def _entropies_held(graphs: int, *, judged: bool) -> Line:
    """The same of entropies, and how much closer they are than ends of all members allow."""
    held = number = 0
    close = wide = 0.0
    begin = time.process_time()
    for seed in range(graphs):
        graph, _ = simulated(16, 40, 4, seed)
        exact = am.posterior(graph)
        drawn = am.posterior(graph, method="estimate", budget=Budget(seconds=0.2), seed=seed)
        if drawn.entropy_errors is None:
            continue
        sampled = drawn.entropy_errors > 0.0
        true = user_figures(graph, exact.probabilities, exact.margins).shannon.value
        ends = user_figures(graph, drawn.probabilities, drawn.margins).shannon.at(sampled)
        entropy = user_figures(
            graph, drawn.probabilities, drawn.margins, entropy_errors=drawn.entropy_errors
        ).shannon.at(sampled)
        held += int(((entropy.low <= true[sampled]) & (true[sampled] <= entropy.high)).sum())
        number += int(sampled.sum())
        close += float((entropy.high - entropy.low).sum())
        wide += float((ends.high - ends.low).sum())
    share = held / max(number, 1)
    return plain(
        f"intervals of {number} entropies that hold",
        time.process_time() - begin,
        goal="93 % or more",
        passed=share >= 0.93 if judged else None,
        note=f"{share:.1%}; {wide / max(close, 1e-300):.1f} times as close as ends of all members",
    )


def _counted(number: int) -> Line:
    graph, _ = simulated(number, 3 * number, 16, 1)
    begin = time.process_time()
    count = am.count(graph, budget=20.0)
    half = (count.high - count.low) / 2
    assert count.proven is not None
    assert count.proven[0] <= count.log <= count.proven[1]
    return plain(
        f"ways to spend, {number} rings",
        time.process_time() - begin,
        goal="",
        passed=None,
        note=f"2^{count.log2:.6g}, +-{half / np.log(2) / number:.2g} bits a ring, {count.method}",
    )


def _published(number: int) -> Line:
    """A simulated chain with the published ring sizes, beside the published shares."""
    graph, decoys = _monero(number, 1)
    begin = time.process_time()
    told, _ = chain_reaction(graph)
    seconds = time.process_time() - begin
    certain = dict(am.forced(graph))
    assert all(certain[ring] == graph.behaviours[told[ring]] for ring in np.flatnonzero(told >= 0))
    shares = {k: float((told[decoys == k] >= 0).mean()) for k in (1, 2, 3, 4)}
    beside = "; ".join(f"{k}: {shares[k]:.0%} ({_PUBLISHED[k][1]:.0%})" for k in shares)
    more = len(certain) - int((told >= 0).sum())
    everything = float((told >= 0).mean())
    return plain(
        f"chain reaction of {number} inputs, simulated",
        seconds,
        goal="",
        passed=None,
        note=(
            f"{everything:.1%} certain, {more} more by closed sets; by decoys (published): {beside}"
        ),
    )


def _monero(number: int, seed: int) -> tuple[am.Graph, np.ndarray]:
    """Spends in the order of time, at ages that are log-gamma, with uniform decoys."""
    rng = np.random.default_rng(seed)
    outputs = int(number / _SPENT)
    totals = np.array([total for total, _ in _PUBLISHED.values()])
    law = np.concatenate(([_ALONE], (1 - _ALONE) * totals / totals.sum()))
    decoys = rng.choice(len(law), number, p=law)
    spent = np.sort(rng.permutation(outputs)[:number])
    blocks = np.exp(rng.gamma(19.28, 1 / 1.61, number)) / 120.0
    when = spent + 20.0 * blocks  # twenty outputs a block
    order = np.argsort(when, kind="stable")
    edges = []
    for ring, one in enumerate(order.tolist()):
        there = int(min(max(when[one], spent[one] + 1), outputs))
        members = {int(spent[one]), *rng.integers(0, there, int(decoys[one])).tolist()}
        edges += [(ring, output) for output in sorted(members)]
    return am.Graph.from_edges(edges, users=range(number)), decoys[order]
