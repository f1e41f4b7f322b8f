"""rounds(): what an attacker learns from users who stay the same."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message, did_you_mean, quoted, several
from anonymatch.disclosure import one_target
from anonymatch.disclosure.decay import CurvePoint, half_life, rounds_to_look_at, windows
from anonymatch.disclosure.drift import drift_note, drift_of
from anonymatch.disclosure.estimates import estimate
from anonymatch.disclosure.falls import falls_of
from anonymatch.disclosure.gibbs import CHAINS, FEWEST_SWEEPS, SWEEPS, Prior, seconds_of_sweep
from anonymatch.disclosure.links import LinkTable, figures_of
from anonymatch.disclosure.posterior import (
    Believed,
    Profiles,
    believe,
    exactly,
    first_round,
    share_of,
)
from anonymatch.disclosure.presence import owners
from anonymatch.disclosure.result import DISAGREE, Disclosure
from anonymatch.measures import Interval
from anonymatch.running import Budget, Execution, Progress
from anonymatch.sources import (
    Law,
    Messages,
    RoundLog,
    read_messages,
    read_rounds,
    rounds_of_messages,
)

if TYPE_CHECKING:
    pass

__all__ = ["METHODS", "rounds"]

METHODS = {
    "gibbs": "matchings of all rounds drawn together, with what is believed of each",
    "sda": "statistical disclosure: averages over the rounds of a user, less those of others",
    "lsda": "least squares",
    "lsda-nn": "least squares without negative profiles",
    "pmda": "the likeliest matching of every round",
    "nsda": "rounds scaled so that rows and columns sum to 1",
    "em": "the likeliest profiles, by exact posteriors of every round",
    "exact": "all sets of friends of one target that explain its rounds",
    "presence": "intersection: who was online whenever a pseudonym acted",
}
"""Attacks by name, each in one line."""

_DEFAULT_SECONDS = 60.0
_REFINED = 2  # more points around the half-life
_WINDOWS = 8  # stretches of a log that are looked at, of each length
_FEWEST = 5  # stretches of time
_NO_HABITS = 1e9  # a prior so strong that a log changes nothing
_ENTRIES = 2e8  # of all rounds, a message with each that it may be
_BYTES_AN_ENTRY = 220.0  # chains, their means and what is made of them, at their peak


def rounds(
    log: RoundLog | Messages | str | os.PathLike[str],
    *,
    method: str = "gibbs",
    target: Hashable | None = None,
    friends: int | None = None,
    behaviours: Sequence[Hashable] | None = None,
    law: Law | str | None = None,
    alpha: float | None = None,
    decay: bool = True,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Disclosure:
    """Who writes to whom, and after how many rounds that is known.

    Users write to the same few behaviours again and again. A round hides who wrote to whom within
    it; many rounds together do not.

    Parameters
    ----------
    log : RoundLog, Messages or path
        Who sent and who received in each round; or messages in and out, with a ``law``.
    method : str
        One of `gibbs` (default), `sda`, `lsda`, `lsda-nn`, `pmda`, `nsda`, `em`, `exact`,
        `presence`.
    target : optional
        Only this user; `exact` needs one.
    friends : int, optional
        How many behaviours the target writes to, for `exact`.
    behaviours : sequence, optional
        All that may be written to, also if nobody did; those of the log unless told.
    law : Law or str, optional
        How the mix holds messages back, for a message log: batches are rounds, and the rounds of
        mixes that hold back each message for itself are stretches of time.
    alpha : float, optional
        Of the Dirichlet prior of profiles, for `gibbs`; learnt from the log unless told.
    decay : bool
        Whether to look at the first rounds, too, as the curve needs; else only at all of them.
    seed : int
        Of chains; the same seed gives the same answer on any number of threads.
    budget : Budget or float, optional
        Seconds of one core that chains may take, 60 unless told, and bytes.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.

    Returns
    -------
    Disclosure

    Raises
    ------
    InputError
        The log or an argument is not usable; one line says why.
    BudgetError
        More memory would be needed than the budget allows.

    Examples
    --------
    >>> log = RoundLog.of([(k, "ab" if k % 2 else "ac", "xy" if k % 2 else "xz") for k in range(8)])
    >>> found = rounds(log)
    >>> found.profiles.row(0)[:2], found.decay["bits"][0]
    (('a', 'x'), 1.0)
    """
    if method not in METHODS:
        raise InputError(
            Argument("method"),
            f" {quoted(method)} is not known; use {', '.join(METHODS)}"
            f"{did_you_mean(method, METHODS)}",
        )
    if alpha is not None and method != "gibbs":
        raise InputError(Argument("alpha"), f": only gibbs takes it, not {method}; leave it out")
    given = _log(log, law, behaviours)
    work = _Work(
        given,
        method,
        _user(given, target),
        whole(seed, "seed"),
        Budget.of(budget),
        Execution(executor=executor, progress=progress),
        decay,
    )
    if method == "exact":
        return work.exact(friends)
    if friends is not None:
        raise InputError(Argument("friends"), f": only exact takes it, not {method}; leave it out")
    if method == "presence":
        return work.presence()
    if method == "gibbs":
        if alpha is None:
            return work.gibbs(Prior())
        strength = real(alpha, "alpha", low=1e-12, high=1e6) * len(given.behaviours)
        return work.gibbs(Prior(strength))
    return work.profiles()


def _log(
    log: RoundLog | Messages | str | os.PathLike[str],
    law: Law | str | None,
    behaviours: Sequence[Hashable] | None,
) -> RoundLog:
    if law is not None:
        if isinstance(log, RoundLog):
            raise InputError(Argument("law"), ": a log of rounds needs none; leave it out")
        messages = log if isinstance(log, Messages) else read_messages(log)
        given = rounds_of_messages(messages, law)
    elif isinstance(log, Messages):
        raise InputError("messages need a law to be rounds; give ", Argument("law"))
    else:
        given = log if isinstance(log, RoundLog) else read_rounds(log)
    return given if behaviours is None else given.with_behaviours(behaviours)


def _user(log: RoundLog, target: Hashable | None) -> int | None:
    if target is None:
        return None
    names = {name: at for at, name in enumerate(log.users)}
    if target not in names:
        near = did_you_mean(str(target), [str(name) for name in log.users])
        raise InputError(Argument("target"), f" {quoted(target)} sends in no round{near}")
    return names[target]


class _Work:
    """One call."""

    def __init__(
        self,
        log: RoundLog,
        method: str,
        target: int | None,
        seed: int,
        budget: Budget,
        execution: Execution,
        decay: bool,
    ) -> None:
        self.log, self.method, self.target, self.seed = log, method, target, seed
        self.budget, self.execution, self.decay = budget, execution, decay
        self.truth = log.true_receivers()
        self.stretches = _WINDOWS
        self.left, self.ahead = 0.0, 0.0  # seconds, and rounds to look at

    @property
    def seconds(self) -> float:
        """What estimates may take."""
        return self.budget.seconds if self.budget.chosen else _DEFAULT_SECONDS

    def result(self, *, remarks: tuple[str, ...] = (), **values: Any) -> Disclosure:
        if self.method != "presence":  # where more are online than act
            remarks = (*self.log.uneven(), *remarks)
        return Disclosure(
            method=self.method,
            log=self.log,
            seed=self.seed,
            target=None if self.target is None else self.log.users[self.target],
            notes=(*self.log.notes, *remarks),
            **values,
        )

    # Chains.

    def gibbs(self, prior: Prior) -> Disclosure:
        log, all_rounds = self.log, self.log.n_rounds
        memory = _BYTES_AN_ENTRY * float(log.messages().entries()[-1])
        if not self.budget.allows(0.0, memory):
            raise self.budget.refusal(
                f"chains over {several(all_rounds, 'round')}", 0.0, memory, "choose sda"
            )
        points = rounds_to_look_at(all_rounds) if self.decay else [all_rounds]
        if log.timed:  # fewer have too many that came before or leave after
            points = [one for one in points if one == 1 or one >= min(_FEWEST, all_rounds)]
        later = [one for one in points if one > 1 or all_rounds == 1]
        each = seconds_of_sweep(log.messages()) / all_rounds  # a sweep of a round, on average
        allowed = self.seconds
        if allowed == 0.0:
            raise self.budget.refusal("chains", each * all_rounds * SWEEPS * CHAINS, memory)
        while True:
            looked = sum(one * len(self.windows(one)) for one in later)
            cost = (looked + _REFINED * all_rounds * self.decay) * each
            if self.stretches == 1 or FEWEST_SWEEPS * CHAINS * cost <= allowed:
                break
            self.stretches //= 2
        self.execution.foresee(min(allowed, SWEEPS * CHAINS * cost))
        self.left, self.ahead = allowed, cost / each
        seen = {1: [self.alone()]} if 1 in points else {}
        for one in later:
            seen[one] = self.believe(one, prior)
        for _ in range(_REFINED if self.decay else 0):
            middle = _middle(self.curve(seen))
            if middle is None:
                break
            seen[middle] = self.believe(middle, prior)
        self.execution.settle()
        curve = self.curve(seen)
        [last] = seen[all_rounds]
        halves = max((one for one in seen if one > 1 and len(seen[one]) > 1), default=0)
        drift = self.drift(seen[halves]) if halves else None
        half = half_life(curve)
        rests_on = [last] + [
            one
            for rounds, parts in seen.items()
            for one in parts
            if half is None or half.low <= rounds <= half.high
        ]
        rhat = max(one.rhat for one in rests_on)
        return self.result(
            remarks=(*drift_note(drift, halves), *_disagreement(rhat)),
            bits=curve[-1].bits.value if curve and curve[-1].bits else None,
            curve=curve,
            drift=drift,
            half_life_between=half if self.decay else None,
            users=falls_of(log, dict(sorted(seen.items())), self.target),
            pairs=self.only(last.profiles),
            profiles_at=self.profiles_at(seen),
            calibrated=self.calibrated(curve[-1], last),
            rhat=rhat,
            sweeps=last.sweeps,
            strength=last.strength,
        )

    def drift(self, parts: list[Believed]) -> float | None:
        """How far profiles of the first and the last of some stretches differ."""
        return drift_of(parts[0], parts[-1], len(self.log.users), len(self.log.behaviours))

    def windows(self, rounds: int) -> list[tuple[int, int]]:
        return windows(self.log.n_rounds, rounds, self.stretches)

    def believe(self, rounds: int, prior: Prior) -> list[Believed]:
        """What stretches of so many rounds tell, each by itself.

        Each may take its share of the seconds that are left, by the rounds that are still ahead.
        """
        found = []
        for begin, end in self.windows(rounds):
            part = believe(
                self.log.part(begin, end),
                prior,
                seconds=self.left * rounds / max(self.ahead, rounds),
                execution=self.execution,
                seed=(self.seed, rounds, begin),
            )
            self.left -= part.seconds
            self.ahead -= rounds
            found.append(part)
        return found

    def alone(self) -> Believed:
        """What each round says by itself, all of them taken together."""
        if self.log.timed:  # nobody writes to anybody more than to others
            return self.believe(self.log.n_rounds, Prior(_NO_HABITS))[0]
        messages = self.log.messages()
        table = LinkTable(messages)
        sizes = np.diff(messages.entries())
        figures = figures_of(table, table.merged(np.repeat(1.0 / sizes, sizes)))
        return Believed.of(
            messages, figures, exactly(figures.bits), exactly(figures.believed), self.log
        )

    def mine(self, one: Believed) -> Bools:
        """Messages that count: all, or the target's."""
        return one.settled if self.target is None else one.settled & (one.sender == self.target)

    def curve(self, seen: dict[int, list[Believed]]) -> tuple[CurvePoint, ...]:
        points = []
        for rounds, parts in sorted(seen.items()):
            masks = [self.mine(one) for one in parts]
            if not any(mask.any() for mask in masks):
                continue
            both = list(zip(parts, masks, strict=True))
            bits = [(one.own_bits[m], one.bits, float(one.own_bits.mean())) for one, m in both]
            sure = [
                (one.own_believed[m], one.believed, float(one.own_believed.mean()))
                for one, m in both
            ]
            points.append(CurvePoint(rounds, _mean(bits), self.right(parts), _mean(sure)))
        return tuple(points)

    def right(self, parts: list[Believed]) -> Interval | None:
        """The share of guesses that are right, among messages whose receiver is known."""
        hits = [
            one.hits[self.mine(one) & one.known]
            for one in parts
            if one.hits is not None and one.known is not None
        ]
        right = np.concatenate(hits) if hits else np.empty(0, dtype=np.bool_)
        return share_of(right) if len(right) else None

    def calibrated(self, point: CurvePoint, last: Believed) -> bool | None:
        """Whether as many guesses are right as is believed, within two standard errors."""
        if point.right is None or last.hits is None or last.known is None:
            return None
        some = self.mine(last) & last.known
        sure, apart = last.own_believed[some], last.hits[some] - last.own_believed[some]
        square = float((sure * (1 - sure)).sum())
        if last.drawn is not None:  # guesses go wrong together, which draws show
            square = max(square, float(last.drawn[:, some].sum(axis=1).var(ddof=1)))
        error = math.sqrt(square)
        return bool(abs(apart.sum()) <= 2 * error + 1e-9)

    def only(self, pairs: Profiles | None) -> Profiles:
        assert pairs is not None
        if self.target is None:
            return pairs
        mine = pairs.user == self.target
        return Profiles._make(None if part is None else part[mine] for part in pairs)

    def profiles_at(self, seen: dict[int, list[Believed]]) -> dict[int, Profiles]:
        """Who writes to whom by the first rounds alone, for every number of them looked at."""
        found = {
            rounds: self.only(parts[0].profiles) for rounds, parts in seen.items() if rounds > 1
        }
        if 1 in seen:  # where there are more, it stands for each round by itself
            alone = seen[1][0].profiles if self.log.n_rounds == 1 else None
            found[1] = self.only(alone or first_round(self.log.part(0, 1).messages()))
        return dict(sorted(found.items()))

    # Methods that give profiles and no probabilities of links.

    def profiles(self) -> Disclosure:
        found = estimate(
            self.log,
            self.method,
            self.target,
            seconds=self.seconds,
            execution=self.execution,
            seed=self.seed,
        )
        last = CurvePoint(self.log.n_rounds, None, found.right, None)
        curve = () if found.right is None else (last,)
        return self.result(remarks=found.notes, pairs=found.profiles, curve=curve)

    # One target, and pseudonyms.

    def exact(self, friends: int | None) -> Disclosure:
        if self.target is None:
            raise InputError("exact needs a target; name a user with ", Argument("target"))
        if friends is None:
            raise InputError("exact needs a number of friends; give ", Argument("friends"))
        log, number = self.log, len(self.log.behaviours)
        number_in = np.repeat(np.arange(log.n_rounds), np.diff(log.sent))
        own, sent = np.unique(number_in[log.sender == self.target], return_counts=True)
        lost = np.maximum(np.diff(log.sent) - np.diff(log.received), 0)
        heard = [
            one_target.TargetRound(Counter(log.received_in(t).tolist()), k, int(lost[t]))
            for t, k in zip(own.tolist(), sent.tolist(), strict=True)
        ]
        found = one_target.friend_sets(heard, number, whole(friends, "friends", least=1))
        curve = []
        for seen in range(len(heard) + 1) if self.decay else ():
            part = one_target.friend_sets(heard[:seen], number, friends)
            top = float(np.sort(part.probability)[-friends:].mean())
            bits, sure = (Interval(value, value, value) for value in (part.bits, top))
            curve.append(CurvePoint(seen, bits, None, sure))
        some = np.flatnonzero(found.probability)
        names = log.behaviours
        return self.result(
            pairs=Profiles(
                np.full(len(some), self.target, dtype=np.int32),
                some.astype(np.int32),
                found.probability[some],
                np.zeros(len(some)),
            ),
            curve=tuple(curve),
            half_life_between=half_life(curve) if curve else None,
            bits=found.bits,
            friend_sets=tuple(
                (tuple(names[k] for k in members), weight) for members, weight in found.sets
            ),
            sets=found.number,
        )

    def presence(self) -> Disclosure:
        pairs, curve, nobodys = owners(self.log, self.target, self.budget)
        remarks = (f"nobody was online whenever {nobodys} acted; left out",) if nobodys else ()
        return self.result(
            pairs=pairs, curve=curve, half_life_between=half_life(curve), remarks=remarks
        )


def _mean(parts: Sequence[tuple[Floats, Interval, float]]) -> Interval:
    """The mean over messages of several stretches, with the errors of their chains.

    Of each: the messages' own values, what is known of the mean of all, and the plain mean of all.
    """
    values = np.concatenate([own for own, *_ in parts])
    shares = [len(own) / len(values) for own, *_ in parts]
    lean, square = 0.0, 0.0
    for share, (_, known, plain) in zip(shares, parts, strict=True):
        lean += share * (known.value - plain)
        square += (share * (known.high - known.value)) ** 2
    value, width = max(float(values.mean()) + lean, 0.0), math.sqrt(square)
    return Interval(value, max(value - width, 0.0), value + width)


def _disagreement(rhat: float) -> tuple[Message, ...]:
    """A note on chains that have not come together."""
    if rhat <= DISAGREE:
        return ()
    return (
        Message(
            f"chains disagree (R-hat {rhat:.3g}), so that less seems to be known than is; allow "
            "more with ",
            Argument("budget"),
        ),
    )


def _middle(curve: Sequence[CurvePoint]) -> int | None:
    """One more number of rounds to look at, between those around the half-life."""
    found = half_life(curve)
    if found is None or found.low < 1 or found.high - found.low < 2:
        return None
    middle = round(found.value)
    return middle if found.low < middle < found.high else None
