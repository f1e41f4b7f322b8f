"""What is known about people, who may have several messages, against a list of all that fits."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import MessageObservation
from anonymatch.mixes.logs.observing import observe

Weights = Sequence[Sequence[float]]
Fate = tuple[int | None, ...]
"""The message out that each message in is, or None if it is lost."""


def fates(weights: Weights, lost: int) -> Iterator[tuple[Fate, float]]:
    """All that may have happened if exactly so many were lost, and how likely in proportion."""

    def further(fate: Fate, weight: float) -> Iterator[tuple[Fate, float]]:
        if len(fate) == len(weights):
            if fate.count(None) == lost:
                yield fate, weight
            return
        for j, w in enumerate(weights[len(fate)]):
            if w and j not in fate:
                yield from further((*fate, j), weight * w)
        yield from further((*fate, None), weight)

    return further((), 1.0)


def entropy(weights: Counter[Hashable]) -> float:
    total = sum(weights.values())
    return -math.fsum(w / total * math.log2(w / total) for w in weights.values())


def by_definition(
    weights: Weights, lost: int, senders: Sequence[Hashable], receivers: Sequence[Hashable]
) -> tuple[float, float]:
    """Bits per message about messages, and about people."""
    messages: Counter[Hashable] = Counter()
    people: Counter[Hashable] = Counter()
    for fate, weight in fates(weights, lost):
        pairs = (
            (sender, "" if j is None else receivers[j])
            for sender, j in zip(senders, fate, strict=True)
        )
        messages[fate] += weight  # type: ignore[assignment]
        people[tuple(sorted(map(str, pairs)))] += weight  # type: ignore[assignment]
    return entropy(messages) / len(senders), entropy(people) / len(senders)


def check(
    observation: MessageObservation,
    weights: Weights,
    senders: Sequence[Hashable],
    receivers: Sequence[Hashable],
) -> None:
    audit = am.audit(observation, steps=0)
    bits, people_bits = by_definition(weights, observation.lost, senders, receivers)

    assert audit.bits.value == pytest.approx(bits, abs=1e-9)
    assert audit.people_bits is not None
    assert audit.people_bits.value == pytest.approx(people_bits, abs=1e-9)
    assert audit.people_bits.low - 1e-12 <= people_bits <= audit.people_bits.high + 1e-12
    assert audit.people_bits.value <= audit.bits.value + 1e-9


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(3))
def test_cover_and_losses_in_any_numbers_agree_with_all_that_may_have_happened(seed: int) -> None:
    """Logs of few people under a window law, with every number of losses and of cover traffic."""
    draw = random.Random(seed)
    checked: Counter[tuple[bool, bool]] = Counter()
    while checked.total() < 60 or len(checked) < 4:
        n_in, n_out = draw.randint(2, 5), draw.randint(1, 5)
        log = Messages(
            arrivals=np.sort([draw.uniform(0, 4) for _ in range(n_in)]),
            departures=np.sort([draw.uniform(1, 7) for _ in range(n_out)]),
            senders=tuple(draw.choice("ab") for _ in range(n_in)),
            receivers=tuple(draw.choice("xyz") for _ in range(n_out)),
        )
        lost = draw.randint(0, n_in)
        spare = n_out - (n_in - lost)
        try:
            observation = observe(
                log, "window:0,4", lost=lost, cover=max(spare, 0) or None, drained=True
            )
        except am.InputError:
            continue
        if observation.senders is None or observation.receivers is None:
            continue
        fits = [[float(0 <= out - at <= 4) for out in log.departures] for at in log.arrivals]
        check(observation, fits, log.senders, log.receivers)
        checked[lost > 0, spare > 0] += 1


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_weighted_pairs_agree_with_all_that_may_have_happened(data: st.DataObject) -> None:
    n_in, n_out = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    lost = data.draw(st.integers(max(0, n_in - n_out), n_in))
    weights = [
        [data.draw(st.sampled_from([0, 1, 1, 2, 5])) for _ in range(n_out)] for _ in range(n_in)
    ]
    senders = tuple(data.draw(st.sampled_from("ab")) for _ in range(n_in))
    receivers = tuple(data.draw(st.sampled_from("xyz")) for _ in range(n_out))
    if not any(True for _ in fates(weights, lost)):
        return
    observation = MessageObservation(
        graph=am.Graph.from_biadjacency([[*row, *[1] * lost] for row in weights]),
        source="",
        senders=senders,
        receivers=(*receivers, *(None,) * lost),
        lost=lost,
    )
    check(observation, weights, senders, receivers)


def test_a_loss_and_a_spare_departure_of_the_same_people_hide_nothing() -> None:
    """Whichever of ann's messages was lost, she wrote to zoe once."""
    log = Messages(
        arrivals=np.r_[0.0, 1.0],
        departures=np.r_[2.0, 3.0],
        senders=("ann", "ann"),
        receivers=("zoe", "zoe"),
    )
    audit = am.audit(observe(log, "window:0,9", lost=1))

    assert audit.bits.value == 1.0
    assert audit.people_bits == am.Interval(0.0, 0.0, 0.0)
