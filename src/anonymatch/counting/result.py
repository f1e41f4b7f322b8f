"""Count and Plan: how many matchings, how far to trust it, and how it was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from anonymatch.effort import in_words
from anonymatch.wording import several

if TYPE_CHECKING:
    from anonymatch.graph.structure import Witness

__all__ = ["Count", "Factor", "Plan", "Step", "log_of", "power_product"]

_LN2 = math.log(2.0)

Factor = tuple[Callable[[], int | Fraction], int]
"""A factor of a count, computed when asked for, and its power."""


def log_of(value: int | Fraction) -> float:
    """Natural logarithm of a non-negative number of any size; -inf for 0."""
    if value == 0:
        return -math.inf
    if isinstance(value, Fraction):
        return log_of(value.numerator) - log_of(value.denominator)
    return math.log(value)  # exact integers of any size are taken


def power_product(factors: Sequence[tuple[int | Fraction, int]]) -> int | Fraction:
    """The product of value**power, by halves so that big integers meet big integers."""
    if not factors:
        return 1
    if len(factors) == 1:
        value, power = factors[0]
        return value**power
    middle = len(factors) // 2
    return power_product(factors[:middle]) * power_product(factors[middle:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One kind of block in a plan, and the way chosen for it.

    Examples
    --------
    >>> import anonymatch as am
    >>> step = am.count(am.crown(30)).plan.steps[0]
    >>> step.copies, step.users, step.edges, step.method
    (1, 30, 870, 'closed form')
    """

    copies: int
    users: int
    behaviours: int
    edges: int
    method: str
    why: str
    seconds: float = 0.0  # predicted, of one core
    memory: float = 0.0  # predicted bytes

    def __str__(self) -> str:
        times = f"{self.copies} x " if self.copies > 1 else ""
        side = (
            f"{self.users}" if self.users == self.behaviours else f"{self.users}x{self.behaviours}"
        )
        side += " user" if side == "1" else " users"
        edges = several(self.edges, "edge")
        cost = in_words(self.seconds, self.memory)
        return f"{times}block of {side}, {edges}: {self.method} ({self.why}), {cost}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, block by block; blocks that are equal are one step.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.count(am.Graph.from_rows(["110000", "110000", "001111", "001111"])).plan
    >>> [(step.users, step.behaviours, step.method) for step in plan.steps]
    [(2, 4, 'subsets'), (2, 2, 'subsets')]
    """

    steps: tuple[Step, ...] = ()

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def memory(self) -> float:
        return max((step.memory for step in self.steps), default=0.0)

    @property
    def method(self) -> str:
        """The methods in use, the dearest first."""
        dearest = sorted(self.steps, key=lambda step: -step.seconds)
        return " + ".join(dict.fromkeys(step.method for step in dearest)) or "forced"

    def __str__(self) -> str:
        lines = [str(step) for step in self.steps[:20]]
        if len(self.steps) > 20:
            rest = several(len(self.steps) - 20, "more kind", "more kinds")
            lines.append(f"... and {rest} of block")
        return "\n".join(lines) or "nothing to count: every pair is forced"


@dataclass(frozen=True, kw_only=True)
class Count:
    """The number of perfect matchings of a graph (weighted: the sum of their products of weights).

    Attributes
    ----------
    exact : bool
        Whether `value` is the count itself: a Python int, or a Fraction for weighted graphs.
    log : float
        Natural logarithm, the best value; -inf when there is no perfect matching.
    low, high : float
        Natural-log interval that holds the count; both equal `log` when exact.
    confidence : float
        Chance that the interval holds; 1.0 means proven.
    proven : tuple of float
        Natural-log interval that needs no luck; the same as (low, high) unless it was estimated.
    effective : float or None
        For estimates: independent draws that would tell as much, in the block that has fewest.
    method, seed, plan
        What ran, its seed (None: nothing random), and the way block by block.
    witness : Witness or None
        When the count is 0: users who together fit too few behaviours.

    Examples
    --------
    >>> import anonymatch as am
    >>> c = am.count(am.Graph.from_rows(["110", "011", "111"]))
    >>> c.value, c.exact, round(c.log2, 4)
    (3, True, 1.585)
    >>> print(c)
    3 matchings (2^1.585), exact, by subsets
    """

    exact: bool
    log: float
    low: float
    high: float
    method: str
    confidence: float = 1.0
    proven: tuple[float, float] = (-math.inf, math.inf)
    effective: float | None = None
    seed: int | None = None
    plan: Plan = field(default_factory=Plan, repr=False)
    witness: Witness | None = field(default=None, repr=False)
    weighted: bool = field(default=False, repr=False)
    factors: tuple[Factor, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.confidence == 1.0:
            object.__setattr__(self, "proven", (self.low, self.high))

    @cached_property
    def value(self) -> int | Fraction | float:
        """The count: int or Fraction when exact, else the float nearest to `log`."""
        if self.exact:
            if self.log == -math.inf:
                return Fraction(0) if self.weighted else 0
            product = power_product([(total(), copies) for total, copies in self.factors])
            return Fraction(product) if self.weighted else product
        try:
            return math.exp(self.log)
        except OverflowError:
            return math.inf

    def __getstate__(self) -> dict[str, object]:
        """Pickled as the finished value: factors are computations that cannot travel."""
        state = dict(self.__dict__)
        if self.exact:
            state["value"] = self.value
        state["factors"] = ()
        return state

    def __copy__(self) -> Count:
        return self

    def __deepcopy__(self, memo: object) -> Count:
        """Itself: it never changes, and a copy would have to compute the value."""
        return self

    @property
    def log2(self) -> float:
        return self.log / _LN2

    def __str__(self) -> str:
        noun = "weight of all matchings" if self.weighted else "matchings"
        if self.exact and not self.weighted and self.log == 0:
            noun = "matching"
        if self.exact:
            if self.log < 40 * math.log(10):
                return f"{self.value} {noun} (2^{self.log2:.4g}), exact, by {self.method}"
            return f"2^{self.log2:.10g} {noun}, exact, by {self.method}"
        trust = "proven" if self.confidence == 1.0 else f"{self.confidence:.0%} sure"
        line = (
            f"2^{self.log2:.10g} {noun}, between 2^{self.low / _LN2:.10g} and "
            f"2^{self.high / _LN2:.10g} ({trust}), by {self.method}"
        )
        if self.confidence == 1.0:
            return line
        low, high = (f"2^{end / _LN2:.6g}" for end in self.proven)
        return f"{line} (seed {self.seed}); proven: between {low} and {high}"
