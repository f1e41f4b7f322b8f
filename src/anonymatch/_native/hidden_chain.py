"""One mix without memory, of which only the ends are seen; also with packets of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, cancel_byte, floats, ints
from anonymatch._native.extension import kernels

Counted = kernels.Counted
HiddenFigures = kernels.HiddenFigures
ClassFigures = kernels.ClassFigures


def hidden_chain_job(
    arrival: npt.NDArray[np.bool_],
    move: Floats,
    stay: Floats,
    gap: Floats,
    *,
    end_inside: int = -1,
    counted: Counted = Counted.nothing,
    number: int = 0,
    cut: float = 1e-30,
    together: int = 32,
    tolerance: float = 1e-12,
    guessing_every: int = 0,
    rows: bool = True,
    pairs: bool = False,
    sparse: bool = False,
    groups: npt.NDArray[Any] | None = None,
    asked: npt.NDArray[Any] | None = None,
) -> kernels.HiddenChain:
    """The chain over how many messages are inside, before its first step."""
    if max(len(arrival), number) > LARGEST:
        raise ValueError(f"{len(arrival)} events; at most {LARGEST} are taken")
    if not number >= 0 or together < 1:
        raise ValueError(f"a number of {number}, {together} departures together")
    if groups is not None and len(groups) and int(groups.min()) < 0:
        raise ValueError("a group below 0")
    return kernels.HiddenChain(
        np.ascontiguousarray(arrival, dtype=np.uint8),
        np.ascontiguousarray(move, dtype=np.float64),
        np.ascontiguousarray(stay, dtype=np.float64),
        np.ascontiguousarray(gap, dtype=np.float64),
        end_inside=end_inside,
        counted=counted,
        number=number,
        cut=cut,
        together=together,
        tolerance=tolerance,
        guessing_every=guessing_every,
        rows=rows,
        pairs=pairs,
        sparse=sparse,
        groups=ints(np.empty(0) if groups is None else groups),
        asked=ints(np.empty(0) if asked is None else asked),
    )


def class_chain(
    arrival: npt.NDArray[np.bool_],
    users: Floats,
    loops: Floats,
    stay: Floats,
    keep: Floats,
    gap: Floats,
    *,
    drained: bool = False,
    rows: bool = False,
    cut: float = 1e-16,
    tolerance: float = 1e-12,
    cancel: bytearray | None = None,
) -> kernels.ClassFigures:
    """Return the sums and rows of one mix with users' packets and loops."""
    if len(arrival) > LARGEST:
        raise ValueError(f"{len(arrival)} events; at most {LARGEST} are taken")
    return kernels.class_chain(
        np.ascontiguousarray(arrival, dtype=np.uint8),
        floats(users),
        floats(loops),
        floats(stay),
        floats(keep),
        floats(gap),
        drained,
        rows,
        cut,
        tolerance,
        cancel_byte(cancel),
    )
