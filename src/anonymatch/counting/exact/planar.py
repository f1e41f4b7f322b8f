"""Planar blocks: graphs that can be drawn in the plane without crossings, as boards can.

With Kasteleyn's signs the count is a determinant, taken modulo many primes by sparse elimination
(cpp/kernels/planar/planar.hpp): polynomial, and exact.
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
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.solution import Floats, Objects, Probabilities, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounds.bregman import block_bits
from anonymatch.counting.integers import chinese, primes_below, product
from anonymatch.counting.results import log_of
from anonymatch.running import Execution, Shared, borders, byte_of_work, check_work

__all__ = ["offer"]

Words = npt.NDArray[np.uint64]

_LANES = _native.PLANAR_LANES
_BITS = _native.PLANAR_PRIME_BITS
_USED_BITS = _BITS - 0.001  # of every prime: there are enough so close to 2^49
_VANISHED = np.uint64(2**64 - 1)  # in place of a count modulo a prime for which a pivot vanished
_LN2 = math.log(2.0)


def offer(block: Block, context: Context, best: float) -> Option | None:
    """By determinants; None unless the block is square and planar."""
    if block.optional or block.n_edges > max(4 * block.n_users - 4, 1):
        return None
    if tuning().planar_planning * block.n_edges > best / 10:
        return None
    whole, shift = (block, 0) if block.exact else _whole(block)
    problem = PlanarProblem(block.n_users, block.indptr, block.indices, whole.weights)
    if not problem.planar:
        return None
    bits = block_bits(whole) + 1.0  # twice the count stays below the product of primes
    if not math.isfinite(bits):
        return None
    cost = _Cost(problem, bits, edges=context.edges)
    abreast = max(1, min(tuning().planar_abreast, int(context.budget.memory / cost.run_memory)))
    determinant = _Determinant(problem, bits, abreast, context.effort)
    return Option(
        method="planar",
        why=f"a plane drawing, at most {several(problem.plan.width, 'neighbour')} in elimination",
        seconds=cost.seconds,
        memory=cost.run_memory * min(abreast, cost.runs) + cost.result_memory,
        solve=partial(_solution, block, determinant, shift),
        longest=cost.run_seconds,
    )


@dataclass(frozen=True, eq=False)
class PlanarProblem:
    """A square block with whole weights or none, and how it is eliminated."""

    n_users: int
    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[Any] | None

    @property
    def n_behaviours(self) -> int:
        return self.n_users

    @cached_property
    def _plan(self) -> _native.PlanarPlan | None:
        return _native.plan_planar(self, byte_of_work())

    @property
    def planar(self) -> bool:
        return self._plan is not None

    @property
    def plan(self) -> _native.PlanarPlan:
        assert self._plan is not None
        return self._plan

    def run(self, primes: Sequence[int], *, edges: bool) -> _native.PlanarResidues:
        """One elimination, for a prime a lane."""
        weights = None if self.weights is None else _residues(self.weights, primes)
        result = _native.run_planar(self.plan, primes, weights, edges=edges, cancel=byte_of_work())
        check_work()
        return result


class _Cost:
    """Predicted: of all eliminations for a block whose count stays below 2^bits."""

    def __init__(self, problem: PlanarProblem, bits: float, *, edges: bool) -> None:
        plan, n_edges = problem.plan, len(problem.indices)
        self.runs = _runs_for(bits)
        steps = plan.work * tuning().planar_step + problem.n_users * tuning().planar_pivot
        if problem.weights is not None:
            steps += n_edges * _LANES * tuning().planar_residue
        self.run_seconds = steps
        self.seconds = self.runs * steps + (self.runs * _LANES) * tuning().planar_prime
        self.run_memory = float(plan.run_bytes(edges))
        self.result_memory = 8.0 * self.runs * _LANES
        if edges:  # a count first, then as many eliminations with selected inverses
            self.run_seconds = steps + tuning().planar_inverse * plan.work * tuning().planar_step
            self.run_seconds += n_edges * _LANES * tuning().planar_fraction
            self.seconds += self.runs * self.run_seconds
            self.result_memory += 16.0 * n_edges


@dataclass(frozen=True, eq=False)
class _Determinant:
    """The count of a problem and the counts through its edges, below 2^bits."""

    problem: PlanarProblem
    bits: float
    abreast: int
    effort: Execution

    @cached_property
    def _counts(self) -> dict[int, int]:
        """The count modulo as many primes as determine it; primes that fail are left out."""
        residues: dict[int, int] = {}
        begin, runs = 0, _runs_for(self.bits)
        while runs:
            end = begin + runs * _LANES
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
        low = np.full(len(self.problem.indices), len(primes), dtype=np.uint64)
        high = np.zeros_like(low)
        for words in self._run(_fractions, primes, coefficients, edges=True):
            low += words[0::2]
            high += words[1::2] + (low < words[0::2])
        fractions = (high + low * 2.0**-64) * 2.0**-64
        return np.minimum(fractions * (product(primes) / self.total), 1.0)

    def minors(self) -> Objects:
        """Of every edge, exactly."""
        primes = self._enough
        words = np.concatenate(
            [part.reshape(-1, _LANES) for part in self._run(_through_residues, primes, edges=True)]
        )
        # A block of rows a run, a row an edge: side by side they are the residues of each edge.
        runs = words.reshape(-1, len(self.problem.indices), _LANES)
        table = runs.swapaxes(0, 1).reshape(len(self.problem.indices), -1)[:, : len(primes)]
        modulus = product(primes)
        parts = [
            modulus // p * c
            for p, c in zip(primes, _native.chinese_coefficients(primes), strict=True)
        ]
        through = [sum(map(int.__mul__, row, parts)) % modulus for row in table.tolist()]
        if self.problem.weights is not None:
            weights = self.problem.weights.tolist()
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
        """Results of chunks of eliminations, for all primes and some of them again in the end."""
        p = self.problem
        shared = Shared(PlanarProblem, p.n_users, p.indptr, p.indices, p.weights, value=p)
        more = -len(primes) % _LANES
        lanes = np.array([*primes, *[primes[0]] * more], dtype=np.uint64)
        tables = [lanes]
        if coefficients is not None:
            tables.append(np.array([*coefficients, *[0] * more], dtype=np.uint64))
        runs = len(lanes) // _LANES
        seconds = runs * _Cost(p, self.bits, edges=edges).run_seconds
        cuts = borders(runs, seconds)
        calls = (
            partial(call, shared, *(table[a * _LANES : b * _LANES] for table in tables))
            for a, b in pairwise(cuts)
        )
        each = [seconds * (b - a) / runs for a, b in pairwise(cuts)]
        return self.effort.chunks(calls, each=each, number=len(each), abreast=self.abreast)


def _solution(block: Block, determinant: _Determinant, shift: int) -> Solution:
    """``shift``: how often weights in doubles were doubled in all to make them whole."""

    def posteriors() -> Probabilities:
        return determinant.probabilities(), 2.0**-50

    if block.exact:
        return Solution(
            block,
            total=lambda: determinant.total,
            minors=determinant.minors,
            posteriors=posteriors,
        )

    def real() -> tuple[float, float]:
        log, moved = log_of(determinant.total), shift * _LN2
        return log - moved, 2.0**-51 * (abs(log) + abs(moved) + 1.0)

    return Solution(block, real=real, posteriors=posteriors)


def _runs_for(bits: float) -> int:
    """Eliminations whose primes multiply to more than 2^bits."""
    return max(0, math.ceil(bits / _USED_BITS / _LANES))


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


def _residues(weights: npt.NDArray[Any], primes: Sequence[int]) -> Floats:
    """Of whole numbers, a lane a prime."""
    return np.stack([(weights % prime).astype(np.float64) for prime in primes], axis=1).reshape(-1)


# Chunks: the problem is shared, the primes are theirs.


def _by_runs(primes: Words) -> list[tuple[int, ...]]:
    return [tuple(run) for run in primes.reshape(-1, _LANES).tolist()]


def _count_residues(problem: Shared[PlanarProblem], primes: Words) -> Words:
    counts = []
    for run in _by_runs(primes):
        result = problem.get().run(run, edges=False)
        counts.append(np.where(result.found, np.array(result.count).astype(np.uint64), _VANISHED))
    return np.concatenate(counts)


def _fractions(problem: Shared[PlanarProblem], primes: Words, coefficients: Words) -> Words:
    sums = np.zeros(2 * len(problem.get().indices), dtype=np.uint64)
    for run, factors in zip(_by_runs(primes), _by_runs(coefficients), strict=True):
        through = problem.get().run(run, edges=True).through()
        for lane, (prime, factor) in enumerate(zip(run, factors, strict=True)):
            _native.add_fractions(sums, through, lane, prime=prime, coefficient=factor)
    return sums


def _through_residues(problem: Shared[PlanarProblem], primes: Words) -> Words:
    runs = [problem.get().run(run, edges=True).through() for run in _by_runs(primes)]
    return np.concatenate(runs).astype(np.uint64)
