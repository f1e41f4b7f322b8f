"""Who writes to whom, by drawing whole matchings of all rounds (blocked Gibbs)."""

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

__all__ = [
    "CHAINS",
    "FEWEST_SWEEPS",
    "SWEEPS",
    "ChainJob",
    "ChainRun",
    "Prior",
    "run_chains",
    "seconds_of_sweep",
]

Codes = npt.NDArray[np.int32]

CHAINS = 4
FEWEST_SWEEPS = 24
"""Of each chain, whatever they cost."""
SWEEPS = 360
"""Of each chain, the first third of which does not count; more if chains disagree."""
_CHEAP = 0.03  # seconds
_MOST_SWEEPS = 6000
_LONGER = 5  # times at most that chains which disagree go on, twice as long each time
_AGREED = 1.02  # Gelman and Rubin's R-hat from which on chains agree
_PIECES, _PIECE_SECONDS = 40, 2.0  # of a stretch: at most so many, about so long
_DRAWS = 8  # of each chain that are kept
_KEPT_MESSAGES = 200_000  # the longest of them
_WHOLE = 9  # messages of a round that are drawn at once
_GROUP = 7  # and of rounds that are larger
_SET_SECONDS = 1.5e-9  # one column of one set
_ENTRY_SECONDS = 1.3e-8  # a weight
_MESSAGE_SECONDS = 1.6e-7  # its counts, the exchange of pairs, and the prior
_START_STRENGTH = 2.0
_START_EVENNESS = 8.0


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
    """What all chains say."""

    entries: list[npt.NDArray[np.float32]]  # probability of each entry, by chain
    strengths: Floats  # of the prior, drawn
    bases: list[Floats]  # mean of each chain
    rhat: float
    sweeps: int  # of all chains, that counted
    seconds: float  # predicted, of all that was done
    draws: list[Codes]  # matchings at times, if they take little memory


def seconds_of_sweep(messages: RoundMessages) -> float:
    """Predicted seconds of one sweep of one chain that is recorded."""
    size = np.diff(messages.starts).astype(np.float64)
    if messages.first is not None:
        groups, group = len(messages.sender) / _GROUP, np.full(1, float(_GROUP))
        number = np.full(1, groups)
    else:
        whole = size <= _WHOLE
        group = np.where(whole, size, _GROUP)
        number = np.where(whole, 1.0, size / _GROUP)
    sets = 1.5 * group * 2.0**group * _SET_SECONDS + group**2 * _ENTRY_SECONDS
    return float((number * sets).sum() + len(messages.sender) * _MESSAGE_SECONDS)


class ChainJob(NamedTuple):
    """What chains run over."""

    messages: RoundMessages
    prior: Prior
    reach: int = 1  # of messages with runs
    start: Codes | None = None  # a matching of these; those of whole rounds start anywhere


def run_chains(
    job: ChainJob, *, seconds: float, execution: Execution, seed: Sequence[int]
) -> ChainRun:
    """Chains until they agree, or so many predicted seconds are spent."""
    each = seconds_of_sweep(job.messages)
    allowed = max(FEWEST_SWEEPS, int(seconds / (CHAINS * each)))
    given = allowed
    # More where they cost next to nothing.
    wanted = min(max(SWEEPS, int(_CHEAP / (CHAINS * each))), _MOST_SWEEPS)
    burn = min(wanted, allowed) // 3
    sweeps = min(wanted, allowed) - burn
    log = Shared(RoundMessages, *job.messages)
    even = np.full(job.messages.receivers, 1 / job.messages.receivers)
    states = [_State(job.start, _START_STRENGTH, _START_EVENNESS, even)] * CHAINS
    for stage in range(_LONGER + 1):
        pieces = _pieces(burn, each, recorded=False) + _pieces(sweeps, each, recorded=True)
        costs = [[each * piece.sweeps] * CHAINS for piece in pieces]
        execution.expect(sum(map(sum, costs)))
        totals = [_Total(state) for state in states]
        calls = partial(_calls, log, job, totals, pieces, (*seed, stage))
        for parts in execution.rounds(calls, each=costs):
            for total, part in zip(totals, parts, strict=True):
                total.add(ChainPart(*part))  # what was recorded comes back as a plain tuple
        states = [total.state for total in totals]
        allowed -= burn + sweeps
        rhat = max(
            _rhat([total.trace for total in totals]),
            _rhat([np.log(total.strengths) for total in totals]),
        )
        counted = sweeps
        if rhat <= _AGREED or allowed < 2 * sweeps:
            break
        burn, sweeps = 0, 2 * sweeps
    return ChainRun(
        entries=[total.sums / np.float32(counted) for total in totals],
        strengths=np.concatenate([total.strengths for total in totals]),
        bases=[total.base / counted for total in totals],
        rhat=rhat,
        sweeps=CHAINS * counted,
        seconds=CHAINS * each * (given - allowed),
        draws=[draw for total in totals for draw in total.draws],
    )


class _State(NamedTuple):
    """Where a chain goes on."""

    matching: Codes | None
    strength: float
    evenness: float
    base: Floats


class _Piece(NamedTuple):
    """Sweeps of a chain that are one chunk of work."""

    sweeps: int
    recorded: bool


def _pieces(sweeps: int, each: float, *, recorded: bool) -> list[_Piece]:
    if not sweeps:
        return []
    least = _DRAWS if recorded else 1
    number = min(sweeps, max(least, min(_PIECES, math.ceil(sweeps * each / _PIECE_SECONDS))))
    ends = [sweeps * k // number for k in range(number + 1)]
    return [_Piece(b - a, recorded) for a, b in pairwise(ends) if b > a]


class _Total:
    """What the recorded pieces of one chain say together, and where it is."""

    def __init__(self, state: _State) -> None:
        self.state = state
        self.sums = np.empty(0, dtype=np.float32)
        self.trace, self.strengths = np.empty(0), np.empty(0)
        self.base: Floats = np.zeros(1)
        self.draws: list[Codes] = []

    def add(self, part: ChainPart) -> None:
        self.state = _State(part.matching, float(part.strengths[-1]), part.evenness, part.base)
        if not len(part.sums):
            return
        self.sums = self.sums + part.sums if len(self.sums) else part.sums
        self.base = self.base + part.base_sums
        if len(part.matching) <= _KEPT_MESSAGES:
            self.draws.append(part.matching)
        self.trace = np.concatenate((self.trace, part.trace))
        self.strengths = np.concatenate((self.strengths, part.strengths))


def _calls(
    log: Shared[RoundMessages],
    job: ChainJob,
    totals: Sequence[_Total],
    pieces: Sequence[_Piece],
    seed: Sequence[int],
    number: int,
) -> list[Callable[[], ChainPart]]:
    """One piece of every chain, from where it is."""
    return [
        partial(
            _stretch,
            log,
            job.prior,
            job.reach,
            total.state,
            pieces[number],
            _seed(seed, chain, number),
        )
        for chain, total in enumerate(totals)
    ]


def _stretch(
    shared: Shared[RoundMessages],
    prior: Prior,
    reach: int,
    state: _State,
    piece: _Piece,
    seed: int,
) -> ChainPart:
    log = shared.get()
    start = _anywhere(log, seed) if state.matching is None else state.matching
    whole = log.first is None and int(np.diff(log.starts).max()) <= _WHOLE
    chain = ProfileChain(
        log,
        base=state.base,
        strength=state.strength if prior.strength is None else prior.strength,
        evenness=state.evenness,
        start=start,
        group=_WHOLE if whole else _GROUP,
        reach=reach,
        seed=seed,
    )
    learn = prior.strength is None
    if not chain.sweep(piece.sweeps, learn=learn, record=piece.recorded, cancel=byte_of_work()):
        raise Cancelled
    return ChainPart(
        chain.matching(),
        chain.trace(),
        chain.strengths(),
        chain.evenness,
        chain.base(),
        chain.base_sums(),
        chain.sums(),
    )


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
