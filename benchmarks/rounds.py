"""Users who stay the same over rounds: beside other attacks, calibrated, and at size."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
from tests.disclosure.worlds import profiles, table_of, world

import anonymatch as am
from benchmarks.report import Line, Size, plain, under

__all__ = ["lines"]

_WORLDS = {"tiny": 2, "quick": 20, "full": 200}
_MESSAGES = {"tiny": 10**3, "quick": 10**5, "full": 10**7}
_ROUNDS = {"tiny": 50, "quick": 2000, "full": 20_000}
_OTHERS = ("sda", "lsda", "lsda-nn", "pmda", "nsda", "em")


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    for rounds in (5, 20, 60):
        yield _calibrated(rounds, _WORLDS[size], judged=judged)
    for kind in ("steps", "zipf", "groups"):
        yield _beside(kind, max(2, _WORLDS[size] // 20), judged=judged)
    for method in ("sda", "lsda"):
        yield _large(method, _MESSAGES[size], judged=size == "full")
    yield _chains(_ROUNDS[size], budget=30 if judged else 1)


def _calibrated(rounds: int, worlds: int, *, judged: bool) -> Line:
    """Worlds drawn from the prior: as many guesses are right as is believed."""
    begin = time.process_time()
    gaps = []
    for seed in range(worlds):
        draw = np.random.default_rng([seed, rounds, 1])
        log = world(profiles("prior", 20, 20, draw), rounds, 5, draw)
        found = am.rounds(log, alpha=0.1, decay=False, seed=seed, budget=4)
        assert found.right is not None
        assert found.believed is not None
        gaps.append(found.right - found.believed)
    gap, error = float(np.mean(gaps)), float(np.std(gaps)) / math.sqrt(worlds)
    return plain(
        f"right less believed, {rounds} rounds of 5, {worlds} worlds",
        time.process_time() - begin,
        goal="within 2 errors",
        passed=abs(gap) < 2 * error if judged else None,
        note=f"{gap:+.4f} +- {error:.4f}",
    )


def _beside(kind: str, worlds: int, *, judged: bool) -> Line:
    """Squared error of profiles by all attacks."""
    begin = time.process_time()
    sums: Counter[str] = Counter()
    for seed in range(worlds):
        draw = np.random.default_rng([seed, 50, 2])
        table = profiles(kind, 20, 20, draw)
        log = world(table, 50, 6, draw)
        for method in (*_OTHERS, "gibbs"):
            found = am.rounds(log, method=method, decay=False, budget=5)
            sums[method] += (
                ((table_of(found, table.shape) - table) ** 2).sum() / len(table) / worlds
            )
    best = min(_OTHERS, key=sums.__getitem__)
    told = ", ".join(f"{method} {value:.3f}" for method, value in sums.items())
    return plain(
        f"squared error, 50 rounds of 6, {kind}",
        time.process_time() - begin,
        goal="the smallest",
        passed=sums["gibbs"] < sums[best] if judged else None,
        note=told,
    )


def _large(method: str, messages: int, *, judged: bool) -> Line:
    """A tenth as many users as messages, rounds of 100."""
    users = max(100, messages // 10)
    log = am.disclosure.synthesize_rounds(messages // 100 or 1, users=users, friends=5, batch=100)
    begin = time.process_time()
    found = am.rounds(log, method=method)
    seconds = time.process_time() - begin
    assert found.right is not None
    assert found.right > 0.5 or messages < 10**5
    number = len(set(found.pairs.user.tolist()))
    return under(
        f"{method}, {users} users, {messages} messages",
        seconds,
        120.0 if judged else None,
        note=f"profiles of {number} users, {found.right:.1%} of guesses right",
    )


def _chains(rounds: int, *, budget: float) -> Line:
    log = am.disclosure.synthesize_rounds(rounds, users=max(100, rounds // 10), friends=3, batch=20)
    begin = time.process_time()
    found = am.rounds(log, decay=False, budget=budget)
    seconds = time.process_time() - begin
    assert found.right is not None
    assert found.sweeps is not None
    each = seconds / found.sweeps / log.n_messages
    return plain(
        f"chains, {rounds} rounds of 20",
        seconds,
        goal="",
        passed=None,
        note=f"{found.sweeps} sweeps, about {each * 1e9:.0f} ns a message and sweep, "
        f"{found.right:.1%} right, {found.believed:.1%} believed",
    )
