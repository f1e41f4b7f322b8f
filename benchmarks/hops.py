"""Logs of several hops in which a message fits many others: how close, how fast, calibrated."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import anonymatch as am
from anonymatch.base.interval import Interval
from anonymatch.mixes import observe, synthesize
from benchmarks.report import Line, Size, plain

__all__ = ["lines"]

_MESSAGES = {"tiny": (300,), "quick": (3_000,), "full": (10_000, 100_000)}
_SECONDS_EACH = 3e-4  # 3 s for 10,000 messages
_LOSSY = 4.0  # as much longer with losses and cover
_CLOSE, _CLOSE_GUESS = 0.001, 0.005  # bits, half an interval; of 95 % of the probabilities


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    for messages in _MESSAGES[size]:
        yield _audited("erlang:3,1.6667", messages, 0.0, 0.0, judged=judged)
    smallest = _MESSAGES[size][0]
    for law in ("erlang:2,2.5", "0.15+hops:0.5,1.5,3"):
        yield _audited(law, smallest, 0.0, 0.0, judged=False, spare=20.0)
    yield _audited("erlang:4,1.25", smallest // 10, 0.0, 0.0, judged=False, spare=60.0)
    yield _audited("erlang:3,1.6667", smallest, 0.02, 0.2, judged=judged, spare=3.0)


def _half(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def _audited(
    law: str, messages: int, loss: float, cover: float, *, judged: bool, spare: float = 1.0
) -> Line:
    """An audit with the seconds that the goal allows, or more: half of its intervals."""
    log = synthesize(law, messages=messages, rate=10.0, loss=loss, cover=cover, seed=1)
    lasted = float(log.arrivals[-1] - log.arrivals[0])
    rate = cover * messages / lasted if loss else None
    allowed = _SECONDS_EACH * messages * (_LOSSY if loss else 1.0)
    begin = time.process_time()
    audit = am.audit(
        observe(log, law, loss=loss if loss else None, cover_rate=rate),
        budget=max(allowed, 1.0) * spare,
    )
    seconds = time.process_time() - begin
    links, score = audit.answers.links, audit.score
    assert links is not None
    assert audit.entropy is not None
    assert score is not None
    assert abs(score.right - score.promised) < 4 * score.error
    guess = float(np.quantile(links.probability.high - links.probability.low, 0.95)) / 2
    entropy = _half(audit.entropy)
    hidden = f", {100 * loss:g} % lost and {100 * cover:g} % cover unmarked" if loss else ""
    evidence = math.nan if links.log_evidence is None else links.log_evidence
    return plain(
        f"{messages} messages, {law} at 10/s{hidden}",
        seconds,
        goal=f"entropy +-{_CLOSE:g}, guesses +-{_CLOSE_GUESS:g} in {allowed:.3g} s"
        if judged
        else "",
        passed=(seconds <= allowed and entropy <= _CLOSE and guess <= _CLOSE_GUESS)
        if judged
        else None,
        note=f"entropy {audit.entropy.value:.4f} +- {entropy:.4f}, guesses +-{guess:.4f} (95 % of "
        f"them), joint {audit.bits.value:.4f} +- {_half(audit.bits):.4f} bits, log evidence "
        f"{evidence:.6f}",
    )
