"""Logs with losses, cover and an end: right by enumeration and by simulated truths; how fast."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from tests.measures.passages.explanations import explained

import anonymatch as am
from anonymatch.mixes.solvers.hops.hidden_chain import hidden_figures
from anonymatch.mixes.solvers.hops.phase_chain import phase_figures
from anonymatch.mixes.solvers.links import Channel, LinkFigures
from anonymatch.running.budget import Budget
from benchmarks.report import Line, Size, faster, plain, under
from benchmarks.timing import race

__all__ = ["lines"]

_LOGS = {"tiny": 20, "quick": 200, "full": 2000}
_SEEDS = {"tiny": 1, "quick": 5, "full": 20}
_MESSAGES = {"tiny": 300, "quick": 5_000, "full": 100_000}
_CLOSE = 1e-9

Floats = npt.NDArray[np.float64]


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    for hops in (1, 2, 3):
        yield _by_definition(hops, _LOGS[size] // hops**2, judged=judged)
    for loss, cover, inside in ((0.02, 0.0, 5.0), (0.05, 0.2, 5.0), (0.1, 0.5, 20.0)):
        yield _calibrated(loss, cover, inside, _SEEDS[size], judged=judged)
    yield _compressed(size)
    for inside in (5.0, 20.0, 100.0):
        yield _speed(inside, _MESSAGES[size], size)


def _random_log(seed: int) -> tuple[list[float], list[float], Channel]:
    """Up to five messages in and out, with any combination of what may be told."""
    draw = np.random.default_rng(seed)
    came, left = (int(number) for number in draw.integers(1, 6, 2))
    arrivals = sorted(draw.uniform(0.0, 5.0, came).tolist())
    departures = sorted(draw.uniform(0.5, 6.0, left).tolist())
    lossy, covered = draw.integers(0, 3, 2)
    channel = Channel(
        loss=float(draw.uniform(0.01, 0.9)) if lossy == 1 else 0.0,
        lost=int(draw.integers(0, 3)) if lossy == 2 else None,
        cover_rate=float(draw.uniform(0.01, 2.0)) if covered == 1 else 0.0,
        cover=int(draw.integers(0, 3)) if covered == 2 else None,
        begin=0.0,
        end=float(draw.uniform(6.0, 8.0)),
        drained=bool(draw.random() < 0.3),
    )
    return arrivals, departures, channel


def _solve(
    arrivals: list[float], departures: list[float], hops: int, channel: Channel
) -> LinkFigures:
    if hops == 1:
        return hidden_figures(arrivals, departures, mean=0.8, channel=channel)
    return phase_figures(
        arrivals, departures, means=[0.8] * hops, channel=channel, budget=Budget(seconds=60)
    )


def _by_definition(hops: int, logs: int, *, judged: bool) -> Line:
    """The largest difference of any probability or entropy from enumeration."""
    worst, explained_logs, refused = 0.0, 0, 0
    begin = time.process_time()
    for seed in range(logs):
        arrivals, departures, channel = _random_log(seed)
        truth = explained(
            arrivals,
            departures,
            density=lambda delay: _density(delay, hops),
            survival=lambda delay: _survival(delay, hops),
            begin=channel.begin,
            end=channel.end,
            loss=channel.loss,
            lost=channel.lost,
            cover_rate=channel.cover_rate,
            cover=channel.cover,
            drained=channel.drained,
            strict=hops > 1,
        )
        try:
            figures = _solve(arrivals, departures, hops, channel)
        except am.InputError:
            assert truth is None, f"log {seed} of {hops} hops is refused, and has an explanation"
            refused += 1
            continue
        assert truth is not None, f"log {seed} of {hops} hops has no explanation"
        explained_logs += 1
        own = np.array([truth.own(i) for i in range(len(arrivals))])
        assert figures.log_evidence is not None
        worst = max(
            worst,
            abs(figures.log_evidence - truth.log_evidence),
            abs(figures.joint_bits.value - truth.joint_bits),
            float(np.abs(figures.lost - truth.lost).max()),
            float(np.abs(figures.inside - truth.inside).max()),
            float(np.abs(figures.real - truth.real).max()),
            float(np.abs(figures.probability.value - truth.pairs.max(axis=1)).max()),
            float(np.abs(figures.shannon_all.value - own).max()),
        )
    assert worst < 1e-6, f"a figure of {hops} hops is off by {worst:.3g}"
    return plain(
        f"{logs} logs by definition, {hops} hops",
        time.process_time() - begin,
        goal=f"off < {_CLOSE:g}",
        passed=worst < _CLOSE if judged else None,
        note=f"largest difference {worst:.2g} in {explained_logs} logs, {refused} without any "
        "explanation are refused",
    )


def _density(delay: float, hops: int) -> float:
    return delay ** (hops - 1) * math.exp(-delay / 0.8) / (0.8**hops * math.factorial(hops - 1))


def _survival(delay: float, hops: int) -> float:
    x = delay / 0.8
    return math.exp(-x) * sum(x**k / math.factorial(k) for k in range(hops))


def _simulated(
    messages: int, inside: float, loss: float, cover: float, seed: int
) -> tuple[Floats, Floats, npt.NDArray[np.int64], Channel]:
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(1.0, messages))
    left = arrivals + draw.exponential(inside, messages)
    end = float(arrivals[-1])
    out = (draw.random(messages) >= loss) & (left <= end)
    times = np.concatenate((left[out], draw.uniform(0.0, end, draw.poisson(cover * end))))
    order = np.argsort(times)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    truth = np.full(messages, -1, dtype=np.int64)
    truth[out] = rank[: int(out.sum())]
    return arrivals, times[order], truth, Channel(loss=loss, cover_rate=cover, begin=0.0, end=end)


def _calibrated(loss: float, cover: float, inside: float, seeds: int, *, judged: bool) -> Line:
    right = promised = variance = 0.0
    guesses = 0
    begin = time.process_time()
    for seed in range(seeds):
        arrivals, departures, truth, channel = _simulated(2000, inside, loss, cover, seed)
        figures = hidden_figures(arrivals, departures, mean=inside, channel=channel)
        p = figures.probability.value
        right += float((truth == figures.guess).sum())
        promised += float(p.sum())
        variance += float((p * (1.0 - p)).sum())
        guesses += len(p)
    z = (right - promised) / math.sqrt(variance)
    return plain(
        f"promises kept, loss {loss:g}, cover {cover:g}/s, {inside:g} inside",
        time.process_time() - begin,
        goal="z within 3",
        passed=abs(z) < 3.0 if judged else None,
        note=f"right {right / guesses:.4f}, promised {promised / guesses:.4f}, z {z:.2f}, {seeds} "
        "logs of 2,000 messages",
    )


def _compressed(size: Size) -> Line:
    messages = {"tiny": 200, "quick": 2_000, "full": 10_000}[size]
    arrivals, departures, _, channel = _simulated(messages, 20.0, 0.02, 0.2, 1)

    def mean(together: int) -> float:
        figures = hidden_figures(
            arrivals, departures, mean=20.0, channel=channel, together=together
        )
        return round(float(figures.shannon.value.mean()), 7)

    timed = race({"ours": lambda: mean(32), "theirs": lambda: mean(len(departures) + 1)}, rounds=1)
    assert timed["ours"].answer == timed["theirs"].answer
    return faster(
        f"{messages} messages, 20 inside, compressed rows",
        timed["ours"].seconds,
        "a row a departure",
        timed["theirs"].seconds,
        2.0 if size == "full" else None,
    )


def _speed(inside: float, messages: int, size: Size) -> Line:
    arrivals, departures, _, channel = _simulated(messages, inside, 0.02, 0.2, 2)
    begin = time.process_time()
    figures = hidden_figures(arrivals, departures, mean=inside, channel=channel)
    seconds = time.process_time() - begin
    assert abs(float(figures.lost.sum()) / messages - 0.02) < 0.02
    entropy = float((figures.shannon.value * figures.departed).sum() / figures.departed.sum())
    limit = 18.0 if size == "full" else None  # of the prototype at 100 inside
    return under(
        f"{messages} messages, {inside:g} inside, loss and cover",
        seconds,
        limit,
        f"entropy {entropy:.4f} bits, error {figures.error:.1g}",
    )
