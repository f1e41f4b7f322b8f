"""Networks of mixes: right by all histories and by simulated truths; how fast."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tests.audits.network_logs import all_histories, bits, drawn, entropy, marginals, written

import anonymatch as am
from anonymatch import _native
from anonymatch._native import NetworkMix
from anonymatch.mixes import synthesize, synthesize_network, write_messages, write_network
from benchmarks.report import Line, Size, faster, plain, under

__all__ = ["lines"]

_LOGS = {"tiny": 10, "quick": 60, "full": 400}
_MESSAGES = {"tiny": 300, "quick": 10_000, "full": 100_000}
_CLOSE = 1e-9
_LANE = 5e-9  # seconds of a lane and event


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        yield _by_definition(Path(folder, "log.csv"), _LOGS[size], judged=judged)
        for law in ("exponential:2.67", "pool:3,6"):
            yield _calibrated(path, law, max(_MESSAGES[size] // 10, 1000), judged=judged)
        yield _lanes(_MESSAGES[size], judged=judged)
        yield _all(path, _MESSAGES[size], size)
        yield _sampled(path, 10 * _MESSAGES[size], size)
        for law in ("exponential:1", "threshold:10"):
            yield _totals(path, law, 10 * _MESSAGES[size], size)


def _by_definition(path: Path, logs: int, *, judged: bool) -> Line:
    """The largest difference of any entropy from all histories, one by one."""
    worst = 0.0
    begin = time.process_time()
    for seed in range(logs):
        rows = drawn(seed, packets=3 + seed % 4, layers=1 + seed % 3)
        solution = all_histories(rows)
        audit = am.audit(written(path, rows), law="exponential", whole_log=True)
        who = [int(name[1:]) for name in audit.users["user"].to_list()]
        own = [bits(row) for row in marginals(solution, len(who))[who]]
        worst = max(worst, float(np.abs(audit.users["shannon"].to_numpy() - own).max()))
        joint = entropy(solution) / len(who)
        worst = max(worst, audit.bits.low - joint, joint - audit.bits.high)
    assert worst < 1e-6, f"a figure of a network is off by {worst:.3g}"
    return plain(
        f"{logs} networks by definition",
        time.process_time() - begin,
        goal=f"off < {_CLOSE:g}",
        passed=worst < _CLOSE if judged else None,
        note=f"largest difference {worst:.2g} bits, own and joint, 1 to 3 layers",
    )


def _calibrated(path: Path, law: str, messages: int, *, judged: bool) -> Line:
    write_network(synthesize_network("3x3", law, messages=messages, rate=10.0, seed=3), path)
    begin = time.process_time()
    score = am.audit(path, law=law, corrupt="m1,m4").score
    assert score is not None
    assert score.impossible == 0
    z = (score.right - score.promised) / score.error
    return plain(
        f"promises kept, 3x3 {law}, two corrupt",
        time.process_time() - begin,
        goal="z within 3",
        passed=abs(z) < 3.0 if judged else None,
        note=f"right {score.right:.4f}, promised {score.promised:.4f}, z {z:.2f}, {messages:,} "
        "messages",
    )


def _lanes(messages: int, *, judged: bool) -> Line:
    """Seconds of one lane and event: 64 targets through a whole log, 30 inside each mix."""
    draw = np.random.default_rng(1)
    arrivals = np.cumsum(draw.exponential(0.1, messages))
    routes = draw.integers(3, size=(messages, 3)) + 3 * np.arange(3)
    log = _native.network_draw(arrivals, routes.astype(np.int32), 9, NetworkMix("exponential", 9.0))
    events = log.events(9)
    inside = _native.network_inside(events)
    targets = np.flatnonzero(events.from_ == _native.OUTSIDE)[: 64 * 20]
    begin = time.process_time()
    done = _native.network_forward(events, inside, targets)
    spent = time.process_time() - begin
    assert abs(float(done.left.mean()) - 1.0) < 0.5
    passed = done.ended[::64] - targets[::64]
    each = spent / (64.0 * float(passed.sum()))
    return plain(
        "one lane and event of the forward pass",
        spent,
        goal="<= 5 ns",
        passed=each <= _LANE if judged else None,
        note=f"{each * 1e9:.2f} ns a lane and event, exits with their logarithms included",
    )


def _all(path: Path, messages: int, size: Size) -> Line:
    log = synthesize_network("3x3", "exponential:2.67", messages=messages, rate=10.0, seed=1)
    write_network(log, path)
    begin = time.process_time()
    audit = am.audit(path, law="exponential")
    spent = time.process_time() - begin
    assert audit.answers.chosen is None
    assert audit.ceiling is not None
    assert audit.entropy.value < audit.ceiling.value
    return under(
        f"{messages:,} messages through 3x3, all as targets",
        spent,
        20.0 if size == "full" else None,
        note=f"entropy {audit.entropy.value:.3f} bits, ceiling {audit.ceiling.value:.3f}, "
        f"worst 1 % {audit.entropy_quantile(0.01).value:.3f}",
    )


def _sampled(path: Path, messages: int, size: Size) -> Line:
    """Three hundred inside each mix: a message may be any of thousands."""
    rate = 900.0 if size == "full" else 90.0
    log = synthesize_network("3x3", "exponential:1", messages=messages, rate=rate, seed=2)
    write_network(log, path)
    begin = time.process_time()
    audit = am.audit(path, law="exponential", budget=None if size == "full" else 0.01)
    spent = time.process_time() - begin
    form = math.log2(rate) + (3 + math.log(2) - 2 * (1.5 - 0.5772156649015329)) / math.log(2)
    if size == "full":
        assert audit.answers.chosen is not None
        assert abs(audit.entropy.value - form) < 0.05
    return under(
        f"{messages:,} messages through 3x3, {rate / 3:.0f} inside a mix",
        spent,
        60.0 if size == "full" else None,
        note=f"entropy {audit.entropy.low:.3f} to {audit.entropy.high:.3f} bits of "
        f"{len(audit.users):,} messages that were looked at; closed form {form:.3f}",
    )


def _totals(path: Path, law: str, messages: int, size: Size) -> Line:
    """One mix, and a log that is summed up in stretches."""
    write_messages(synthesize(law, messages=messages, rate=5.0, seed=3), path)
    begin = time.process_time()
    audit = am.audit(path, law=law, whole_log=True, drained=True)
    whole = time.process_time() - begin
    begin = time.process_time()
    totals = am.totals(path, law=law, rows=100_000)
    spent = time.process_time() - begin
    assert abs(totals.entropy - audit.entropy.value) < _CLOSE
    assert abs(totals.joint_bits - audit.bits.value) < _CLOSE
    goal = 2.0 if size == "full" else None
    note = f"entropy {totals.entropy:.4f} bits; in constant memory"
    what = f"{messages:,} messages through one mix ({law}), summed up"
    return faster(what, spent, "the whole audit", whole, goal, note=note)
