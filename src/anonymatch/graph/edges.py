"""From loose edges to canonical ones: sorted, unique, checked weights. No names are kept here."""

from __future__ import annotations

import math
import re
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch._native import LARGEST
from anonymatch.base.arrays import Bools
from anonymatch.base.errors import InputError

Indices = npt.NDArray[np.int32]
Weights = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]
AnyArray = npt.NDArray[Any]

Describe = Callable[[int], str]

SMALLEST = sys.float_info.min  # below, a float64 has fewer digits, and rounding knows no bound


class EdgeError(InputError):
    """An edge is not usable; ``positions`` of the input tell a reader of files which lines."""

    def __init__(self, message: str, *positions: int) -> None:
        self.positions = positions
        super().__init__(message)

    def __reduce__(self) -> tuple[type[EdgeError], tuple[object, ...]]:
        return type(self), (str(self.what), *self.positions)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edges:
    """Canonical rows: ``indices`` increase within each user, weights are positive and finite."""

    indptr: Indices
    indices: Indices
    weights: Weights | None  # None: every weight is 1
    exact: Objects | None  # only where float64 cannot hold some weight
    duplicates: int = 0  # equal edges that were dropped
    weightless: int = 0  # edges of weight 0 that were dropped

    def rows(self) -> Indices:
        """The user of each edge."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Edges):
            return NotImplemented
        return (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and _same(self.weights, other.weights)
            and _same(self.exact, other.exact)
        )

    def __hash__(self) -> int:
        return zlib.crc32(self.indices.data, zlib.crc32(self.indptr.data))


def canonical(
    rows: AnyArray,
    columns: AnyArray,
    weights: AnyArray | Sequence[object] | None,
    shape: tuple[int, int],
    describe: Describe,
) -> Edges:
    """Sort edges by user and behaviour, drop zero weights and equal duplicates, check the rest.

    ``describe(position)`` names the edge at a position of the input, for messages, which name the
    first of equal edges first.
    """
    for size, noun in zip(shape, ("user", "behaviour"), strict=True):
        if size > LARGEST:
            raise InputError(f"{size} {noun}s; a graph holds at most {LARGEST} a side")
    if len(rows) > LARGEST:
        raise InputError(f"{len(rows)} edges; a graph holds at most {LARGEST}")
    floats, exact = (None, None) if weights is None else check_weights(weights, describe)
    indptr, indices, order, duplicates = _native.sort_edges(
        rows, columns, shape, ordered=floats is not None
    )
    if floats is not None and order is not None:
        floats = floats[order]
        exact = None if exact is None else exact[order]
    retained: Bools | None = None
    if duplicates:
        same = _repeats(indptr, indices)
        if floats is not None:
            _check_equal(same, floats if exact is None else exact, order, describe)
        retained = np.concatenate(([True], ~same))
    weightless = 0
    if floats is not None and not floats.all():
        empty = (floats == 0.0) if retained is None else retained & (floats == 0.0)
        weightless = int(np.count_nonzero(empty))
        retained = (floats != 0.0) if retained is None else retained & (floats != 0.0)
    if retained is not None:
        indptr = np.concatenate(([0], np.cumsum(retained, dtype=np.int32)))[indptr].astype(np.int32)
        indices = indices[retained]
        floats = None if floats is None else floats[retained]
        exact = None if exact is None else exact[retained]
    floats, exact = settle(floats, exact)
    return Edges(
        indptr=indptr,
        indices=indices,
        weights=floats,
        exact=exact,
        duplicates=duplicates,
        weightless=weightless,
    )


def _repeats(indptr: Indices, indices: Indices) -> Bools:
    """Whether each edge but the first equals the one before it."""
    same: Bools = indices[1:] == indices[:-1]
    begins = indptr[(indptr > 0) & (indptr < len(indices))]
    same[begins - 1] = False
    return same


def settle(floats: Weights | None, exact: Objects | None) -> tuple[Weights | None, Objects | None]:
    """Drop what says nothing: exact weights that are all float64 values, weights that are all 1."""
    # Python compares a float with an int or a Fraction exactly; numpy rounds first.
    if floats is not None and exact is not None and floats.tolist() == exact.tolist():
        exact = None
    if floats is not None and exact is None and (floats == 1.0).all():
        floats = None
    return floats, exact


def pointers(rows: AnyArray, n_rows: int) -> Indices:
    """Where each row begins, given the row of every edge."""
    indptr = np.zeros(n_rows + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=indptr[1:])
    return indptr


def pointers_where(indptr: Indices, mask: npt.NDArray[np.bool_]) -> Indices:
    """Where each row begins if only the edges stay for which ``mask`` is true."""
    before = np.zeros(len(mask) + 1, dtype=np.int32)
    np.cumsum(mask, out=before[1:])
    return before[indptr]


def inverse(chosen: npt.NDArray[np.int64], size: int, noun: str) -> npt.NDArray[np.int64]:
    """New index of each old one, -1 for those left out."""
    if len(chosen) and int(chosen.max()) >= size:
        raise InputError(f"a {noun} index is outside 0 to {size - 1}")
    new = np.full(size, -1, dtype=np.int64)
    new[chosen] = np.arange(len(chosen))
    if not np.array_equal(new[chosen], np.arange(len(chosen))):
        raise InputError(f"a {noun} is selected twice; select each once")
    return new


def check_weights(
    weights: AnyArray | Sequence[object], describe: Describe
) -> tuple[Weights, Objects | None]:
    """Weights as float64, and as exact numbers too where float64 cannot hold one of them."""
    array = weights if isinstance(weights, np.ndarray) else _objects(weights)
    if array.dtype.kind in "bf":
        if array.dtype.itemsize > 8:  # long double
            return check_weights(array.astype(object), describe)
        floats = array.astype(np.float64)
        exact = None
    elif array.dtype.kind in "iu":
        floats = array.astype(np.float64)
        # Whole numbers up to 2^53 are float64 values; above, keep Python ints.
        large = len(array) > 0 and (int(array.max()) > 2**53)
        exact = array.astype(object) if large else None
    elif array.dtype.kind == "O":
        return _check_objects(array, describe)
    else:
        raise InputError(f"weights of type {array.dtype}; give numbers")
    bad = np.flatnonzero(~(floats >= 0.0) | np.isinf(floats))
    if len(bad):
        _refuse(array[bad[0]].item(), int(bad[0]), describe)
    return floats, exact


# Text of a whole number or a fraction; decimals are float64 numbers like everywhere else.
EXACT_TEXT = r"^[0-9]+(?:/[0-9]+)?$"


def exact_text(text: str) -> int | Fraction | None:
    """The number in a text that is a whole number or a fraction such as ``1/3``; else None.

    Python refuses integers of more than 4300 digits; no float64 is that large either.
    """
    if not re.fullmatch(EXACT_TEXT, text, re.ASCII):
        return None
    try:
        return Fraction(text) if "/" in text else int(text)
    except (ValueError, ZeroDivisionError):
        return None


def exact_weight(value: float) -> int | Fraction:
    """The number that a float64 is: an int if whole, else its binary fraction."""
    return int(value) if value.is_integer() else Fraction(value)


def _check_objects(array: Objects, describe: Describe) -> tuple[Weights, Objects | None]:
    floats = np.empty(len(array), dtype=np.float64)
    exact = np.empty(len(array), dtype=object)
    inexact = False
    for position, value in enumerate(array.tolist()):
        number = _number(value, position, describe)
        exact[position] = number
        try:
            floats[position] = float(number)
        except OverflowError:
            floats[position] = math.inf
        # Python's own float equals a rational only if it is exactly that number; numpy's rounds.
        rounded = float(floats[position]) != number
        if rounded and not SMALLEST <= floats[position] < math.inf:
            raise EdgeError(
                f"the weight of {describe(position)} does not fit a float64 "
                "(2.2e-308 to 1.8e308); scale the weights",
                position,
            )
        inexact = inexact or rounded
    return floats, exact if inexact else None


def _number(value: Any, position: int, describe: Describe) -> int | Fraction:
    """A weight as an exact number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        number: int | Fraction = int(value)
    elif isinstance(value, Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    else:
        try:
            ratio = value.as_integer_ratio()  # float, Decimal
        except (AttributeError, TypeError):
            raise EdgeError(
                f"the weight of {describe(position)} is {value!r}; give a number", position
            ) from None
        except (ValueError, OverflowError):  # NaN, infinite
            _refuse(value, position, describe)
        number = Fraction(*ratio)
    if number < 0:
        _refuse(value, position, describe)
    return number.numerator if number.denominator == 1 else number


def _refuse(value: object, position: int, describe: Describe) -> NoReturn:
    raise EdgeError(
        f"the weight of {describe(position)} is {value}; weights must be finite and not negative",
        position,
    )


def _objects(values: Sequence[object]) -> Objects:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _check_equal(same: Bools, values: AnyArray, order: Indices | None, describe: Describe) -> None:
    """Refuse an edge that is given twice with different weights."""
    bad = np.flatnonzero(same & (values[1:] != values[:-1]))
    if len(bad):
        at = int(bad[0])
        first, second = (at, at + 1) if order is None else (int(order[at]), int(order[at + 1]))
        raise EdgeError(
            f"{describe(first)} is given twice, with weights {values[at]} and {values[at + 1]}; "
            "keep one",
            first,
            second,
        )


def _same(left: AnyArray | None, right: AnyArray | None) -> bool:
    if left is None or right is None:
        return left is right
    return np.array_equal(left, right)
