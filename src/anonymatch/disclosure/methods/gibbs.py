"""Who writes to whom, by drawing whole matchings of all rounds from opposite starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import ProfileChain, RoundMessages
from anonymatch.base.arrays import Floats
from anonymatch.running import Cancelled, Execution, Shared, byte_of_work

__all__ = ["CHAINS", "PIECES", "ChainJob", "ChainRun", "Chains", "Costs", "Prior", "costs_of"]

Codes = npt.NDArray[np.int32]

CHAINS = 4
"""Chains of a stretch: those with even numbers begin ordered, the others disordered."""
PIECES = 4
"""Pieces of a stage of a few sweeps, about."""
_PIECES, _PIECE_SECONDS = 40, 2.0  # pieces of a stage at most; seconds of each
_SHORTEST = 12  # sweeps of a piece, or one piece
_DRAWS = 8  # matchings of each chain that are kept
_KEPT_MESSAGES = 200_000  # the longest of them
_GROUP = 7  # messages of runs that are drawn at once
_PASSES = 20  # of the mean field
_POWERS = (0.6, 0.7, 0.8, 0.9, 1.0)  # of weights, while a disordered start cools down
_HELD_STRENGTH = 2.0  # until half of the burn-in is over
_EVENNESS = 8.0
_SHARP, _BLUNT = 0.1, 1e3  # times the strength with which chains over runs begin
# Predicted seconds on one core of the machine of docs/benchmarks.md.
_EXCHANGE_SECONDS = 9e-9  # two messages, recorded
_ENTRY_SECONDS = 1.4e-9  # a weight
_FAR_ENTRY_SECONDS = 3.5e-9  # and one of a log that the cache does not hold
_CACHED = 5e5  # entries
_PIECE_ENTRY_SECONDS = 2.5e-8  # to number its pair, and to add up what was recorded
_MESSAGE_SECONDS = 2.5e-8  # its counts and the prior
_RECEIVER_SECONDS = 1.5e-8  # the base
_PASS_SECONDS = 1.45e-8  # an entry, in one pass of the mean field
_SET_SECONDS = 1.5e-9  # one column of one set of a group
_GROUP_ENTRY_SECONDS = 1.3e-8
_GROUP_MESSAGE_SECONDS = 1.6e-7


class Prior(NamedTuple):
    """Dirichlet's strength around an even base; without one, both are learnt."""

    strength: float | None = None


class ChainPart(NamedTuple):
    """What one stretch of a chain leaves behind."""

    matching: Codes
    trace: Floats
    strengths: Floats  # of the prior after each sweep
    evenness: float
    base: Floats
    base_sums: Floats
    sums: npt.NDArray[np.float32]


class ChainRun(NamedTuple):
    """What the chains over one stretch say, by the sweeps of the last stage."""

    entries: list[npt.NDArray[np.float32]]  # probability of each entry, by chain
    strengths: Floats  # of the prior, drawn
    bases: list[Floats]  # mean of each chain
    rhat: float
    draws: list[Codes]  # matchings at times, if they take little memory


class ChainJob(NamedTuple):
    """What chains run over."""

    messages: RoundMessages
    prior: Prior
    reach: int = 1  # of messages with runs
    start: Codes | None = None  # a matching of these; those of whole rounds start anywhere


class Costs(NamedTuple):
    """Predicted seconds of one chain: of a sweep that is recorded, of an ordered start, and of
    each piece that its sweeps are cut into.
    """

    sweep: float
    start: float
    piece: float


def costs_of(messages: RoundMessages) -> Costs:
    """Predict what one chain over these messages costs."""
    number, base = len(messages.sender), messages.receivers * _RECEIVER_SECONDS
    if messages.first is not None:
        sets = 1.5 * _GROUP * 2.0**_GROUP * _SET_SECONDS + _GROUP**2 * _GROUP_ENTRY_SECONDS
        piece = float(messages.entries()[-1]) * _PIECE_ENTRY_SECONDS
        return Costs(number * (sets / _GROUP + _GROUP_MESSAGE_SECONDS) + base, 0.0, piece)
    size = np.diff(messages.starts).astype(np.float64)
    entries = float((size**2).sum())
    turns = np.maximum(5.0, np.minimum(size / 3, np.maximum(20.0, size / 8)))
    weight = _ENTRY_SECONDS if entries <= _CACHED else _FAR_ENTRY_SECONDS
    sweep = float((size * turns).sum()) * _EXCHANGE_SECONDS + entries * weight
    return Costs(
        sweep + number * _MESSAGE_SECONDS + base,
        entries * _PASSES * _PASS_SECONDS,
        entries * _PIECE_ENTRY_SECONDS,
    )


class Chains:
    """Four chains over each of some stretches of a log, from opposite starts.

    Two chains begin ordered: at the best matching of every round by a mean field, whose log
    posterior is above the typical one. Two begin disordered: at random matchings, with weights to a
    power that rises to 1. Where a law says who may be whose, all begin at one matching; then a
    weak prior of profiles makes two of them ordered, and a strong one two disordered.
    """

    def __init__(self, jobs: Sequence[ChainJob], *, execution: Execution, seed: Sequence[int]):
        self._jobs, self._execution, self._seed = jobs, execution, tuple(seed)
        self._logs = [Shared(RoundMessages, *job.messages) for job in jobs]
        self._states: list[list[_State | None]] = [[None] * CHAINS for _ in jobs]
        self._stage = 0

    def stage(self, sweeps: int, *, draws: bool) -> list[ChainRun]:
        """Record ``sweeps`` further sweeps; the first stage discards half that number before.

        ``draws``: whether to keep some matchings.
        """
        burn = sweeps // 2 if self._stage == 0 else 0
        costs = [costs_of(job.messages) for job in self._jobs]
        longest = max(sweeps * cost.sweep for cost in costs)
        pieces = _pieces(burn, sweeps, longest, _DRAWS if draws else 1)
        each = [
            [
                cost.sweep * piece.sweeps
                + cost.piece
                + (cost.start if piece.begin and not chain % 2 else 0.0)
                for cost in costs
                for chain in range(CHAINS)
            ]
            for piece in pieces
        ]
        self._execution.expect(sum(map(sum, each)))
        totals = [[_Total(state) for state in states] for states in self._states]
        flat = [total for some in totals for total in some]
        calls = partial(self._calls, flat, pieces)
        for parts in self._execution.rounds(calls, each=each):
            for total, part in zip(flat, parts, strict=True):
                total.add(ChainPart(*part), draws=draws)  # recorded ones are plain tuples
        self._states = [[total.state for total in some] for some in totals]
        self._stage += 1
        return [_run(some, sweeps) for some in totals]

    def _calls(
        self, totals: Sequence[_Total], pieces: Sequence[_Piece], number: int
    ) -> list[Callable[[], ChainPart]]:
        """One piece of every chain, from where it is."""
        return [
            partial(
                _stretch,
                self._logs[k // CHAINS],
                self._jobs[k // CHAINS].prior,
                self._jobs[k // CHAINS].reach,
                self._jobs[k // CHAINS].start,
                total.state,
                pieces[number],
                k % CHAINS % 2 == 0,
                _seed(self._seed, self._stage, k, number),
            )
            for k, total in enumerate(totals)
        ]


class _State(NamedTuple):
    """Where a chain goes on."""

    matching: Codes
    strength: float
    evenness: float
    base: Floats


class _Piece(NamedTuple):
    """Sweeps of a chain that are one chunk of work."""

    sweeps: int
    begin: bool = False  # the first part of the burn-in, in which nothing is learnt
    recorded: bool = False


def _pieces(burn: int, sweeps: int, seconds: float, least: int) -> list[_Piece]:
    """The burn-in in two pieces, and recorded sweeps; ``seconds``: what the latter take."""
    pieces = []
    if burn:
        pieces = [_Piece(max(1, burn // 2), begin=True), _Piece(max(1, burn - burn // 2))]
    number = max(
        min(least, sweeps // _SHORTEST), min(_PIECES, math.ceil(seconds / _PIECE_SECONDS)), 1
    )
    ends = [sweeps * k // number for k in range(number + 1)]
    return pieces + [_Piece(b - a, recorded=True) for a, b in pairwise(ends)]


class _Total:
    """What the recorded pieces of one chain say together, and where it is."""

    def __init__(self, state: _State | None) -> None:
        self.state = state
        self.sums = np.empty(0, dtype=np.float32)
        self.trace, self.strengths = np.empty(0), np.empty(0)
        self.base: Floats = np.zeros(1)
        self.draws: list[Codes] = []

    def add(self, part: ChainPart, *, draws: bool) -> None:
        self.state = _State(part.matching, float(part.strengths[-1]), part.evenness, part.base)
        if not len(part.sums):
            return
        self.sums = self.sums + part.sums if len(self.sums) else part.sums
        self.base = self.base + part.base_sums
        if draws and len(part.matching) <= _KEPT_MESSAGES:
            self.draws.append(part.matching)
        self.trace = np.concatenate((self.trace, part.trace))
        self.strengths = np.concatenate((self.strengths, part.strengths))


def _run(totals: Sequence[_Total], sweeps: int) -> ChainRun:
    return ChainRun(
        entries=[total.sums / np.float32(sweeps) for total in totals],
        strengths=np.concatenate([total.strengths for total in totals]),
        bases=[total.base / sweeps for total in totals],
        rhat=max(
            _rhat([total.trace for total in totals]),
            _rhat([np.log(total.strengths) for total in totals]),
        ),
        draws=[draw for total in totals for draw in total.draws],
    )


def _stretch(
    shared: Shared[RoundMessages],
    prior: Prior,
    reach: int,
    first: Codes | None,
    state: _State | None,
    piece: _Piece,
    ordered: bool,
    seed: int,
) -> ChainPart:
    log = shared.get()
    strength = prior.strength or (_HELD_STRENGTH if state is None else state.strength)
    start = state.matching if state is not None else first
    whole = log.first is None
    if piece.begin and not whole:
        strength *= _SHARP if ordered else _BLUNT
    chain = ProfileChain(
        log,
        base=np.full(log.receivers, 1 / log.receivers) if state is None else state.base,
        strength=strength,
        evenness=_EVENNESS if state is None else state.evenness,
        start=_anywhere(log, seed) if start is None else start,
        reach=reach,
        seed=seed,
    )
    cancel = byte_of_work()
    done = not (piece.begin and whole and ordered) or chain.order(_PASSES, cancel=cancel)
    for sweeps, power in _cooling(piece, disordered=whole and not ordered):
        learn = prior.strength is None and not piece.begin
        done = done and chain.sweep(
            sweeps, learn=learn, record=piece.recorded, power=power, cancel=cancel
        )
    if not done:
        raise Cancelled
    strengths = chain.strengths()
    if piece.begin:  # what it was held at for a while is not what it is
        strengths = np.full_like(strengths, prior.strength or _HELD_STRENGTH)
    return ChainPart(
        chain.matching(),
        chain.trace(),
        strengths,
        chain.evenness,
        chain.base(),
        chain.base_sums(),
        chain.sums(),
    )


def _cooling(piece: _Piece, *, disordered: bool) -> list[tuple[int, float]]:
    """Sweeps of a piece, and the power of weights in them."""
    if not (piece.begin and disordered):
        return [(piece.sweeps, 1.0)]
    ends = [piece.sweeps * k // len(_POWERS) for k in range(len(_POWERS) + 1)]
    return [(b - a, power) for (a, b), power in zip(pairwise(ends), _POWERS, strict=True) if b > a]


def _anywhere(log: RoundMessages, seed: int) -> Codes:
    """A matching of whole rounds, drawn."""
    draw = np.random.default_rng(seed)
    rounds = np.repeat(np.arange(len(log.starts) - 1), np.diff(log.starts))
    return np.lexsort((draw.random(len(rounds)), rounds)).astype(np.int32)


def _seed(seed: Sequence[int], *stream: int) -> int:
    state = np.random.SeedSequence([*seed, *stream]).generate_state(1, np.uint64)
    return int(state[0] >> 1)


def _rhat(traces: Sequence[Floats]) -> float:
    """Gelman and Rubin's, of both halves of every chain: 1 if all say the same."""
    half = len(traces[0]) // 2
    parts = np.array([part for trace in traces for part in (trace[:half], trace[-half:])])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if between <= 1e-18:
        return 1.0
    if within <= 0.0:
        return math.inf
    return math.sqrt((half - 1) / half + between / within)
