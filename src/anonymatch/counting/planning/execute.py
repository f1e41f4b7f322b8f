"""One call under way: the blocks of the graph, the way chosen for each kind, and their answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from anonymatch import _native
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import BudgetError
from anonymatch.counting.approximate.accuracy import Accuracy
from anonymatch.counting.approximate.records import EdgeEstimate, Estimate, EstimateBudget
from anonymatch.counting.blocks.block_classes import BlockClass, Reduced, SmallClasses, reduce
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.counting.integers import Words
from anonymatch.counting.planning.choose import AUTO, ESTIMATE, NONE, choose
from anonymatch.counting.results import Factor, Plan, Step
from anonymatch.graph import Graph
from anonymatch.running import Budget, Execution, Progress

T = TypeVar("T")

# Seconds of a budget that a bar tells from the start.
_FORESEEN_FROM, _FORESEEN_MOST = 0.1, 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a call shall run."""

    method: str
    exact: bool
    budget: Budget
    executor: Executor | None
    progress: Progress | None
    seed: int = 0
    doubles: bool = False  # wanted even where the budget reaches an exact count


class Computation:
    """The blocks of a graph with a perfect matching; everything is computed when asked for."""

    def __init__(self, graph: Graph, settings: Settings, *, edges: bool) -> None:
        self.graph = graph
        self.settings = settings
        self._edges = edges
        self.effort = Execution(executor=settings.executor, progress=settings.progress)
        self.reduced: Reduced = reduce(graph, exact=settings.exact)
        users, behaviours, n_edges = self.reduced.sizes()
        small = (behaviours <= _native.SMALL_BEHAVIOURS) & (settings.method in (AUTO, ESTIMATE))
        if settings.method == ESTIMATE:
            small &= users <= tuning().trivial_users
        small &= self.reduced.even()
        if graph.weighted and settings.exact:
            small[:] = False  # whole numbers of any size are not for the small kernel
        self.small: SmallClasses = self.reduced.small(np.flatnonzero(small))
        self.kinds: list[BlockClass] = [
            self.reduced.kind(k) for k in np.flatnonzero(~small).tolist()
        ]
        context = self._context(settings.budget)
        if settings.budget.chosen and not settings.exact:
            self._foresee(settings.budget.seconds)
        self.options: list[Option] = [
            self._recorded(choose(kind.block, context, settings.method)) for kind in self.kinds
        ]
        self._solved: dict[int, Solution] = {}
        self._proving = 0.0  # predicted seconds that proven bounds took
        self.rounded = False  # whether some count without weights is left in doubles
        self._small_steps = _small_steps(self.small, users[small], n_edges[small])
        self.plan = self._plan_of(self.options)

    def _foresee(self, seconds: float) -> None:
        if seconds >= _FORESEEN_FROM:
            self.effort.foresee(min(seconds, _FORESEEN_MOST))

    def _context(self, budget: Budget) -> Context:
        return Context(edges=self._edges, budget=budget, effort=self.effort)

    def _plan_of(self, options: list[Option]) -> Plan:
        steps = [_step(kind, option) for kind, option in zip(self.kinds, options, strict=True)]
        steps += self._small_steps
        return Plan(tuple(sorted(steps, key=lambda step: -step.seconds)))

    def _recorded(self, option: Option) -> Option:
        """The option with its answers recorded where the method cannot be cut into chunks."""
        if option.rounded is not None:
            option = replace(option, rounded=self._recorded(option.rounded))
        if option.longest is not None:  # its chunks are
            return option
        what = (option.method, option.why, option.seconds)
        return replace(
            option, solve=lambda: option.solve().recorded(what, option.seconds, self.effort)
        )

    def beyond_budget(self) -> frozenset[int]:
        """Kinds, by place, that the budget does not reach; the cheapest are served first.

        If it does not reach all, or nobody wants it exact, doubles with a proven interval will do
        wherever they are offered, and reach further.
        """
        over = self._unserved()
        rounded = [option.rounded for option in self.options]
        if (over or self.settings.doubles) and not self.settings.exact and any(rounded):
            pairs = zip(self.options, rounded, strict=True)
            self.options = [option if other is None else other for option, other in pairs]
            self.rounded = True
            self.plan = self._plan_of(self.options)
            over = self._unserved()
        self.effort.expect(self._spent)
        if not over:
            self.effort.settle()
        return over

    def _unserved(self) -> frozenset[int]:
        over: set[int] = set()
        spent = 0.0
        for k in sorted(range(len(self.options)), key=lambda k: self.options[k].seconds):
            option = self.options[k]
            within = self.settings.budget.allows(spent + option.seconds, option.memory)
            if within and option.method != ESTIMATE:
                spent += option.seconds
            else:
                over.add(k)
        self._spent = spent
        return frozenset(over)

    def _allowed(self, kind: BlockClass, number: int) -> EstimateBudget:
        """What an estimate of one of so many kinds may cost, and how close it shall be.

        Without a wish for seconds a good answer soon is wanted; with one, the best they buy.
        """
        budget = self.settings.budget
        close = (
            tuning().estimate_half_width_chosen if budget.chosen else tuning().estimate_half_width
        )
        aside = tuning().planning_share * budget.seconds + self._proving
        seconds = max(budget.seconds - self._spent - aside, 0.05 * budget.seconds)
        each = tuning().spare_bytes if kind.block.optional else tuning().estimate_bytes
        if each * kind.block.n_edges > budget.memory:
            seconds = 0.0
        elif not budget.chosen:
            seconds = tuning().estimate_seconds
        half_width = close / math.sqrt(number) / kind.copies
        return EstimateBudget(seconds=seconds / number, half_width=half_width, strict=budget.chosen)

    def estimate(self, over: frozenset[int]) -> dict[int, Estimate]:
        """Estimates of the kinds beyond the budget, by place.

        What is exact and what is proven come first: from then on there is an answer to end with.
        """
        if not over:
            self.effort.stop.useful = False
            self.effort.settle()
            return {}
        from anonymatch.counting.approximate.estimate import estimate  # exact counts need none

        self.run(over)
        for k in set(range(len(self.kinds))) - over:
            _ = self.solution(k).log_and_error
        proven = self._proven(over)
        self.effort.stop.useful = True
        estimates: dict[int, Estimate] = {}
        for k, bounds in proven.items():
            kind = self.kinds[k]
            estimates[k] = estimate(
                kind.block,
                seed=(self.settings.seed, kind.number),
                allowed=self._allowed(kind, len(over)),
                effort=self.effort,
                proven=bounds,
            )
        self.effort.settle()
        return estimates

    def _proven(self, over: frozenset[int]) -> dict[int, tuple[float, float]]:
        """Proven bounds of the kinds beyond the budget, by place.

        A budget of 0 leaves nothing else: then they are as close as they can be.
        """
        budget = self.settings.budget
        blocks = {k: self.kinds[k].block for k in sorted(over)}
        seconds = math.inf
        if budget.chosen and budget.seconds > 0.0:
            seconds = (
                tuning().bounds_share
                * budget.seconds
                / max(sum(b.n_edges for b in blocks.values()), 1)
            )
        proven = {}
        for k, block in blocks.items():
            proven[k] = block_bounds(block, seconds * block.n_edges)
            if math.isfinite(seconds) and budget.seconds >= _FORESEEN_FROM:
                self._proving += seconds * block.n_edges
                self.effort.expect(seconds * block.n_edges)
                self.effort.advance(seconds * block.n_edges)
        return proven

    def approximate(self, promise: Accuracy) -> tuple[frozenset[int], dict[int, Estimate]]:
        """Kinds that are not counted exactly, by place, and what is promised of each.

        Exact where that is quick. Else draws, unless they are predicted to cost more.
        """
        slow = self._slow()
        share = promise.shared(self.kinds[k].copies for k in slow)
        estimates: dict[int, Estimate] = {}
        for k in slow:
            estimates |= self._approximated(k, share.approximate)
        return frozenset(estimates), estimates

    def _slow(self) -> list[int]:
        """Kinds that are worth a promise, by position: those that are not quickly counted."""
        most = tuning().promise_from
        options = enumerate(self.options)
        return [k for k, option in options if option.seconds > most or option.method == ESTIMATE]

    def _approximated(self, k: int, approximate: Callable[..., T]) -> dict[int, T]:
        """What keeps the promise for one kind; nothing if an exact method is cheaper."""
        option, budget = self.options[k], self.settings.budget
        exact = option.method != ESTIMATE and budget.allows(option.seconds, option.memory)
        cheaper = replace(budget, seconds=min(option.seconds, budget.seconds))
        seeds = np.random.SeedSequence((self.settings.seed, self.kinds[k].number))
        try:
            approximated = approximate(
                self.kinds[k].block,
                seed=int(seeds.generate_state(1, np.uint64)[0]),
                budget=cheaper if exact else budget,
                effort=self.effort,
            )
        except BudgetError:
            if not exact:
                raise
            self.effort.expect(option.seconds)
            return {}
        return {k: approximated}

    def approximate_edges(self, promise: Accuracy) -> dict[int, EdgeEstimate]:
        """Probabilities of the kinds that are not solved exactly, by place, as promised."""
        slow = self._slow()
        share = replace(promise, delta=promise.delta / max(len(slow), 1))
        estimates: dict[int, EdgeEstimate] = {}
        for k in slow:
            estimates |= self._approximated(k, share.approximate_edges)
        return estimates

    def estimate_edges(
        self, over: frozenset[int], *, partial: bool
    ) -> dict[int, EdgeEstimate] | None:
        """Probabilities in the kinds beyond the budget, by place.

        If one is out of reach: None, or with ``partial`` NaN for its probabilities.
        """
        if not over:
            self.effort.settle()
            return {}
        from anonymatch.counting.approximate import marginals

        estimates = {}
        for k in sorted(over):
            kind = self.kinds[k]
            allowed = replace(
                self._allowed(kind, len(over)), half_width=tuning().estimate_probability
            )
            if partial and allowed.seconds < tuning().estimate_edges_from:
                estimates[k] = EdgeEstimate.unknown(kind.block.n_edges)
                continue
            one = marginals.estimate_edges(
                kind.block,
                seed=(self.settings.seed, kind.number),
                allowed=allowed,
                effort=self.effort,
            )
            if one is None and not partial:
                if allowed.seconds < tuning().unchecked_from / len(over):
                    return None
                one = marginals.unchecked_edges(
                    kind.block, seconds=allowed.seconds, effort=self.effort
                )
            estimates[k] = one or EdgeEstimate.unknown(kind.block.n_edges)
        self.effort.settle()
        return estimates

    def refusal(self, what: str) -> BudgetError:
        """Names what the work would take, by the plan that there is.

        Only blocks that no method reaches within these seconds are planned again, without a limit:
        some would if they were allowed to.
        """
        budget = self.settings.budget
        free = self._context(replace(budget, seconds=math.inf))
        plan = self._plan_of(
            [
                choose(kind.block, free, self.settings.method) if option.method == NONE else option
                for kind, option in zip(self.kinds, self.options, strict=True)
            ]
        )
        return budget.refusal(what, plan.seconds, plan.memory)

    def solution(self, k: int) -> Solution:
        if k not in self._solved:
            self._solved[k] = self.options[k].solve()
        return self._solved[k]

    @property
    def solutions(self) -> list[Solution]:
        return [self.solution(k) for k in range(len(self.kinds))]

    def run(self, over: frozenset[int]) -> None:
        """Runs what can run side by side, the longest first: kinds whose work is one call."""
        options = self.options
        waiting = [k for k in range(len(options)) if k not in over and k not in self._solved]
        ready = [k for k in waiting if options[k].run is not None]
        ready.sort(key=lambda k: -options[k].seconds)
        runs = [run for run in (options[k].run for k in ready) if run is not None]
        results = self.effort.chunks(
            runs,
            each=[options[k].seconds for k in ready],
            number=len(ready),
        )
        for k, one in zip(ready, results, strict=True):
            take = options[k].take
            assert take is not None
            self._solved[k] = take(one)

    def log_scale(self, kind: BlockClass) -> float:
        """Natural log of what the block's count is to be multiplied with."""
        if isinstance(kind.scale, Fraction):
            return math.log(kind.scale.numerator) - math.log(kind.scale.denominator)
        return kind.scale

    def factor(self, kind: BlockClass, solution: Solution) -> Factor:
        return partial(_scaled_total, solution, kind.scale), kind.copies

    # ---- small kinds, all in one call

    @cached_property
    def small_exact(self) -> list[int]:
        """Counts of the small kinds of a graph without weights."""
        totals, _ = _native.small_counts(self.small, minors=False)
        return [int(total) for total in totals]

    def small_factors(self) -> list[Factor]:
        return [
            (partial(int, total), int(copies))
            for total, copies in zip(self.small_exact, self.small.copies.tolist(), strict=True)
        ]

    def small_logs(self) -> tuple[Floats, Floats]:
        """Natural logs of the counts of the small kinds, and proven bounds on their errors."""
        small = self.small
        if small.weights is None:
            logs = np.array([math.log(total) for total in self.small_exact])
            return logs, np.zeros(len(logs))
        totals, _ = _native.small_counts_weighted(small, minors=False)
        users = np.diff(small.user_offsets)
        error = 2.0**-52 * (users + 1) * (small.behaviour_counts + 1) + 2.0**-50
        scales = small.log_scales.astype(np.float64)
        return np.log(totals) + scales, error + 2.0**-50 * np.abs(scales)  # sums are rounded

    def small_minors(self) -> tuple[Words | Floats, Floats]:
        """Minors and probabilities of all edges of the small kinds, in the kernel's order."""
        small = self.small
        minors: Words | Floats
        if small.weights is None:
            _, minors = _native.small_counts(small, minors=True)
            through = minors.astype(np.float64)
        else:
            _, minors = _native.small_counts_weighted(small, minors=True)
            through = minors * small.weights
        n_rows = len(small.row_offsets) - 1
        rows = np.repeat(np.arange(n_rows), np.diff(small.row_offsets))
        sums = np.bincount(rows, weights=through, minlength=n_rows)
        return minors, through / sums[rows]


def _scaled_total(solution: Solution, scale: Fraction | float) -> int | Fraction:
    assert isinstance(scale, Fraction)
    return solution.total if scale == 1 else solution.total * scale


def _step(kind: BlockClass, option: Option) -> Step:
    block = kind.block
    return Step(
        copies=kind.copies,
        users=block.n_users,
        behaviours=block.n_behaviours,
        edges=block.n_edges,
        method=option.method,
        why=option.why,
        seconds=option.seconds,
        memory=option.memory,
    )


def _small_steps(small: SmallClasses, users: Ints, edges: Ints) -> list[Step]:
    """One line a size of small block; pairs that are forced are not worth one."""
    shapes: dict[tuple[int, int, int], int] = {}
    columns = (users, small.behaviour_counts, edges, small.copies)
    for u, b, e, copies in zip(*(column.tolist() for column in columns), strict=True):
        if (u, b) != (1, 1):
            shapes[u, b, e] = shapes.get((u, b, e), 0) + copies
    return [
        Step(
            copies=copies,
            users=u,
            behaviours=b,
            edges=e,
            method="subset",
            why="small",
            seconds=tuning().small_step * 2**b * e / u,
        )
        for (u, b, e), copies in shapes.items()
    ]
