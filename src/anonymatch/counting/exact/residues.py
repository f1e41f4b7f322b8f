"""Counts from residues modulo many primes: planar blocks and tree-like blocks.

Both methods take eight primes through one run. Brègman's bound tells how many primes make a count
exact. Weights in doubles are whole numbers times powers of two, so nothing is rounded before the
end.

Planar blocks can be drawn in the plane without crossings, as boards can. With Kasteleyn's signs the
count is a determinant, taken by sparse elimination (cpp/kernels/planar/planar.hpp).

Tree-like blocks branch, so that no order of users is narrow, yet few vertices part them everywhere.
Sets of matched vertices of such a part are the state, and branches are joined over disjoint sets
(cpp/kernels/tree/tree.hpp).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Objects, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.counting.integers import LN2, chinese, primes_below, product
from anonymatch.counting.results import log_of
from anonymatch.running import Execution, Shared, borders, byte_of_work, check_work

Words = npt.NDArray[np.uint64]

LANES = _native.PLANAR_LANES
_BITS = _native.PLANAR_PRIME_BITS
_USED_BITS = _BITS - 0.001  # of every prime: there are enough so close to 2^49
_VANISHED = np.uint64(2**64 - 1)  # in place of a count modulo a prime that does not do


def offer_planar(block: Block, context: Context, best: float) -> Option | None:
    """By determinants; None unless the block is square and planar."""
    if block.optional or block.n_edges > max(4 * block.n_users - 4, 1):
        return None
    if tuning().planar_planning * block.n_edges > context.worth(best):
        return None
    drawn = _planar(*_rows(block))
    if drawn is None:
        return None
    plan = drawn.plan
    steps, edges = tuning().planar_step * plan.work, block.n_edges * LANES
    count = steps + tuning().planar_pivot * block.n_users
    count += tuning().residue_weight * edges if block.weights is not None else 0.0
    cost = ResidueCost(
        count_seconds=count,
        edges_seconds=count + tuning().planar_inverse * steps + tuning().residue_fraction * edges,
        memory=float(plan.run_bytes(context.edges)),
    )
    why = f"a plane drawing, at most {several(plan.width, 'neighbour')} in elimination"
    return _offer("planar", why, block, drawn, cost, context)


def offer_tree(block: Block, context: Context, best: float) -> Option | None:
    """Along a tree decomposition; None if its parts are large."""
    if best < tuning().tree_worth:
        return None
    return _offer_tree(tuning().tree_most, _native.TREE_WIDTH_LIMIT, block, context, best)


def glance_tree(block: Block, context: Context, best: float) -> Option | None:
    """The same where it is so cheap that no search for an order of users would pay."""
    vertices = block.n_users + block.n_behaviours
    most, width = tuning().tree_glance * vertices, tuning().tree_glance_width
    return _offer_tree(most, width, block, context, best)


def _offer_tree(
    most: float, width: int, block: Block, context: Context, best: float
) -> Option | None:
    if tuning().tree_planning * block.n_edges > context.worth(best):
        return None
    most = min(most, best / tuning().tree_step / tuning().tree_least_runs)
    tree = _tree(most, width, *_rows(block))
    if tree is None:
        return None
    plan, edges = tree.plan, block.n_edges * LANES
    count = tuning().tree_step * plan.work
    count += tuning().tree_vertex * (block.n_users + block.n_behaviours)
    weights = tuning().residue_weight * edges if block.weights is not None else 0.0
    cost = ResidueCost(
        count_seconds=count + weights,
        edges_seconds=tuning().tree_edges * count + weights + tuning().residue_fraction * edges,
        memory=float(plan.run_bytes(context.edges)),
    )
    why = f"a tree of parts that share at most {several(plan.width, 'vertex', 'vertices')}"
    return _offer("tree", why, block, tree, cost, context)


def _rows(block: Block) -> tuple[Any, ...]:
    return block.n_users, block.n_behaviours, block.indptr, block.indices


def _planar(*rows: Any) -> ResidueProblem | None:
    """A square block with its drawing; None if it is not planar."""
    block = Block(*rows)
    plan = _native.plan_planar(block, byte_of_work())
    return None if plan is None else ResidueProblem(block, plan, (_planar,))


def _tree(most: float, width: int, *rows: Any) -> ResidueProblem | None:
    """A block with its tree decomposition; None if that takes more than ``most`` products."""
    block = Block(*rows)
    plan = _native.plan_tree(block, most, width, byte_of_work())
    return None if plan is None else ResidueProblem(block, plan, (_tree, most, width))


@dataclass(frozen=True, slots=True, eq=False)
class ResidueProblem:
    """A block with whole weights or none, and the plan along which it is run modulo primes."""

    block: Block
    plan: _native.PlanarPlan | _native.TreePlan
    made_by: tuple[Any, ...]  # function that plans again in another process, and its limits

    @property
    def recipe(self) -> tuple[Any, ...]:
        return *self.made_by, *_rows(self.block), self.block.weights

    def run(self, primes: Sequence[int], *, edges: bool) -> _native.PlanarResidues:
        """One elimination or one pass through the tree, for a prime a lane."""
        weights = _residues(self.block.weights, primes)
        cancel = byte_of_work()
        result = _native.run_residues(self.plan, primes, weights, edges=edges, cancel=cancel)
        check_work()
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidueCost:
    """Predicted seconds of one run for a count, and with all edges; and bytes of one."""

    count_seconds: float
    edges_seconds: float
    memory: float


def _offer(
    method: str,
    why: str,
    block: Block,
    problem: ResidueProblem,
    cost: ResidueCost,
    context: Context,
) -> Option | None:
    """The option of a method by residues; None if the sums of weights leave doubles.

    ``problem``: the block without weights.
    """
    whole, shift = (block, 0) if block.exact else _whole(block)
    bits = block_bits(whole) + 1.0  # twice the count stays below the product of primes
    if not math.isfinite(bits):
        return None
    runs = _runs_for(bits)
    cost = replace(cost, count_seconds=cost.count_seconds + LANES * tuning().residue_prime)
    seconds = runs * cost.count_seconds
    memory = 8.0 * runs * LANES
    if context.edges:  # a count first, then as many runs with all edges
        seconds += runs * cost.edges_seconds
        memory += 16.0 * block.n_edges
    abreast = int(context.budget.memory / cost.memory)
    abreast = max(1, min(tuning().residue_abreast, runs, abreast))
    counts = _ResidueCounts(replace(problem, block=whole), bits, cost, abreast, context.effort)
    return Option(
        method=method,
        why=why,
        seconds=seconds,
        memory=memory + abreast * cost.memory,
        solve=partial(_solution, block, counts, shift),
        longest=cost.edges_seconds if context.edges else cost.count_seconds,
    )


@dataclass(frozen=True, eq=False)
class _ResidueCounts:
    """The count of a problem and the counts through its edges, below 2^bits."""

    problem: ResidueProblem
    bits: float
    cost: ResidueCost
    abreast: int
    effort: Execution

    @cached_property
    def _counts(self) -> dict[int, int]:
        """The count modulo as many primes as determine it; primes that fail are left out."""
        residues: dict[int, int] = {}
        begin, runs = 0, _runs_for(self.bits)
        while runs:
            end = begin + runs * LANES
            primes = primes_below(_BITS, end)[begin:]
            words = np.concatenate(list(self._run(_count_residues, primes, edges=False)))
            pairs = zip(primes, words.tolist(), strict=True)
            residues.update((prime, word) for prime, word in pairs if word != _VANISHED)
            begin, runs = end, _runs_for(self.bits - _USED_BITS * len(residues))
        return residues

    @cached_property
    def total(self) -> int:
        primes, residues = list(self._counts), list(self._counts.values())
        return chinese(residues, primes, _native.chinese_coefficients(primes))

    @cached_property
    def _enough(self) -> tuple[int, ...]:
        """The first primes that did not fail and whose product is above twice the count."""
        primes = tuple(self._counts)
        number = math.ceil((self.total.bit_length() + 1) / _USED_BITS)
        return primes[:number]

    def probabilities(self) -> Floats:
        """Of every edge, to 2^-50.

        The matchings through it, over the product M of the primes, are a sum of fractions modulo
        1; times M over the count, at most 2^51, that is the probability.
        """
        primes = self._enough
        coefficients = _native.chinese_coefficients(primes)
        # Every fraction is rounded down; one unit a prime makes up for it, so none falls below 0.
        low = np.full(len(self.problem.block.indices), len(primes), dtype=np.uint64)
        high = np.zeros_like(low)
        for words in self._run(_fractions, primes, coefficients, edges=True):
            low += words[0::2]
            high += words[1::2] + (low < words[0::2])
        spared = _runs_for(self.bits) - math.ceil(len(primes) / LANES)
        self.effort.advance(max(0, spared) * self.cost.edges_seconds)
        fractions = (high + low * 2.0**-64) * 2.0**-64
        return np.minimum(fractions * (product(primes) / self.total), 1.0)

    def minors(self) -> Objects:
        """Of every edge, exactly."""
        primes = self._enough
        words = np.concatenate(
            [part.reshape(-1, LANES) for part in self._run(_through_residues, primes, edges=True)]
        )
        # A block of rows a run, a row an edge: side by side they are the residues of each edge.
        runs = words.reshape(-1, len(self.problem.block.indices), LANES)
        table = runs.swapaxes(0, 1).reshape(len(self.problem.block.indices), -1)[:, : len(primes)]
        modulus = product(primes)
        parts = [
            modulus // p * c
            for p, c in zip(primes, _native.chinese_coefficients(primes), strict=True)
        ]
        through = [sum(map(int.__mul__, row, parts)) % modulus for row in table.tolist()]
        if self.problem.block.weights is not None:
            weights = self.problem.block.weights.tolist()
            through = [value // weight for value, weight in zip(through, weights, strict=True)]
        values: Objects = np.empty(len(through), dtype=object)
        values[:] = through
        return values

    def _run(
        self,
        call: Callable[..., Words],
        primes: Sequence[int],
        coefficients: Sequence[int] | None = None,
        *,
        edges: bool,
    ) -> Iterator[Words]:
        """Results of chunks of runs, for all primes and some of them again in the end."""
        shared: Shared[ResidueProblem] = Shared(*self.problem.recipe, value=self.problem)
        more = -len(primes) % LANES
        lanes = np.array([*primes, *[primes[0]] * more], dtype=np.uint64)
        tables = [lanes]
        if coefficients is not None:
            tables.append(np.array([*coefficients, *[0] * more], dtype=np.uint64))
        runs = len(lanes) // LANES
        seconds = runs * (self.cost.edges_seconds if edges else self.cost.count_seconds)
        cuts = borders(runs, seconds)
        calls = (
            partial(call, shared, *(table[a * LANES : b * LANES] for table in tables))
            for a, b in pairwise(cuts)
        )
        each = [seconds * (b - a) / runs for a, b in pairwise(cuts)]
        return self.effort.chunks(calls, each=each, number=len(each), abreast=self.abreast)


def _solution(block: Block, counts: _ResidueCounts, shift: int) -> Solution:
    """``shift``: how often weights in doubles were doubled in all to make them whole."""

    def posteriors() -> Probabilities:
        return counts.probabilities(), 2.0**-50

    if block.exact:
        return Solution(
            block,
            total=lambda: counts.total,
            minors=counts.minors,
            posteriors=posteriors,
        )

    def real() -> tuple[float, float]:
        log, moved = log_of(counts.total), shift * LN2
        return log - moved, 2.0**-51 * (abs(log) + abs(moved) + 1.0)

    return Solution(block, real=real, posteriors=posteriors)


def _runs_for(bits: float) -> int:
    """Runs whose primes multiply to more than 2^bits."""
    return max(0, math.ceil(bits / _USED_BITS / LANES))


def _whole(block: Block) -> tuple[Block, int]:
    """The block with every row times the power of two that makes its weights whole, exactly."""
    assert block.weights is not None
    ratios = [weight.as_integer_ratio() for weight in block.weights.tolist()]
    whole: Objects = np.empty(block.n_edges, dtype=object)
    shift = 0
    for begin, end in pairwise(block.indptr.tolist()):
        common = max(below for _, below in ratios[begin:end])
        values = [above * (common // below) for above, below in ratios[begin:end]]
        shared = math.gcd(*values)
        shared &= -shared  # a power of two
        whole[begin:end] = [value // shared for value in values]
        shift += common.bit_length() - shared.bit_length()
    return replace(block, weights=whole), shift


def _residues(weights: npt.NDArray[Any] | None, primes: Sequence[int]) -> Floats | None:
    """Of whole numbers, a lane a prime; None if all are 1."""
    if weights is None:
        return None
    columns = [(weights % prime).astype(np.float64) for prime in primes]
    return np.stack(columns, axis=1).reshape(-1)


# Chunks: the problem is shared, the primes are theirs.


def _by_runs(primes: Words) -> list[tuple[int, ...]]:
    return [tuple(run) for run in primes.reshape(-1, LANES).tolist()]


def _count_residues(problem: Shared[ResidueProblem], primes: Words) -> Words:
    counts = []
    for run in _by_runs(primes):
        result = problem.get().run(run, edges=False)
        counts.append(np.where(result.found, np.array(result.count).astype(np.uint64), _VANISHED))
    return np.concatenate(counts)


def _fractions(problem: Shared[ResidueProblem], primes: Words, coefficients: Words) -> Words:
    sums = np.zeros(2 * len(problem.get().block.indices), dtype=np.uint64)
    for run, factors in zip(_by_runs(primes), _by_runs(coefficients), strict=True):
        through = problem.get().run(run, edges=True).through()
        for lane, (prime, factor) in enumerate(zip(run, factors, strict=True)):
            _native.add_fractions(sums, through, lane, prime=prime, coefficient=factor)
    return sums


def _through_residues(problem: Shared[ResidueProblem], primes: Words) -> Words:
    runs = [problem.get().run(run, edges=True).through() for run in _by_runs(primes)]
    return np.concatenate(runs).astype(np.uint64)
