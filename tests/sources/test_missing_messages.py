"""Messages that are not seen again: inside at the end, or lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.sources.test_observing import graph_of, log_of

from anonymatch.base.errors import InputError
from anonymatch.sources.observing import observe
from anonymatch.sources.synthetic import synthesize


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
