"""Messages through one exponential mix from which everything leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, ints
from anonymatch._native.extension import kernels


class PassageStay(NamedTuple):
    """What is open for a message inside just before each departure; see ``Stay`` of passages."""

    allowed: npt.NDArray[np.int64]
    shannon: Floats
    collision: Floats
    largest: Floats
    guess: npt.NDArray[np.int64]
    guesses: Floats


def passage_stay(inside: npt.NDArray[Any]) -> PassageStay:
    """From the messages inside just before each departure, in order of time."""
    if len(inside) > LARGEST // 2:
        raise ValueError(f"{len(inside)} departures")
    return PassageStay(*kernels.passage_stay(ints(inside)))


class FlushStay(NamedTuple):
    """What is open for a message inside just before each flush; a last entry for later ones."""

    departs: Floats
    stays: Floats
    shannon: Floats
    collision: Floats
    largest: Floats
    ranks: Floats
    guess: npt.NDArray[np.int64]


def flush_stay(inside: npt.NDArray[Any], leaving: npt.NDArray[Any]) -> FlushStay:
    """From the messages inside just before each flush, and how many of them leave."""
    if len(inside) > LARGEST // 2:
        raise ValueError(f"{len(inside)} flushes")
    return FlushStay(*kernels.flush_stay(ints(inside), ints(leaving)))
