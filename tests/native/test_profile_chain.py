"""What the chain over rounds refuses, and what it gives back."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch._native import ProfileChain, RoundMessages, round_marginals


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


LOG = RoundMessages(2, 2, ints(0, 2, 4), ints(0, 1, 0, 1), ints(0, 1, 0, 1))
RUNS = LOG._replace(first=ints(0, 0, 2, 2), last=ints(2, 2, 4, 4))


def chain(log: RoundMessages, **changed: object) -> ProfileChain:
    values: dict[str, object] = {
        "base": np.array([0.5, 0.5]),
        "strength": 2.0,
        "evenness": 8.0,
        "start": ints(0, 1, 2, 3),
        "reach": 1,
        "seed": 1,
    }
    return ProfileChain(log, **{**values, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("log", "changed"),
    [
        (LOG, {"start": ints(0, 1, 2, 2)}),
        (LOG, {"start": ints(0, 2, 1, 3)}),
        (LOG, {"base": np.array([1.0])}),
        (LOG, {"base": np.array([1.0, 0.0])}),
        (LOG, {"strength": 0.0}),
        (LOG, {"reach": 0}),
        (LOG._replace(starts=ints(0, 3)), {}),
        (LOG._replace(sender=ints(0, 1, 0, 2)), {}),
        (LOG._replace(receiver=ints(0, 1, 0)), {}),
        (RUNS._replace(last=ints(2, 2, 4, 5)), {}),
        (RUNS._replace(weights=np.ones(3, dtype=np.float32)), {}),
        (RUNS._replace(weights=np.array([0, 1] * 4, dtype=np.float32)), {}),
    ],
)
def test_what_is_no_log_of_rounds_is_refused(
    log: RoundMessages, changed: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        chain(log, **changed)


@pytest.mark.parametrize("log", [LOG, RUNS])
def test_probabilities_of_a_message_sum_to_the_sweeps(log: RoundMessages) -> None:
    made = chain(log)

    assert made.sweep(20, learn=True, record=False)
    assert made.sweep(50, learn=True, record=True)
    assert made.sums().reshape(4, 2).sum(axis=1) == pytest.approx([50.0] * 4, abs=1e-4)
    assert sorted(made.matching().tolist()) == [0, 1, 2, 3]
    assert len(made.trace()) == len(made.strengths()) == 70
    assert made.base_sums().sum() == pytest.approx(50.0)


def test_a_raised_byte_ends_the_chain() -> None:
    assert not chain(LOG).sweep(5, learn=False, record=False, cancel=bytearray(b"\1"))


def test_marginals_of_rounds_are_those_of_their_matchings() -> None:
    shares, finished = round_marginals(LOG, np.array([1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0, 0.0]))

    assert finished
    assert shares == pytest.approx([0.4, 0.6, 0.6, 0.4, 0.0, 1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="whole rounds"):
        round_marginals(RUNS, np.ones(8))
    with pytest.raises(ValueError, match="3 weights"):
        round_marginals(LOG, np.ones(3))
