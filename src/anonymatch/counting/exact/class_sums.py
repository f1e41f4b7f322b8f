"""Blocks of few classes by sums over roots of unity: no layers, and one class less to go through.

With classes of u_i users and b_j behaviours and weights w_ij between them,

    count = prod_j b_j! times the coefficient of prod_j x_j^b_j in prod_i (sum_j w_ij x_j)^u_i.

The product is homogeneous, so the smallest class may have x = 1; of every other variable the
coefficient is a mean over roots of unity of an order above b_j, here modulo primes whose residues
together tell the integer (cpp/kernels/class_sums). Minors are such coefficients, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.integers import is_prime
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, borders

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Integers

Values = npt.NDArray[Any]


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
    """The classes of a block; None if nobody has a twin, or if there are too many classes."""
    n, c = block.n_users, block.n_behaviours
    reached = np.bincount(block.indices, minlength=c)
    if not np.diff(block.indptr).all() or not reached.all():
        return None
    if n > c or min(_at_least(block)) > LIMITS.most_classes:
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


_BITS = math.log2(_native.CLASS_SUMS_LARGEST_PRIME) - 0.1  # of a prime, if few are taken


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassGrid:
    """The grid for the classes of a block: forms in falling order of size, variables likewise."""

    twins: Twins
    turned: bool  # behaviours have the forms, users the variables
    forms: list[int]  # which classes they are
    variables: list[int]
    weights: Values  # form x variable, Python ints
    sizes: list[int]  # of the forms
    items: list[int]  # of the variables; the last one is 1 everywhere
    orders: list[int]  # of the others
    unit: int  # weights are multiples of 2^unit
    bits: float  # coefficients of the count are below 2^bits

    def needed(self, *, edges: bool) -> float:
        """Bits that the primes have to hold: a minor's coefficient is at most items times more."""
        return self.bits + 1 + (math.log2(max(self.items)) if edges else 0.0)

    def primes(self, *, edges: bool) -> tuple[int, ...]:
        """Primes that tell the coefficients."""
        return _primes_with_roots(math.lcm(*self.orders), self.needed(edges=edges))

    def n_primes(self, *, edges: bool) -> int:
        """How many they are, predicted."""
        return math.ceil(self.needed(edges=edges) / _BITS)

    def operations(self, *, edges: bool) -> float:
        """Products of residues."""
        inner, outer, orders = 1, 1.0, self.orders[::-1]
        for order in orders:
            if inner < LIMITS.sums_inner:
                inner *= order
            else:
                outer *= order
        falls = [a - b for a, b in pairwise([*self.sizes, 1 if edges else 0])]
        products = 1.0 + len(self.sizes) * (tuning().class_sums_minors if edges else 1)
        products += sum(f.bit_length() + f.bit_count() - 1 for f in falls if f)
        points = -(-inner // LIMITS.sums_step) * LIMITS.sums_step
        return outer * (points * products + LIMITS.sums_unit) * self.n_primes(edges=edges)

    def seconds(self, *, edges: bool) -> float:
        """Predicted seconds of one core."""
        setting_up = tuning().class_sums_prime * self.n_primes(edges=edges)
        return setting_up + self.operations(edges=edges) / _native.CLASS_SUMS_RATE


def plan_sums(twins: Twins, *, most: float = math.inf) -> ClassGrid | None:
    """The cheaper of the two sides.

    None if both have too many classes or digits, or take more than ``most`` products for a prime.
    """
    grids = [grid for turned in (False, True) if (grid := _grid(twins, turned, most))]
    return min(grids, key=lambda grid: grid.operations(edges=False), default=None)


def option(twins: Twins, context: Context, best: float) -> Option | None:
    """Sums for these classes, if they may take no more than ``best`` seconds."""
    grid = plan_sums(twins, most=best * _native.CLASS_SUMS_RATE)
    if grid is None:
        return None
    return Option(
        method="classes",
        why="users or behaviours that are alike: sums over roots of unity",
        seconds=grid.seconds(edges=context.edges),
        memory=2.0**24,
        solve=lambda: SumCounts(grid, context.effort).solution(),
        longest=CHUNK_SECONDS,
    )


class SumCounts:
    """Count and minors by a grid."""

    def __init__(self, grid: ClassGrid, effort: Execution) -> None:
        self._grid, self._effort = grid, effort
        self._divisor = math.factorial(grid.twins.spare)  # the orders of the added users

    def solution(self) -> Solution:
        """In the form that all methods give; even the count of floats is exact."""
        block = self._grid.twins.block
        if block.exact:
            return Solution(
                block,
                total=lambda: self.total // self._divisor,
                minors=lambda: self._grid.twins.of_edges(self.minors // self._divisor),
                posteriors=lambda: (self.posteriors(), 2.0**-50),
            )
        return Solution(
            block,
            real=lambda: (self.log, 2.0**-50 * (1 + abs(self.log))),
            posteriors=lambda: (self.posteriors(), 2.0**-50),
        )

    @property
    def log(self) -> float:
        scale = self._grid.unit * sum(self._grid.sizes) * math.log(2)
        return math.log(self.total) - math.log(self._divisor) + scale

    @cached_property
    def total(self) -> int:
        """The count times the orders of the added users."""
        grid = self._grid
        if "minors" in self.__dict__:  # they tell it, too
            minors = self.minors.T if grid.turned else self.minors
            through = minors[grid.forms[0], grid.variables] * grid.weights[0]
            return int(sum(through * np.array(grid.items, dtype=object)))
        values = self._sum(_count, edges=False)
        return int(values[0]) * math.prod(map(math.factorial, grid.items))

    @cached_property
    def minors(self) -> Values:
        """Minors times the orders of the added users, by class of users and of behaviours."""
        grid = self._grid
        table = self._sum(_minors, edges=True).reshape(len(grid.sizes), len(grid.items))
        scale = math.prod(map(math.factorial, grid.items))
        table = table * np.array([scale // size for size in grid.items], dtype=object)
        return self._of_classes(table)

    def posteriors(self) -> npt.NDArray[np.float64]:
        """The probability of every edge: quotients of integers."""
        grid, minors = self._grid, self.minors
        weights = self._of_classes(grid.weights)
        probabilities = np.zeros(minors.shape)
        for pair in zip(*np.nonzero(weights), strict=True):
            probabilities[pair] = weights[pair] * minors[pair] / self.total
        chosen: npt.NDArray[np.float64] = grid.twins.of_edges(probabilities)
        return chosen

    def _of_classes(self, table: Values) -> Values:
        """By class of users and of behaviours, from forms and variables."""
        ordered: Values = np.empty_like(table)
        ordered[np.ix_(self._grid.forms, self._grid.variables)] = table
        return ordered.T if self._grid.turned else ordered

    def _sum(self, chunk: Callable[..., Any], *, edges: bool) -> Values:
        """The integers of which each chunk tells a part of the residues modulo one prime."""
        grid = self._grid
        primes = grid.primes(edges=edges)
        seconds = grid.seconds(edges=edges)
        sums = [Shared(_sums, *_modulo(grid, prime)) for prime in primes]
        cuts = borders(sums[0].get().units, seconds / len(primes))
        number = len(primes) * (len(cuts) - 1)

        def calls() -> Iterator[Callable[[], Any]]:
            for one in sums:
                for first, last in pairwise(cuts):
                    yield partial(chunk, one, first, last)

        results = self._effort.chunks(calls(), each=seconds / number, number=number)
        total: Values = np.zeros(1, dtype=object)
        modulus = 1
        for prime in primes:
            parts = [np.ravel(next(results)).astype(object) for _ in range(len(cuts) - 1)]
            sum_ = np.add.reduce(parts) * pow(math.prod(grid.orders), -1, prime)
            total = _joined(total, modulus, sum_, prime)
            modulus *= prime
        for _ in results:  # there is none: the job ends
            raise AssertionError
        return total


def _joined(values: Values, modulus: int, residues: Values, prime: int) -> Values:
    """Integers modulo modulus * prime (Chinese remainders)."""
    inverse = pow(modulus, -1, prime)
    joined: Values = values + (residues - values) * inverse % prime * modulus
    return joined


def _grid(twins: Twins, turned: bool, most: float) -> ClassGrid | None:
    weights, sizes = twins.padded()
    items = twins.behaviour_sizes
    if turned:
        weights, sizes, items = weights.T, items, sizes
    if len(items) > LIMITS.most_classes or len(sizes) > _native.CLASS_SUMS_MOST_ROWS:
        return None
    orders = _orders(sorted(items, reverse=True))
    points = math.prod(orders)
    if points >= LIMITS.sums_points or points * len(sizes) > most:
        return None
    unit = 0
    if not twins.block.exact:
        weights, unit = whole_multiples(weights)
    forms = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    variables = sorted(range(len(items)), key=lambda j: -items[j])
    weights = weights[np.ix_(forms, variables)]
    sizes, items = [sizes[i] for i in forms], [items[j] for j in variables]
    bits = _bits(weights, sizes, items)
    if bits > LIMITS.sums_bits:
        return None
    return ClassGrid(
        twins=twins,
        turned=turned,
        forms=forms,
        variables=variables,
        weights=weights,
        sizes=sizes,
        items=items,
        orders=orders,
        unit=unit,
        bits=bits,
    )


def _orders(items: list[int]) -> list[int]:
    """Orders above the sizes of all classes but the last, with a small common multiple."""
    orders = [size + 1 for size in items[:-1]]
    if math.lcm(*orders) <= LIMITS.sums_lcm:
        return orders
    return [_smooth(order) for order in orders]


def _smooth(number: int) -> int:
    """The next number without a prime factor above 5."""
    while True:
        rest = number
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return number
        number += 1


def _bits(weights: Values, sizes: list[int], items: list[int]) -> float:
    """A number b such that the coefficient is below 2^b.

    All terms of the product are positive, so the coefficient is at most its value at any x > 0 over
    prod x_j^b_j; a few steps towards the least value do.
    """
    logs = np.array([[math.log2(w) if w else -math.inf for w in row] for row in weights])
    heaviest = logs.max(axis=1)
    scaled = np.exp2(logs - heaviest[:, None])
    u, b = np.array(sizes, dtype=np.float64), np.array(items, dtype=np.float64)
    x = np.ones(len(items))
    best = math.inf
    for _ in range(LIMITS.sums_iterations):
        forms = scaled @ x
        best = min(best, float(u @ (np.log2(forms) + heaviest) - b @ np.log2(x)))
        x = b / np.maximum((u / forms) @ scaled, LIMITS.sums_least)
        x = np.maximum(x / x.max(), LIMITS.sums_least)
    return max(0.0, best) * (1 + 1e-9) + 1e-6


@lru_cache(maxsize=8)
def _primes_with_roots(order: int, bits: float) -> tuple[int, ...]:
    """The largest primes that are 1 modulo the order; their product is above 2^bits."""
    chosen: list[int] = []
    candidate = (_native.CLASS_SUMS_LARGEST_PRIME - 2) // order * order + 1
    while bits > 0:
        if candidate % 2 and is_prime(candidate):
            chosen.append(candidate)
            bits -= math.log2(candidate) - 1e-9
        candidate -= order
    return tuple(chosen)


def _root(order: int, prime: int) -> int:
    """An element of exactly this order modulo a prime that is 1 modulo it."""
    factors = [q for q in range(2, order + 1) if order % q == 0 and is_prime(q)]
    for base in range(2, prime):
        root = pow(base, (prime - 1) // order, prime)
        if all(pow(root, order // q, prime) != 1 for q in factors):
            return root
    raise AssertionError


def _modulo(grid: ClassGrid, prime: int) -> tuple[Any, ...]:
    """What the kernel takes: all residues."""
    points, factors = [], []
    for order, size in zip(grid.orders, grid.items[:-1], strict=True):
        root = _root(order, prime)
        points.append([pow(root, t, prime) for t in range(order)])
        factors.append([pow(root, -t * size % order, prime) for t in range(order)])
    residues = (grid.weights % prime).astype(np.uint64)
    return residues, tuple(grid.sizes), tuple(map(tuple, points)), tuple(map(tuple, factors)), prime


# Chunks: the grid is shared, the range is theirs.


def _sums(weights: Any, sizes: Any, points: Any, factors: Any, prime: int) -> _native.ClassSums:
    return _native.ClassSums(weights, sizes, points, factors, prime)


def _count(sums: Shared[_native.ClassSums], first: int, last: int) -> int:
    return sums.get().count(first, last)


def _minors(sums: Shared[_native.ClassSums], first: int, last: int) -> _native.Words:
    return sums.get().minors(first, last)
