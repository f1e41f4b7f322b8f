"""Twins: users with the same row and behaviours with the same column, put into classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.counting.blocks.block import Block

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Integers

__all__ = ["MOST_CLASSES", "Twins", "find_twins", "whole_multiples"]

Values = npt.NDArray[Any]

MOST_CLASSES = 256  # of items, and of choosers for which an order is searched


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Twins:
    """The classes of a block; all edges between two classes share their weight and their minor."""

    block: Block
    user_class: Integers
    behaviour_class: Integers
    user_sizes: list[int]
    behaviour_sizes: list[int]
    weights: Values  # user class x behaviour class, 0: not allowed; Python ints if exact

    @property
    def spare(self) -> int:
        """Behaviours that stay unused."""
        return self.block.n_behaviours - self.block.n_users

    def padded(self) -> tuple[Values, list[int]]:
        """The weights and sizes of users with those added who take the spare behaviours."""
        if not self.spare:
            return self.weights, self.user_sizes
        added = np.ones((1, len(self.behaviour_sizes)), dtype=self.weights.dtype)
        return np.vstack((self.weights, added)), [*self.user_sizes, self.spare]

    def of_edges(self, table: Values) -> Values:
        """For every edge the entry of its two classes."""
        rows = np.repeat(self.user_class, np.diff(self.block.indptr))
        chosen: Values = table[rows, self.behaviour_class[self.block.indices]]
        return chosen


def find_twins(block: Block) -> Twins | None:
    """The classes of a block; None if nobody has a twin, or if there are too many classes.

    Examples
    --------
    >>> from anonymatch.counting.reference import block_of
    >>> twins = find_twins(block_of([[1, 1, 1], [1, 1, 1], [1, 1, 0]]))
    >>> twins.user_sizes, twins.behaviour_sizes, twins.weights.tolist()
    ([2, 1], [2, 1], [[1, 1], [1, 0]])
    """
    n, c = block.n_users, block.n_behaviours
    reached = np.bincount(block.indices, minlength=c)
    if not np.diff(block.indptr).all() or not reached.all():
        return None
    if n > c or min(_at_least(block)) > MOST_CLASSES:
        return None
    user_class, user_sizes = _alike(block)
    behaviour_class, behaviour_sizes = _alike(block.transposed())
    if len(user_sizes) == n and len(behaviour_sizes) == c:
        return None
    dtype = object if block.exact else np.float64
    weights = np.zeros((len(user_sizes), len(behaviour_sizes)), dtype=dtype)
    rows = np.repeat(user_class, np.diff(block.indptr))
    weights[rows, behaviour_class[block.indices]] = 1 if block.weights is None else block.weights
    return Twins(
        block=block,
        user_class=user_class,
        behaviour_class=behaviour_class,
        user_sizes=user_sizes,
        behaviour_sizes=behaviour_sizes,
        weights=weights,
    )


def whole_multiples(weights: Values) -> tuple[Values, int]:
    """Floats as whole multiples (Python ints) of one power of two, and its exponent.

    Examples
    --------
    >>> whole, unit = whole_multiples(np.array([[0.75, 0.0], [2.0, 1.0]]))
    >>> [int(v) * 2.0**unit for v in whole.flat]
    [0.75, 0.0, 2.0, 1.0]
    """
    fractions, exponents = np.frexp(weights)
    unit = int(exponents[fractions > 0].min()) - 53
    whole = np.array([int(f * 2.0**53) for f in fractions.flat], dtype=object)
    shifts = np.maximum(exponents.ravel() - 53 - unit, 0).tolist()
    multiples = np.array([w << by for w, by in zip(whole, shifts, strict=True)], dtype=object)
    return multiples.reshape(weights.shape), unit


def _at_least(block: Block) -> tuple[int, int]:
    """Fewest classes that users and behaviours can fall into: sums that differ prove a difference.

    The sums are of integers below 2^30, so that floats hold them exactly up to 2^23 edges a line.
    """
    numbers = np.random.default_rng(0)
    of_behaviour = numbers.integers(0, 1 << 30, block.n_behaviours).astype(np.float64)
    of_user = numbers.integers(0, 1 << 30, block.n_users).astype(np.float64)
    degrees = np.diff(block.indptr)
    by_user = np.add.reduceat(of_behaviour[block.indices], block.indptr[:-1])
    by_behaviour = np.bincount(block.indices, weights=np.repeat(of_user, degrees))
    return len(np.unique(by_user)), len(np.unique(by_behaviour))


def _alike(block: Block) -> tuple[Integers, list[int]]:
    """Class of each user, users with the same row being one class, and the sizes of the classes."""
    number_of: dict[object, int] = {}
    sizes: list[int] = []
    classes = np.empty(block.n_users, dtype=np.int64)
    ends = block.indptr.tolist()
    for i in range(block.n_users):
        part = slice(ends[i], ends[i + 1])
        weights = None if block.weights is None else tuple(block.weights[part].tolist())
        row = block.indices[part].tobytes(), weights
        number = number_of.setdefault(row, len(sizes))
        if number == len(sizes):
            sizes.append(0)
        sizes[number] += 1
        classes[i] = number
    return classes, sizes
