"""Arguments that callers pass, checked: each is refused in one line that names it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Piece

__all__ = ["elements", "real", "whole", "wholes"]

_T = TypeVar("_T")


def whole(value: object, name: str, *, least: int | None = 0, most: int | None = None) -> int:
    """The argument as a Python int; numpy's whole numbers are taken too.

    Examples
    --------
    >>> whole(np.int64(3), "size")
    3
    >>> whole(2.5, "size")
    Traceback (most recent call last):
    anonymatch.InputError: size must be a whole number from 0, not 2.5
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        number = int(value)
        if (least is None or number >= least) and (most is None or number <= most):
            return number
    start = "" if least is None else f" from {least}"
    end = "" if most is None else f" to {most}"
    raise InputError(_named(name), f" must be a whole number{start}{end}, not {_shown(value)}")


def wholes(values: object, name: str, *, least: int | None = 0) -> npt.NDArray[np.int64]:
    """The argument as a one-dimensional array of whole numbers, from any sequence of them."""
    try:
        array = np.asarray(values if isinstance(values, (list, range)) else _sequence(values))
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim == 1 and len(array) == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(_named(name), f" must be a list of whole numbers, not {_shown(values)}")
    if least is not None and int(array.min()) < least:
        raise InputError(f"{name} must be whole numbers from {least}; one is {int(array.min())}")
    if int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{name} must fit 64 bits; one is {int(array.max())}")
    return array.astype(np.int64)


def real(value: object, name: str, *, low: float = 0.0, high: float = math.inf) -> float:
    """The argument as a float between ``low`` and ``high``, both allowed."""
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            number = float(value)
        except OverflowError:
            number = -math.inf if value < 0 else math.inf
        if low <= number <= high:  # refuses NaN
            return number
    limits = f"of {low:g} or more" if high == math.inf else f"from {low:g} to {high:g}"
    raise InputError(_named(name), f" must be a number {limits}, not {_shown(value)}")


def elements(value: Iterable[_T], what: str) -> Iterator[_T]:
    """The elements of an iterable; ``what`` says what is wanted where it is none."""
    try:
        return iter(value)
    except TypeError:
        raise InputError(f"{what}, not {_shown(value)}") from None


def _named(name: str) -> Piece:
    """What is wrong: the argument of that name, or whatever else the name says."""
    return Argument(name) if name.isidentifier() else name


def _sequence(values: Any) -> Any:
    """Values of an iterable other than a text or a mapping; arrays as they are."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, (str, bytes, dict)):
        raise TypeError
    return list(values)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4300 digits
        return "a number of thousands of digits"
    if isinstance(value, Integral) and len(text) > 60:
        return f"a number of {len(text.lstrip('-'))} digits"
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"
