"""Any law, as a function of the delay."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.mixes.laws.candidates import Candidates, between
from anonymatch.mixes.laws.law import DelayLaw, finite, set_values

__all__ = ["Free"]

_CELLS = 1 << 16  # as which delays are drawn


@dataclass(frozen=True, slots=True)
class Free(DelayLaw):
    """Any law: a function from delays to weights, 0 where a delay is impossible.

    Parameters
    ----------
    function : callable
        From an array of delays in seconds, none negative, to an array of weights of the same
        length. Only their ratios matter.
    longest : float
        No delay is longer. Without it every later departure must be looked at.
    mean : float, optional
        Seconds on average, if known.
    name : str
        For people.

    Examples
    --------
    >>> print(Free(lambda delays: 1 / (1 + delays), longest=60, name="heavy tail"))
    heavy tail, up to 60 s
    """

    function: Callable[[Floats], npt.ArrayLike]
    longest: float = math.inf
    mean: float | None = None
    name: str = field(default="free law", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"free law: function must take an array of delays, not {quoted(self.function)}"
            )
        set_values(self, longest=real(self.longest, "free law: longest"))
        if self.mean is not None:
            set_values(self, mean=finite(self.mean, "free law: mean"))

    @property
    def mean_delay(self) -> float | None:
        return self.mean

    @property
    def longest_delay(self) -> float:
        return self.longest

    def weights(self, delays: Floats) -> Floats:
        """The function's weights of these delays, checked."""
        try:
            weights = np.asarray(self.function(delays), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: the function fails on an array of delays ({error})"
            ) from None
        if weights.shape != delays.shape:
            raise InputError(
                f"{self.name}: the function must give one weight a delay, {len(delays)} of them; "
                f"it gives the shape {weights.shape}"
            )
        wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
        if len(wrong):
            at = int(wrong[0])
            raise InputError(
                f"{self.name}: the weight of a delay of {delays[at]:g} s is {weights[at]:g}; "
                "weights must be finite and not negative"
            )
        return weights

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        came, left = arrivals[users], departures[behaviours]
        runs = between(came, left, 0.0, self.longest, end)

        def weigh(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Floats:
            delays = np.maximum(0.0, left[columns] - came[rows])
            with np.errstate(divide="ignore"):
                return np.log(self.weights(delays))

        return replace(runs, weigh=weigh)

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        if self.longest == math.inf:
            raise InputError(f"{self}: no delays can be drawn without an end; give it longest=")
        width = self.longest / _CELLS
        middles: Floats = (np.arange(_CELLS, dtype=np.float64) + 0.5) * width
        probabilities = self.weights(middles)
        if not probabilities.sum() > 0:
            raise InputError(f"{self}: every delay has the weight 0; check the function")
        cells = draw.choice(_CELLS, size, p=probabilities / probabilities.sum())
        return np.minimum((cells + draw.random(size)) * width, self.longest)

    def __str__(self) -> str:
        end = "" if self.longest == math.inf else f", up to {self.longest:g} s"
        return f"{self.name}{end}"
