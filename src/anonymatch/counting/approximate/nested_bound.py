"""A count within a factor 1 +- epsilon with probability 1 - delta, and exact samples by rejection.

Draws with a proven upper bound and the count as their mean (anonymatch/nesting.hpp) are looked at
in the order of their indices until an interval that holds at all times is narrow enough
(``betting``). Nothing is assumed about the block, so the promise holds for every one; what
differs is the price, about 20 / epsilon times bound / count draws, and it is told beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.counting.approximate.tuning import NESTED
from anonymatch.counting.blocks.block import Block, squared
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.running import CHUNK_SECONDS, Budget, Execution, Shared

T = TypeVar("T")
Tally = tuple[float, float, float, Floats, Floats]


@dataclass(frozen=True, slots=True)
class NestedBound:
    """How a guaranteed count came about.

    ``low`` and ``high`` are natural logs between which the count lies with probability 1 - delta;
    ``bound`` is the proven upper bound that all draws stay below.
    """

    epsilon: float
    delta: float
    low: float
    high: float
    bound: float
    draws: int
    seconds: float  # predicted


def guaranteed(
    block: Block, *, epsilon: float, delta: float, seed: int, budget: Budget, effort: Execution
) -> tuple[float, NestedBound]:
    """Log of a value within a factor 1 +- epsilon of the count with probability 1 - delta.

    The block is square. The answer is a function of the block, epsilon, delta and the seed. Raises
    BudgetError if it is predicted to cost more than the budget.
    """
    epsilon = _open(epsilon, "epsilon")
    delta = _open(delta, "delta")
    sampler = _Sampler.of(block, whole(seed, "seed"))
    what = f"a count within {epsilon:g} with probability {1 - delta:g}"

    def price(guess: _Guess) -> float:
        needed = draws_needed(guess.mean, guess.variance, epsilon=epsilon, delta=delta)
        return NESTED.settling * needed

    guess = sampler.prepare(price, what, budget, sampler.memory)
    draws = price(guess)
    seconds = draws * sampler.each
    effort.expect(seconds)
    bets = ConfidenceSequence(
        mean=guess.mean, variance=guess.variance, epsilon=epsilon, delta=delta
    )
    spent, total, narrow_at = 0.0, 0.0, math.inf
    with closing(sampler.tallies(bets, draws, effort)) as tallies:
        for drawn, added, _, gains, losses in tallies:
            spent, total = spent + drawn, total + added
            interval = bets.see(drawn, gains, losses)
            if interval.narrow(epsilon):
                # The mean itself should be near enough to all of the interval: whatever else is
                # leans to one side, as the interval does that is just narrow.
                narrow_at = min(narrow_at, spent)
                mean = total / spent
                if interval.value(mean, epsilon) == mean or spent >= NESTED.patience * narrow_at:
                    break
            if spent * sampler.each > max(budget.seconds, seconds):
                raise budget.refusal(what, _price_so_far(interval, spent, sampler), sampler.memory)
    log_bound = sampler.nesting.log_bound
    value = interval.value(total / spent, epsilon)
    return log_bound + math.log(value), NestedBound(
        epsilon,
        delta,
        log_bound + math.log(interval.low),
        log_bound + math.log(interval.high),
        log_bound,
        int(spent),
        seconds,
    )


def exact_samples(
    block: Block, size: int, *, seed: int, budget: Budget, effort: Execution
) -> npt.NDArray[np.int32]:
    """Perfect matchings of a square block, independent and exactly in proportion to their weights.

    Each row has the behaviour of each user. Draws are kept with probability draw / bound, so that
    the price is size times bound / count draws.
    """
    size = whole(size, "size")
    sampler = _Sampler.of(block, whole(seed, "seed"))
    memory = sampler.memory + 4.0 * size * block.n_users
    what = "drawing matchings exactly"
    guess = sampler.prepare(lambda guess: size / guess.mean, what, budget, memory)
    draws = size / guess.mean
    effort.expect(draws * sampler.each)
    accepted = [np.empty((0, block.n_users), dtype=np.int32)]
    number = 0
    spent = 0.0
    with closing(sampler.samples(draws, effort)) as chunks:
        while number < size:
            accepted.append(next(chunks))
            number += len(accepted[-1])
            spent += sampler.chunk_seconds(draws)
            if spent > max(budget.seconds, 2.0 * draws * sampler.each):
                raise budget.refusal(what, spent * (size + 1.0) / (number + 1.0), memory)
    return np.concatenate(accepted)[:size]


def exact_matchings(
    block: Block, size: int, *, seed: int, budget: Budget, effort: Execution
) -> npt.NDArray[np.int32]:
    """As :func:`exact_samples`, of a block that may have spare behaviours.

    Raises BudgetError also for blocks that no nested bound is known for.
    """
    what = "drawing matchings exactly"
    square = squared(block) if block.n_users <= tuning().nested_users else None
    if square is None:
        raise budget.refusal(what, math.inf, 0.0)
    try:
        drawn = exact_samples(square[0], size, seed=seed, budget=budget, effort=effort)
    except InputError:
        raise budget.refusal(what, math.inf, 0.0) from None
    return drawn[:, : block.n_users]


def _open(value: float, name: str) -> float:
    number = real(value, name, low=0.0, high=1.0)
    if number in (0.0, 1.0):
        raise InputError(f"{name} must lie between 0 and 1, not at {value}")
    return number


def _price_so_far(interval: ConfidenceInterval, spent: float, sampler: _Sampler) -> float:
    """Widths fall at least with the root of the number of draws."""
    width = math.log(interval.high / max(interval.low, 1e-300))
    return spent * sampler.each * (1.0 + width) ** 2 * 4.0


@dataclass(frozen=True, slots=True)
class _Guess:
    mean: float  # of draws divided by the bound
    variance: float


class _Sampler:
    """A nested bound on the better side of a block, and the streams of its draws."""

    def __init__(
        self, block: Block, seed: int, nesting: _native.NestedBound, *, turned: bool
    ) -> None:
        self._block = block
        self._turned = turned
        self.nesting = nesting
        self._moves = 0
        # Pilots, the draws that count and the moves of columns know nothing of each other.
        self._seeds = np.random.SeedSequence(seed).generate_state(4, np.uint64).tolist()
        self.each = tuning().nested_edge * block.n_edges + tuning().nested_step * block.n_users
        self.memory = 200.0 * (block.n_edges + block.n_users)

    @classmethod
    def of(cls, block: Block, seed: int) -> _Sampler:
        if block.optional:
            raise InputError("a guarantee takes blocks with as many behaviours as users")
        logs = _log_weights(block)
        turned = block.transposed()
        try:
            plain = _native.nested_bound_job(block, logs)
            other = _native.nested_bound_job(turned, _log_weights(turned))
        except ValueError as error:
            raise InputError(f"no guarantee: {error}; leave out the lightest edges") from None
        if other.log_bound < plain.log_bound:
            return cls(block, seed, other, turned=True)
        return cls(block, seed, plain, turned=False)

    def prepare(
        self, price: Callable[[_Guess], float], what: str, budget: Budget, memory: float
    ) -> _Guess:
        """What the draws will be like, once the order of columns is worth the price in draws."""
        guess = self.pilot(0)
        seconds = price(guess) * self.each
        if tuning().nested_search_from < seconds < tuning().nested_hopeless * budget.seconds:
            self.improve(seconds)
            guess = self.pilot(1)
            seconds = price(guess) * self.each
        if not budget.allows(seconds, memory):
            raise budget.refusal(what, seconds, memory)
        return guess

    def pilot(self, number: int) -> _Guess:
        """Mean and variance, from few draws; where they say nothing, from the proven bounds."""
        draws, total, squares = 0.0, 0.0, 0.0
        first, groups = 0, NESTED.pilot_draws // _native.NESTED_BOUND_GROUP
        nothing = np.empty(0)
        while draws * self.each < NESTED.pilot_seconds:
            drawn, added, more, _, _ = self.nesting.tally(
                self._seeds[number], first, first + groups, nothing, nothing
            )
            draws, total, squares = draws + drawn, total + added, squares + more
            first, groups = first + groups, first + groups
            if total**2 >= NESTED.pilot_size * squares > 0:
                break
        if total > 0 and total**2 >= NESTED.pilot_size / 10 * squares:
            mean = total / draws
            return _Guess(mean, max(squares / draws - mean**2, 0.0))
        lower, _ = block_bounds(self._block)
        n = self._block.n_users
        # The Bethe value is about this much too small where nothing is special.
        likely = lower + 0.5 * math.log(max(2 * math.pi * n / math.e, 1.0))
        mean = math.exp(max(min(likely - self.nesting.log_bound, 0.0), -300.0))
        return _Guess(mean, mean * math.sqrt(mean))

    def improve(self, seconds: float) -> None:
        """Look for a better order of columns, for a share of the predicted seconds."""
        each = tuning().nested_move * (self._block.n_edges / self._block.n_users) ** 2
        moves = int(
            min(seconds * tuning().nested_search_share, tuning().nested_search_seconds) / each
        )
        self._moves = moves
        self.nesting.improve(moves, self._seeds[3])

    def tallies(
        self, bets: ConfidenceSequence, draws: float, effort: Execution
    ) -> Generator[Tally, None, None]:
        tally = partial(_tally, self._shared(), self._seeds[2], bets.larger, bets.smaller)
        return self._chunks(tally, draws, effort)

    def samples(
        self, draws: float, effort: Execution
    ) -> Generator[npt.NDArray[np.int32], None, None]:
        n = self._block.n_users
        sample = partial(_sample, self._shared(), self._seeds[2], n, self._turned)
        return self._chunks(sample, draws, effort)

    def _shared(self) -> Shared[_native.NestedBound]:
        """The nesting as it is now."""
        recipe = (self._block, self._turned, self._moves, self._seeds[3])
        return Shared(_nesting, *recipe, value=self.nesting)

    def _chunks(
        self, work: Callable[[int, int], T], draws: float, effort: Execution
    ) -> Generator[T, None, None]:
        """Results of as many chunks of groups as are asked for, in order."""
        groups = self._groups(draws)
        calls = (partial(work, k * groups, (k + 1) * groups) for k in count())
        number = math.ceil(draws / (groups * _native.NESTED_BOUND_GROUP))
        yield from effort.chunks(calls, each=self.chunk_seconds(draws), number=number)

    def _groups(self, draws: float) -> int:
        """Groups of a chunk when about so many draws will be needed."""
        chunk = min(draws / NESTED.looks, CHUNK_SECONDS / self.each)
        return max(1, int(chunk / _native.NESTED_BOUND_GROUP))

    def chunk_seconds(self, draws: float) -> float:
        """Predicted seconds of such a chunk."""
        return self._groups(draws) * _native.NESTED_BOUND_GROUP * self.each


def _nesting(block: Block, turned: bool, moves: int, seed: int) -> _native.NestedBound:
    side = block.transposed() if turned else block
    nesting = _native.nested_bound_job(side, _log_weights(side))
    if moves:
        nesting.improve(moves, seed)
    return nesting


def _tally(
    nesting: Shared[_native.NestedBound],
    seed: int,
    larger: Floats,
    smaller: Floats,
    first: int,
    last: int,
) -> Tally:
    return nesting.get().tally(seed, first, last, larger, smaller)


def _sample(
    nesting: Shared[_native.NestedBound], seed: int, n: int, turned: bool, first: int, last: int
) -> npt.NDArray[np.int32]:
    accepted = nesting.get().samples(seed, first, last).reshape(-1, n)
    return np.argsort(accepted, axis=1).astype(np.int32) if turned else accepted


def _log_weights(block: Block) -> Floats | None:
    if block.weights is None:
        return None
    if block.weights.dtype == object:
        return np.array([math.log(weight) for weight in block.weights.tolist()])
    logs: Floats = np.log(block.weights)
    return logs


def draws_needed(mean: float, variance: float, *, epsilon: float, delta: float) -> float:
    """About how many draws narrow the interval to a factor 1 +- epsilon."""
    goal = math.log(2 / delta) - math.log(max(NESTED.shares))
    return goal / _growth(mean, variance, epsilon)


def _growth(mean: float, variance: float, epsilon: float) -> float:
    """Log of the factor a draw by which capitals must grow for a width of 2 epsilon.

    Against a mean that lies ``gap`` away, a bet b makes the capital grow by b gap - b^2 v / 2.
    """
    below, above = -700.0, 700.0  # logs of the growth
    for _ in range(NESTED.halvings):
        middle = (below + above) / 2
        growth = math.exp(middle)
        width = sum(growth / bet + bet * variance / 2 for bet in _suited(mean, variance, growth))
        below, above = (middle, above) if width < 2 * epsilon * mean else (below, middle)
    return math.exp(below)


def _suited(mean: float, variance: float, growth: float) -> tuple[float, float]:
    """Bets on a smaller and on a larger mean: the best, or the largest that are allowed."""
    best = math.sqrt(2 * growth / variance) if variance > 0 else math.inf
    return min(NESTED.largest_smaller, best), min(NESTED.largest_larger / mean, best)


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The mean lies in it, with the probability that was asked for, at all times together."""

    low: float
    high: float

    def narrow(self, epsilon: float) -> bool:
        """Whether one value is within a factor 1 +- epsilon of everything in it."""
        return self.high * (1 - epsilon) <= self.low * (1 + epsilon)

    def value(self, guess: float, epsilon: float) -> float:
        """The value nearest to the guess that is within a factor 1 +- epsilon of all of it."""
        low = max(self.low, self.high * (1 - epsilon))
        high = min(self.high, self.low * (1 + epsilon))
        return min(max(guess, low), high)


class ConfidenceSequence:
    """Bets on the mean, and what draws made of them."""

    def __init__(self, *, mean: float, variance: float, epsilon: float, delta: float) -> None:
        smaller, larger = _suited(mean, variance, _growth(mean, variance, epsilon))
        larger /= 1 - larger * mean  # as 1 + b x grows less than b x
        self.smaller = np.array([min(NESTED.largest_smaller, s * smaller) for s in NESTED.spread])
        self.larger = np.array([s * larger for s in NESTED.spread])
        self._goal = math.log(2 / delta)  # half of delta a side
        self._losses = np.zeros(len(NESTED.spread))
        self._gains = np.zeros(len(NESTED.spread))
        self._draws = 0.0
        self.interval = ConfidenceInterval(0.0, 1.0)

    def see(self, draws: float, gains: Floats, losses: Floats) -> ConfidenceInterval:
        """More draws: sums of ln(1 + larger * draw) and of ln(1 - smaller * draw) over them."""
        self._draws += draws
        self._gains = self._gains + gains
        self._losses = self._losses + losses
        # The interval holds at all times, so what was refuted once stays refuted.
        self.interval = ConfidenceInterval(
            max(self.interval.low, self._low()), min(self.interval.high, self._high())
        )
        return self.interval

    def _low(self) -> float:
        bets, gains = self.larger.tolist(), self._gains.tolist()

        def refuted(mean: float) -> bool:
            logs = (
                gain - self._draws * math.log1p(bet * mean)
                for bet, gain in zip(bets, gains, strict=True)
            )
            return _log_capital(list(logs)) >= self._goal

        return _border(refuted, 0.0)

    def _high(self) -> float:
        bets, losses = self.smaller.tolist(), self._losses.tolist()

        def open_still(mean: float) -> bool:
            logs = (
                loss - self._draws * math.log1p(-bet * mean)
                for bet, loss in zip(bets, losses, strict=True)
            )
            return _log_capital(list(logs)) < self._goal

        return _border(open_still, 1.0)


def _log_capital(logs: Sequence[float]) -> float:
    top = max(logs)
    if top == -math.inf:
        return top
    parts = (share * math.exp(log - top) for share, log in zip(NESTED.shares, logs, strict=True))
    return top + math.log(sum(parts))


def _border(holds: Callable[[float], bool], outer: float) -> float:
    """Where a claim about means that holds from 0 up to somewhere ends, rounded to ``outer``."""
    below, above = -690.0, 0.0  # logs of means
    if holds(1.0):
        return 1.0
    if not holds(math.exp(below)):
        return outer if outer == 0.0 else math.exp(below)
    for _ in range(NESTED.halvings):
        middle = (below + above) / 2
        below, above = (middle, above) if holds(math.exp(middle)) else (below, middle)
    return math.exp(below if outer == 0.0 else above)
