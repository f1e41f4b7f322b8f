"""One mix without memory, of which only the ends are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, ints
from anonymatch._native.extension import kernels

Counted = kernels.Counted
HiddenFigures = kernels.HiddenFigures


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
    groups: npt.NDArray[Any] | None = None,
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
        groups=ints(np.empty(0) if groups is None else groups),
    )
