"""The chain over tables of numbers with given margins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, cancel_byte, ints
from anonymatch._native.extension import kernels


class TableStretch(NamedTuple):
    """A stretch of the chain."""

    means: Floats  # one a pair: its number, over all worms
    numbers: Ints  # at the end, to go on from; of no use when stopped
    worms: int
    steps: int


class TableChain:
    """A chain over ways to match, as tables; see ``cpp/kernels/table_chain/table_chain.hpp``.

    Pairs are sorted by kind, then by class.
    """

    def __init__(
        self, kinds: npt.NDArray[Any], classes: npt.NDArray[Any], people: npt.NDArray[Any]
    ) -> None:
        self._chain = kernels.TableChain(ints(kinds), ints(classes), ints(people))

    def run(
        self,
        start: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        worms: int,
        most_steps: int,
        cancel: bytearray | None = None,
    ) -> TableStretch:
        """So many worms; fewer if cancelled, or beyond ``most_steps``."""
        return TableStretch(
            *self._chain.run(ints(start), seed, index, worms, most_steps, cancel_byte(cancel))
        )
