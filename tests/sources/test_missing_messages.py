"""Messages that are not seen again: inside at the end, or lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.sources.test_observing import graph_of, log_of

from anonymatch.base.errors import InputError
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.synthetic import synthesize


def test_messages_still_inside_at_the_end_have_a_place() -> None:
    log = log_of([0, 5, 9, 9.5], [2, 8])
    observation = observe(log, "window:1,3")
    graph = graph_of(observation)

    assert observation.lost == 2
    assert graph.behaviours == ("b0", "b1", "lost #1", "lost #2")
    assert graph.to_rows() == ["1000", "0100", "0011", "0011"]
    assert any("2 messages in are taken to be still inside" in note for note in observation.notes)


def test_losses_in_the_middle_may_be_anybodys() -> None:
    log = log_of([0, 0.5, 10], [2, 12])
    with pytest.raises(InputError, match=r"allow for losses \(lost=1\)"):
        observe(log, "window:1,3")  # nobody of them is inside when the log ends
    observation = observe(log, "window:1,3", lost=1)

    assert observation.lost == 1
    assert graph_of(observation).to_rows() == ["101", "101", "011"]


def test_cover_leaves_late_messages_inside_and_drained_ones_lost() -> None:
    log = log_of([0, 1.2, 2.5], [0.5, 1.5, 2.0, 3.0])
    inside, drained = (
        graph_of(observe(log, "window:0,2", cover=2, drained=drained)) for drained in (False, True)
    )

    # At 3 s a tenth of the window is left to the one, three quarters to the other.
    places = {edge[0]: float(edge[2]) for edge in inside.to_edges() if edge[1] == "lost #1"}
    assert places == pytest.approx({"u1": 0.1, "u2": 0.75})
    assert drained.to_rows() == ["11101", "01111", "00011"]


def test_numbers_lost_leave_others_inside() -> None:
    """Four came in, one left and one is lost: two are inside, of the three that can be."""
    log = log_of([0, 8, 8.5, 9], [1, 9.5])
    observation = observe(log, "window:0,2", lost=1)
    assert observation.passage is not None
    with pytest.raises(InputError, match="at most 3 can be; give 1 or more"):
        observe(log_of([0, 0.1, 8, 8.5, 9], [9.5]), "window:0,2", lost=0)


def losses_of_cut_logs(loss: float) -> list[float]:
    """Losses that are estimated for logs at whose ends about 100 of 400 messages are inside."""
    found = []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        came = np.cumsum(draw.exponential(0.5, 400))
        left = (came + draw.uniform(0.0, 100.0, 400))[draw.random(400) >= loss]
        end = float(came[-1])
        dummies = np.sort(draw.uniform(0.0, end, draw.poisson(0.2 * end)))
        out = np.sort(np.concatenate([left[left <= end], dummies]))
        passage = observe(
            log_of(came.tolist(), out.tolist()), "window:0,100", cover=len(dummies)
        ).passage
        conditions = None if passage is None else passage.conditions
        found.append(0.0 if conditions is None else conditions.loss or 0.0)
    return found


@pytest.mark.parametrize("loss", [0.2, 0.4])
def test_messages_expected_inside_at_the_end_are_not_counted_as_lost(loss: float) -> None:
    """Nor as messages that were not lost: estimated losses are right on average."""
    found = losses_of_cut_logs(loss)
    error = float(np.std(found, ddof=1)) / len(found) ** 0.5
    assert error < 0.01
    assert abs(np.mean(found) - loss) < 3.0 * error


def test_no_losses_are_estimated_where_there_are_none() -> None:
    assert losses_of_cut_logs(0.0) == [0.0] * 40


def test_losses_of_a_flush_mix_show_in_what_was_flushed() -> None:
    """Of 100 messages 20 wait for the next flush, and 16 of the 80 before them are lost."""
    came = [0.1 * k for k in range(80)] + [10.0 + 0.1 * k for k in range(1, 21)]
    passage = observe(log_of(came, [10.0] * 64), "timed:10", until=13.0).passage
    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.loss == pytest.approx(0.2)


def test_more_missing_than_can_be_inside_are_lost_at_an_estimated_rate() -> None:
    log = synthesize("window:0,2", messages=300, rate=2.0, loss=0.2, cover=0.2, seed=3)
    bare = replace(log, cover=None, lost=None, truth=None)
    assert log.cover is not None
    number = int(np.count_nonzero(log.cover))
    passage = observe(bare, "window:0,2", cover=number).passage
    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.estimated == {"loss"}
    assert 0.1 < (passage.conditions.loss or 0.0) < 0.3


def test_lost_opens_places_to_all() -> None:
    observation = observe(log_of([0, 1], [2, 3]), "window:1,3", lost=1)

    assert graph_of(observation).to_rows() == ["111", "111"]
    assert any("1 message in never came out" in note for note in observation.notes)
