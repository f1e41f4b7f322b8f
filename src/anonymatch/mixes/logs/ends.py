"""Messages near the ends of a log: their figures say more about the log than about the system."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.text import Argument, Message, several
from anonymatch.mixes.logs.log_problem import near_an_end
from anonymatch.mixes.logs.observation import MessageObservation

__all__ = ["with_ends"]

_Seen = TypeVar("_Seen", bound=MessageObservation)

_SOME = 50  # messages from which on the ends of a log are worth a note


def with_ends(
    observation: _Seen, arrivals: Floats, begin: float, end: float, reach: float | None
) -> _Seen:
    """The observation with messages marked that came in within ``reach`` seconds of an end."""
    edge = near_an_end(arrivals, begin, end, reach)
    if edge is None or reach is None:
        lasted = end - begin
        if reach is None or len(arrivals) < _SOME or reach <= 0.25 * lasted:
            return observation
        short = (
            f"The log lasts {lasted:.3g} s, too short to leave out messages within {reach:.3g} s "
            "of its ends: figures of its first and last messages describe the system poorly"
        )
        return replace(observation, notes=(*observation.notes, short))
    number = int(np.count_nonzero(edge))
    note = Message(
        f"{several(number, 'message')} within {reach:.3g} s of an end of the log "
        f"{'is' if number == 1 else 'are'} left out of averages, quantiles and worst lists: "
        "the traffic before and after the log is not observed (",
        Argument("whole_log"),
        " keeps them)",
    )
    return replace(observation, edge=edge, notes=(*observation.notes, note))
