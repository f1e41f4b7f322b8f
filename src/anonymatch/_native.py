"""The only importer of the compiled kernels: checks going in, Python values coming out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

try:
    from anonymatch import _kernels  # noqa: TID251
except ImportError as error:  # pragma: no cover
    error.add_note("the compiled kernels are missing: run 'make install' or 'pip install .'")
    raise

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.object_]

version: str = _kernels.version
SMALL_BEHAVIOURS: int = _kernels.small_behaviours


class Rows(Protocol):
    """Sorted rows (CSR) of a bipartite graph, as graphs and blocks carry them."""

    @property
    def n_users(self) -> int: ...
    @property
    def n_behaviours(self) -> int: ...
    @property
    def indptr(self) -> Ints: ...
    @property
    def indices(self) -> Ints: ...
    @property
    def weights(self) -> npt.NDArray[Any] | None: ...


# ---- from names to numbers, from loose edges to rows


LARGEST = 2**31 - 1  # numbers of users, behaviours and edges are int32


def group_hashes(hashes: Words) -> tuple[Ints, Ints]:
    """The group of each hash, and where each group appears first, in this order."""
    if len(hashes) > LARGEST:
        raise ValueError(f"{len(hashes)} hashes; at most {LARGEST} are grouped")
    codes, first = _kernels.group_hashes(np.ascontiguousarray(hashes, dtype=np.uint64))
    return codes, first


def sort_edges(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, int], *, ordered: bool
) -> tuple[Ints, Ints, Ints | None, int]:
    """Where each row begins, the columns, on request the order, and the number of duplicates.

    Equal edges stay in, in the order in which they came. No order: the edges came sorted.
    """
    if max(*shape, len(rows)) > LARGEST or len(rows) != len(columns):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns in a graph of {shape}")
    for ends, size in zip((rows, columns), shape, strict=True):
        if len(ends) and (int(ends.min()) < 0 or int(ends.max()) >= size):
            raise ValueError("an edge lies outside its graph")
    indptr, indices, order, duplicates = _kernels.sort_edges(
        _ints(rows), _ints(columns), shape[0], ordered
    )
    return indptr, indices, order if len(order) else None, int(duplicates)


# ---- inclusion-exclusion over signs


Isa = _kernels.Isa
best_isa: Isa = _kernels.best_isa()
SIGNS_LARGEST: int = _kernels.signs_largest
# Row multiplications a second of one core, measured; only predictions depend on them.
SIGNS_RATE: float = {"avx512": 25e9, "avx2": 8e9, "portable": 1e9}[best_isa.name]


def signs_units(n: int) -> int:
    """Units of work of the whole sum for a matrix of side ``n``."""
    return int(_kernels.signs_units(n))


def signs_factors(matrix: npt.NDArray[np.uint32]) -> int:
    """Factors that products of rows are kept in: 2 to 4, or 0 if they do not fit vector lanes."""
    return int(_kernels.signs_factors(_words32(matrix), len(matrix)))


def signs_count(
    matrix: npt.NDArray[np.uint32], words: int, first: int, last: int, isa: Isa = best_isa
) -> Integers:
    """What the units [first, last) add to 2^(n-1) times the count, modulo 2^(64 words)."""
    _check_units(matrix, words, first, last, isa)
    flat = _words32(matrix)
    return _joined(_kernels.signs_count(flat, len(matrix), first, last, isa, words), words)


def signs_minors(
    matrix: npt.NDArray[np.uint32], words: int, first: int, last: int, isa: Isa = best_isa
) -> Integers:
    """The same for 2^(n-1) times every first minor: n * n entries, row by row."""
    _check_units(matrix, words, first, last, isa)
    flat = _words32(matrix)
    return _joined(_kernels.signs_minors(flat, len(matrix), first, last, isa, words), words)


def signs_count_double(matrix: Floats, first: int, last: int, isa: Isa = best_isa) -> Floats:
    """What the units add over doubles: the sum, and the sum of the sizes of its terms."""
    n = len(matrix)
    return np.array(_kernels.signs_count_double(_flat(matrix), n, first, last, isa))


def signs_minors_double(matrix: Floats, first: int, last: int, isa: Isa = best_isa) -> Floats:
    """What the units add to 2^(n-1) times every first minor: n * n sums, row by row."""
    return _kernels.signs_minors_double(_flat(matrix), len(matrix), first, last, isa)


def signs_minors_errors(matrix: Floats, ranges: int) -> Floats:
    """A bound on the errors of each row's minors, if all units are done in that many ranges."""
    return _kernels.signs_minors_errors(_flat(matrix), len(matrix), ranges)


def signs_rounding(n: int) -> float:
    """Bound on the error of a sum over doubles, relative to the sum of the sizes of its terms."""
    return float(_kernels.signs_rounding(n))


def _flat(matrix: npt.NDArray[Any]) -> Floats:
    return np.ascontiguousarray(matrix, dtype=np.float64).reshape(-1)


def _check_units(
    matrix: npt.NDArray[np.uint32], words: int, first: int, last: int, isa: Isa
) -> None:
    n = len(matrix)
    if matrix.shape != (n, n) or not 1 <= n <= SIGNS_LARGEST or not 1 <= words <= 3:
        raise ValueError(f"signs take up to {SIGNS_LARGEST} users and 3 words")
    if not 0 <= first <= last <= signs_units(n) or int(matrix.sum(axis=1).max()) >= 2**31:
        raise ValueError("range of units or sums of rows out of bounds")
    if not _kernels.supported(isa):
        raise ValueError(f"this processor has no {isa.name}")


def _joined(words: Words, number: int) -> Integers:
    """Integers from ``number`` words each, least significant first."""
    columns = words.reshape(-1, number).astype(object)
    joined: Integers = columns[:, 0]
    for k in range(1, number):
        joined = joined + columns[:, k] * 2 ** (64 * k)
    return joined


# ---- Ryser's sum with cut-offs


RYSER_LARGEST: int = _kernels.ryser_largest


def ryser_units(n: int) -> int:
    """Units of work of the whole sum for a matrix of side ``n``; their sizes differ."""
    return int(_kernels.ryser_units(n))


def ryser_order(matrix: npt.NDArray[np.uint32], *, moves: int, seed: int) -> Ints:
    """An order of the columns in which few prefixes survive."""
    order: Ints = _kernels.ryser_order(_words32(matrix), len(matrix), moves, seed)
    return order


def ryser_prefixes(
    matrix: npt.NDArray[np.uint32], order: Ints, *, descents: int, seed: int
) -> float:
    """Unbiased estimate of the number of prefixes that survive."""
    n = len(matrix)
    return float(_kernels.ryser_prefixes(_words32(matrix), n, _ints(order), descents, seed))


def ryser_count(
    matrix: npt.NDArray[np.uint32], order: Ints, words: int, first: int, last: int
) -> int:
    """What the units [first, last) add to the count, modulo 2^(64 words)."""
    n = len(matrix)
    sums = _kernels.ryser_count(_words32(matrix), n, _ints(order), first, last, words)
    return int(_joined(sums, words)[0])


def _words32(matrix: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(matrix, dtype=np.uint32).reshape(-1)


# ---- the subset programme


SubsetProgramme = _kernels.SubsetProgramme
SUBSET_LIMIT: int = _kernels.subset_limit


def subset_fits(matrix: Floats) -> bool:
    """Whether the weights lie close enough together for plain doubles."""
    return bool(_kernels.subset_fits(len(matrix), _flat(matrix)))


def subset_bytes(n: int, *, posteriors: bool) -> float:
    """Bytes that the programme allocates."""
    return float(_kernels.subset_bytes(n, posteriors))


def subset_programme(matrix: Floats, *, posteriors: bool) -> SubsetProgramme:
    """A job over doubles for a square matrix."""
    return SubsetProgramme(len(matrix), _flat(matrix), posteriors)


# ---- many small blocks


def small_counts(blocks: SmallBlocks, *, minors: bool) -> tuple[Words, Words]:
    """Totals of small blocks stored one after another, and on request all edge minors."""
    totals, through = _kernels.small_counts(*_small(blocks), minors)
    return totals, through


def small_counts_weighted(blocks: SmallBlocks, *, minors: bool) -> tuple[Floats, Floats]:
    """The same over positive weights."""
    assert blocks.weights is not None
    totals, through = _kernels.small_counts_weighted(
        *_small(blocks), _floats(blocks.weights), minors
    )
    return totals, through


class SmallBlocks(Protocol):
    """Small blocks one after another (cpp/include/anonymatch/small.hpp)."""

    @property
    def user_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def behaviour_counts(self) -> npt.NDArray[Any]: ...
    @property
    def row_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def indices(self) -> npt.NDArray[Any]: ...
    @property
    def weights(self) -> Floats | None: ...


def _small(blocks: SmallBlocks) -> tuple[Ints, Ints, Ints, Ints]:
    return (
        _ints(blocks.user_offsets),
        _ints(blocks.behaviour_counts),
        _ints(blocks.row_offsets),
        _ints(blocks.indices),
    )


# ---- doubly stochastic scaling


def doubly_stochastic(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    row_targets: Floats,
    n_columns: int,
    *,
    sweeps: int,
    tolerance: float,
) -> tuple[bool, Floats, Floats]:
    """Whether it is balanced, one share an edge, and the log of each column's factor."""
    return _kernels.doubly_stochastic(
        _ints(indptr),
        _ints(indices),
        _floats(weights),
        _floats(row_targets),
        n_columns,
        sweeps,
        tolerance,
    )


# ---- the frontier programme


FrontierPlan = _kernels.FrontierPlan
FRONTIER_WIDTH_LIMIT: int = _kernels.frontier_width_limit
FrontierPart = _kernels.FrontierPart
Frontier = _kernels.Frontier


def plan_frontier(block: Rows, effort: float) -> FrontierPlan:
    """The best order of users found, and its price."""
    return _kernels.plan_frontier(
        block.n_behaviours, _ints(block.indptr), _ints(block.indices), effort
    )


def split_frontier(
    block: Rows,
    order: Ints,
    *,
    peak_states: float,
    longest: float,
    worth: float,
    stretch: float,
    parts: int,
    stop: bytearray | None = None,
) -> list[FrontierPart]:
    """Runs that together do the same as one (cpp/include/anonymatch/frontier_split.hpp).

    Fewer of them once it shall stop.
    """
    found: list[FrontierPart] = _kernels.split_frontier(
        block.n_behaviours,
        _ints(block.indptr),
        _ints(block.indices),
        _ints(order),
        peak_states,
        longest,
        worth,
        stretch,
        parts,
        _stop(stop),
    )
    return found


def frontier_words(
    block: Rows,
    order: Ints,
    primes: Sequence[int],
    weights: Words | None,
    *,
    edges: bool,
    memory: float,
) -> Frontier:
    """A job over integers, as residues modulo 2^64 and the primes."""
    return Frontier.words(
        block.n_behaviours,
        _ints(block.indptr),
        _ints(block.indices),
        _ints(order),
        np.asarray(primes, dtype=np.uint64),
        np.empty(0, np.uint64) if weights is None else weights,
        edges,
        _bytes(memory),
    )


def frontier_reals(block: Rows, order: Ints, *, edges: bool, memory: float) -> Frontier:
    """A job over doubles."""
    return Frontier.reals(
        block.n_behaviours,
        _ints(block.indptr),
        _ints(block.indices),
        _ints(order),
        _weights(block),
        edges,
        _bytes(memory),
    )


def frontier_sampler(block: Rows, order: Ints, *, size: int, seed: int, memory: float) -> Frontier:
    """A job that draws matchings."""
    return Frontier.sampler(
        block.n_behaviours,
        _ints(block.indptr),
        _ints(block.indices),
        _ints(order),
        _weights(block),
        size,
        seed,
        _bytes(memory),
    )


# ---- bands: rows that are intervals with rising ends


BandPlan = _kernels.BandPlan
BandTask = _kernels.BandTask
Band = _kernels.Band


def plan_band(starts: Ints, stops: Ints) -> BandPlan:
    """The price of a band."""
    return _kernels.plan_band(_ints(starts), _ints(stops))


def band(
    starts: Ints,
    stops: Ints,
    weights: Floats | None,
    task: BandTask,
    *,
    memory: float = 0.0,
    rows: tuple[int, int] | None = None,
    digits: Words | None = None,
    before: Floats | None = None,
    after: Floats | None = None,
) -> Band:
    """A job on a band; weights by row, of integers None.

    ``rows``: only those from one up to another, with the layers at their ends that it needs.
    """
    return Band.make(
        _ints(starts),
        _ints(stops),
        _floats_or_none(weights),
        task,
        _bytes(memory),
        *(rows or (0, len(starts))),
        np.empty(0, np.uint64) if digits is None else digits,
        _floats_or_none(before),
        _floats_or_none(after),
    )


def meet_words(before: Words, after: Words, states: int, digit_bits: int) -> int:
    """The count, from the digits of ways before and ways after a layer."""
    words = _kernels.meet_words(before, after, states, digit_bits).astype("<u8")
    return int.from_bytes(words.tobytes(), "little")


def meet_real(before: Floats, after: Floats) -> float:
    """The same over doubles, with at most 5200 roundings."""
    return _kernels.meet_real(before, after)


# ---- estimates: belief propagation, guided draws, the worm chain


class Bethe(NamedTuple):
    """What belief propagation found on a square block."""

    log: float  # of the Bethe permanent, or of its fractional kin
    marginals: Floats  # one an edge; rows sum to one
    residual: float  # the largest difference between the two messages of an edge
    sweeps: int


class GuidedDraws(NamedTuple):
    """Draws [first, last): weights, and sums over W = exp(log weight - scale) with marginals m."""

    log_weights: Floats  # their mean, out of logs, is unbiased; -inf in dead ends
    scale: float
    first: Floats  # sum of W m, one an edge (empty unless asked for)
    square: Floats  # sum of W^2 m
    second: Floats  # sum of W^2 m^2
    matchings: Ints  # draws by users, -1 in dead ends (empty unless asked for)


class WormSamples(NamedTuple):
    """A stretch of the chain."""

    matchings: Ints  # samples by users (empty unless asked for)
    counts: npt.NDArray[np.uint32]  # one an edge: samples that use it
    last: Ints  # the last sample, to go on from
    steps: int


def bethe(
    block: Rows,
    *,
    kappa: float = 1.0,
    tolerance: float = 1e-9,
    sweeps: int = 1000,
    damping: float = 0.0,
    stop: bytearray | None = None,
) -> Bethe:
    """Belief propagation on an irreducible square block; fewer sweeps once it shall stop."""
    _check_messages(block, kappa)
    if not 0 <= damping < 1:
        raise ValueError(f"damping {damping} is not in [0, 1)")
    return Bethe(*_kernels.bethe(*_square(block), kappa, tolerance, sweeps, damping, _stop(stop)))


class Guided:
    """Unbiased draws of an irreducible square block, each a function of seed and number alone."""

    def __init__(
        self,
        block: Rows,
        *,
        kappa: float = 1.0,
        children: int = 2,
        tolerance: float = 0.05,
        refreshes: int = 1000,
        stop: bytearray | None = None,
    ) -> None:
        _check_messages(block, kappa)
        if children < 1 or not tolerance >= 0:
            raise ValueError(f"{children} children or tolerance {tolerance} out of bounds")
        self._users = block.n_users
        self._job = _kernels.Guided(
            *_square(block), kappa, children, tolerance, refreshes, _stop(stop)
        )

    def draws(
        self,
        seed: int,
        first: int,
        last: int,
        *,
        marginals: bool = False,
        matchings: bool = False,
        stop: bytearray | None = None,
    ) -> GuidedDraws:
        """The draws [first, last), in any order and on any thread; the first of them if stopped."""
        drawn = GuidedDraws(*self._job.draws(seed, first, last, marginals, matchings, _stop(stop)))
        return drawn._replace(matchings=drawn.matchings.reshape(-1, self._users))

    def log_weights_of(
        self, matchings: npt.NDArray[Any], *, stop: bytearray | None = None
    ) -> Floats:
        """The log weight of the plain draw (one child) that chooses each matching."""
        return self._job.log_weights_of(_ints(matchings).reshape(-1), _stop(stop))


class Worm:
    """A chain over matchings of an irreducible square block, in proportion to their weights."""

    def __init__(self, block: Rows) -> None:
        self._users = block.n_users
        self._job = _kernels.Worm(*_square(block))

    def run(
        self,
        matching: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        samples: int,
        worms: int,
        matchings: bool = False,
        stop: bytearray | None = None,
        most_steps: int = 2**64 - 1,
    ) -> WormSamples:
        """Samples ``worms`` apart from a perfect matching; the first of them if stopped.

        It gives up after about ``most_steps``: worms of some blocks hardly ever close.
        """
        arguments = seed, index, samples, worms, matchings, _stop(stop), most_steps
        return self._samples(self._job.run(_ints(matching), *arguments))

    def run_together(
        self,
        starts: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        samples: int,
        worms: int,
        matchings: bool = False,
        stop: bytearray | None = None,
        most_steps: int = 2**64 - 1,
    ) -> list[WormSamples]:
        """What :meth:`run` gives from each start, with the indices from ``index`` on.

        Chains take turns at their steps: in large blocks their waits for memory overlap. They give
        up when one has made about ``most_steps``.
        """
        arguments = seed, index, samples, worms, matchings, _stop(stop), most_steps
        lanes = self._job.run_together(_ints(starts).reshape(-1), *arguments)
        return [self._samples(lane) for lane in lanes]

    def _samples(self, parts: tuple[Any, ...]) -> WormSamples:
        found = WormSamples(*parts)
        return found._replace(matchings=found.matchings.reshape(-1, self._users))


def _stop(byte: bytearray | None) -> npt.NDArray[np.uint8]:
    """A view of the caller's byte, which may change at any time; without one, nothing stops."""
    return np.frombuffer(bytearray() if byte is None else byte, dtype=np.uint8)


def _square(block: Rows) -> tuple[Ints, Ints, Floats]:
    if block.n_users != block.n_behaviours or block.n_users < 1:
        raise ValueError(f"{block.n_users} users and {block.n_behaviours} behaviours: not square")
    return _ints(block.indptr), _ints(block.indices), _weights(block)


def _check_messages(block: Rows, kappa: float) -> None:
    if not 0 <= kappa <= 1:
        raise ValueError(f"kappa {kappa} is not in [0, 1]")
    if block.weights is not None and len(block.weights) != len(block.indices):
        raise ValueError(f"{len(block.weights)} weights for {len(block.indices)} edges")


# ---- nested bounds


Nesting = _kernels.Nesting
NESTING_GROUP: int = _kernels.nesting_group


def nesting(block: Rows, log_weights: Floats | None) -> Nesting:
    """A nested bound on the count of a square block, and the draws that it holds."""
    if block.n_users != block.n_behaviours:
        raise ValueError("nested bounds take square blocks")
    logs = _floats_or_none(log_weights)
    return Nesting(block.n_users, _ints(block.indptr), _ints(block.indices), logs)


# ---- the reduction to blocks


Structure = _kernels.Structure
BlockTable = _kernels.BlockTable


def find_structure(graph: Rows) -> Structure:
    """A maximum matching, and the blocks or Hall's witness."""
    return _kernels.find_structure(graph.n_behaviours, _ints(graph.indptr), _ints(graph.indices))


def block_table(graph: Rows, found: Structure, weights: Floats | None) -> BlockTable:
    """The edges of all blocks in local numbers, and classes of blocks with equal weights."""
    if found.n_matched != graph.n_users or len(found.user_of_behaviour) != graph.n_behaviours:
        raise ValueError("the structure is of another graph, or leaves users unmatched")
    if weights is not None and len(weights) != len(graph.indices):
        raise ValueError(f"{len(weights)} weights for {len(graph.indices)} edges")
    return _kernels.block_table(
        graph.n_behaviours,
        _ints(graph.indptr),
        _ints(graph.indices),
        found,
        _floats_or_none(weights),
    )


# ---- checks


def _ints(array: npt.NDArray[Any]) -> Ints:
    return np.ascontiguousarray(array, dtype=np.int32)


def _floats(array: npt.NDArray[Any]) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float64)


def _weights(block: Rows) -> Floats:
    return _floats_or_none(block.weights)


def _floats_or_none(array: npt.NDArray[Any] | None) -> Floats:
    return np.empty(0) if array is None else _floats(array)


def _bytes(memory: float) -> int:
    return int(min(memory, 2.0**62))


# ---- one mix without memory, of which only the ends are seen


Counted = _kernels.Counted
HiddenFigures = _kernels.HiddenFigures


def hidden_chain(
    arrival: npt.NDArray[np.bool_],
    move: Floats,
    stay: Floats,
    gap: Floats,
    *,
    end_inside: int = -1,
    counted: Counted = Counted.nothing,
    number: int = 0,
    cut: float = 1e-30,
    together: int = 32,
    tolerance: float = 1e-12,
    guessing_every: int = 0,
    rows: bool = True,
    pairs: bool = False,
    groups: npt.NDArray[Any] | None = None,
) -> _kernels.HiddenChain:
    """The chain over how many messages are inside, before its first step."""
    if max(len(arrival), number) > LARGEST:
        raise ValueError(f"{len(arrival)} events; at most {LARGEST} are taken")
    if not number >= 0 or together < 1:
        raise ValueError(f"a number of {number}, {together} departures together")
    if groups is not None and len(groups) and int(groups.min()) < 0:
        raise ValueError("a group below 0")
    return _kernels.HiddenChain(
        np.ascontiguousarray(arrival, dtype=np.uint8),
        np.ascontiguousarray(move, dtype=np.float64),
        np.ascontiguousarray(stay, dtype=np.float64),
        np.ascontiguousarray(gap, dtype=np.float64),
        end_inside=end_inside,
        counted=counted,
        number=number,
        cut=cut,
        together=together,
        tolerance=tolerance,
        guessing_every=guessing_every,
        rows=rows,
        pairs=pairs,
        groups=_ints(np.empty(0) if groups is None else groups),
    )


# ---- mixes of several stages, of which only the ends are seen


PHASES_LARGEST: int = _kernels.phases_largest
PhaseSampler = _kernels.PhaseSampler


class PhaseRows(NamedTuple):
    """Figures of messages, with standard errors where paths were drawn."""

    departed: Floats
    inside: Floats
    collision: Floats
    shannon: Floats
    shannon_error: Floats
    shannon_all: Floats
    shannon_all_error: Floats
    largest: Floats
    largest_error: Floats
    guess: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.int64]
    guessing: Floats
    group_shannon: Floats  # empty without groups, as the next two
    group_largest: Floats
    group_guess: npt.NDArray[np.int64]
    pair_logs: Floats  # by batch, sums over messages: P(i = j) times the log density of the delay
    inside_logs: Floats
    unseen_logs: Floats
    error: float


class PhaseChain:
    """The filter over counts by stage, before its first step. Times are in mean stages.

    ``counted``: 0 for nothing, 1 for cover, 2 for losses, which must be ``count_end`` in the end.
    ``total_end``: messages inside in the end; -1 for any number. ``early``: weight of each
    departure to be of a message that was inside before, if some were.
    """

    def __init__(
        self,
        arrivals: Floats,
        departures: Floats,
        end: float,
        *,
        hops: int,
        loss: float,
        cover: float,
        counted: int = 0,
        count_end: int = 0,
        total_end: int = -1,
        epsilon: float = 1e-16,
        early: Floats | None = None,
        groups: npt.NDArray[Any] | None = None,
    ) -> None:
        if max(len(arrivals), len(departures)) > LARGEST // 4 or counted not in (0, 1, 2):
            raise ValueError(f"{len(arrivals)} arrivals, {len(departures)} departures, {counted}")
        self._size = len(departures)
        self.kernel = _kernels.PhaseChain(
            _floats(arrivals),
            _floats(departures),
            end,
            hops,
            loss,
            cover,
            counted,
            count_end,
            total_end,
            epsilon,
            _floats(np.zeros(0) if early is None else early),
        )
        if groups is not None:
            self.kernel.group(_ints(groups))

    def rows(
        self,
        first: int,
        last: int,
        *,
        tolerance: float,
        inside_logs: Floats,
        unseen_logs: Floats,
        pairs: bool = False,
        stop: bytearray | None = None,
    ) -> tuple[PhaseRows, Floats]:
        """Exact figures of some messages, and on request their rows of probabilities."""
        size = (last - first) * self._size if pairs else 0
        rows, dense = self.kernel.rows(
            first, last, tolerance, inside_logs, unseen_logs, size, _stop(stop)
        )
        return PhaseRows(*rows), dense.reshape(last - first, -1) if pairs else dense

    def sampler(
        self, batches: int, each: int, seed: int, *, inside_logs: Floats, unseen_logs: Floats
    ) -> PhaseSampler:
        """Paths to be drawn, in batches of equal size."""
        return PhaseSampler(self.kernel, batches, each, seed, inside_logs, unseen_logs)
