"""rounds(): what an attacker learns from users who stay the same."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, Message, did_you_mean, quoted, several
from anonymatch.disclosure.decay import (
    OPEN_GAP,
    CurvePoint,
    Plan,
    gap_at,
    half_life,
    half_life_error,
    points_around,
)
from anonymatch.disclosure.drift import drift_note, drift_of
from anonymatch.disclosure.falls import falls_of
from anonymatch.disclosure.logs.round_files import read_rounds
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.logs.timed_rounds import rounds_of_messages
from anonymatch.disclosure.methods import one_target
from anonymatch.disclosure.methods.estimates import estimate
from anonymatch.disclosure.methods.gibbs import CHAINS, PIECES, Prior, costs_of
from anonymatch.disclosure.methods.posterior import (
    Believed,
    Look,
    Profiles,
    alone,
    first_round,
    share_of,
)
from anonymatch.disclosure.methods.presence import owners
from anonymatch.disclosure.result import DISAGREE, Disclosure
from anonymatch.mixes import Law, Messages, read_messages
from anonymatch.running import Budget, Execution, Progress

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
_RUNG = 3.0  # messages of a user after which the half-life is looked for
_FEWEST = 5  # stretches of time
_NO_HABITS = 1e9  # a prior so strong that a log changes nothing
_BYTES_AN_ENTRY = 220.0  # chains, their means and what is made of them, at their peak
_FIGURE_SECONDS = 3.5e-7  # an entry, for what is made of chains
_T_VALUES = (3.18, 2.45, 2.26, 2.18)  # of 95 % intervals, by stretches of four chains each


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
        messages = log.messages()
        entries = float(messages.entries()[-1])
        memory = _BYTES_AN_ENTRY * entries
        if not self.budget.allows(0.0, memory):
            raise self.budget.refusal(
                f"chains over {several(all_rounds, 'round')}", 0.0, memory, "choose sda"
            )
        chain = costs_of(messages)
        plan = Plan(
            rounds=all_rounds,
            batch=len(log.sender) / all_rounds,
            sweep=CHAINS * chain.sweep / all_rounds,
            other=(CHAINS * (chain.start / 2 + PIECES * chain.piece) + entries * _FIGURE_SECONDS)
            / all_rounds,
            first=self.first_rung(),
            least=min(_FEWEST, all_rounds) if log.timed else 2,
            decay=self.decay,
            timed=self.decay and log.timed,
        )
        needed = plan.choose(self.seconds)
        if needed > self.seconds:
            raise self.budget.refusal(
                f"chains over {several(all_rounds, 'round')}", needed, memory, "choose sda"
            )
        self.execution.foresee(needed)
        looks: dict[int, Look] = {}
        first: dict[int, list[Believed]] = {}
        if self.decay and all_rounds > 1:
            first[1] = [self.alone(plan)]
        while True:
            curve = self.curve(first | {at: look.found for at, look in looks.items()})
            at = plan.next(curve, looks.keys())
            if at is not None:
                looks[at] = self.look(at, plan, prior)
                continue
            more = plan.unsure(curve, {one: look.sweeps for one, look in looks.items()})
            if more is None:
                break
            looks[more[0]].go_on(more[1])
        self.execution.settle()
        return self.disclosed(curve, first | {at: look.found for at, look in looks.items()}, looks)

    def disclosed(
        self,
        curve: tuple[CurvePoint, ...],
        seen: dict[int, list[Believed]],
        looks: dict[int, Look],
    ) -> Disclosure:
        """What all points that were looked at say together."""
        log, all_rounds = self.log, self.log.n_rounds
        [last] = seen[all_rounds]
        halves = max((one for one in seen if one > 1 and len(seen[one]) > 1), default=0)
        drift = self.drift(seen[halves]) if halves else None
        half = half_life(curve) if self.decay else None
        gap = gap_at(curve, half)
        end = curve[-1] if curve else None
        end_gap = 0.0 if end is None else end.gap
        around = points_around(curve, half)
        rests_on = {max(around, key=lambda at: around[at]), all_rounds}
        rhat = max(float(np.mean([one.rhat for one in seen[at]])) for at in rests_on)
        return self.result(
            remarks=(
                *drift_note(drift, halves),
                *_disagreement(gap if half is not None else 0.0, end_gap, rhat),
            ),
            bits=end.bits.value if end is not None and end.bits else None,
            curve=curve,
            drift=drift,
            half_life_between=half,
            half_life_error=half_life_error(curve, half),
            gap=gap if half is not None else None,
            end_gap=end_gap,
            users=falls_of(log, dict(sorted(seen.items())), self.target, agreed=gap <= OPEN_GAP),
            pairs=self.only(last.profiles),
            profiles_at=self.profiles_at(seen),
            calibrated=self.calibrated(end, last) if gap <= OPEN_GAP else None,
            log_score=self.log_score(last),
            rhat=rhat,
            sweeps=CHAINS * looks[all_rounds].sweeps,
            strength=last.strength,
        )

    def first_rung(self) -> int:
        """A power of 2 rounds, after which a user has sent about three messages."""
        log = self.log
        senders = max(len(np.unique(log.sender)), 1)
        return int(2 ** round(math.log2(max(_RUNG * senders * log.n_rounds / len(log.sender), 2))))

    def look(self, rounds: int, plan: Plan, prior: Prior) -> Look:
        """Return the posteriors of stretches of ``rounds`` rounds, each computed separately."""
        parts = [self.log.part(*ends) for ends in plan.windows(rounds)]
        look = Look(parts, prior, execution=self.execution, seed=(self.seed, rounds))
        look.go_on(plan.sweeps_of(rounds))
        return look

    def drift(self, parts: list[Believed]) -> float | None:
        """How far profiles of the first and the last of some stretches differ."""
        return drift_of(parts[0], parts[-1], len(self.log.users), len(self.log.behaviours))

    def alone(self, plan: Plan) -> Believed:
        """What each round says by itself, all of them taken together."""
        if not self.log.timed:
            return alone(self.log)
        # Nobody writes to anybody more than to others.
        look = Look([self.log], Prior(_NO_HABITS), execution=self.execution, seed=(self.seed, 1))
        look.go_on(plan.sweeps_of(self.log.n_rounds))
        return look.found[0]

    def mine(self, one: Believed) -> Bools:
        """Messages that count: all, or the target's."""
        return one.settled if self.target is None else one.settled & (one.sender == self.target)

    def curve(self, seen: dict[int, list[Believed]]) -> tuple[CurvePoint, ...]:
        points = []
        for rounds, parts in sorted(seen.items()):
            both = [(one, mask) for one in parts if (mask := self.mine(one)).any()]
            if not both:
                continue
            shares = np.array([float(mask.sum()) for _, mask in both])
            shares /= shares.sum()
            means = np.array([[part[m].mean() for part in one.bits[:3]] for one, m in both])
            value, ordered, disordered = (float(one) for one in shares @ means)
            without = np.array([one.bits.without[:, m].mean(axis=1) for one, m in both])
            width = _T_VALUES[min(len(both), len(_T_VALUES)) - 1] * _jackknifed(shares, without)
            judged = shares @ np.array([one.judged[:, m].mean(axis=1) for one, m in both])
            sure, apart = float(judged.mean()), float(np.ptp(judged))
            spread = None
            if len(both) > 1:
                spread = float(means[:, 0].std(ddof=1) / math.sqrt(len(both)))
            points.append(
                CurvePoint(
                    rounds,
                    Interval(
                        value,
                        max(min(value - width, ordered, disordered), 0.0),
                        max(value + width, ordered, disordered),
                    ),
                    self.right(parts),
                    Interval(sure, sure - apart, sure + apart).clipped(0.0, 1.0),
                    ordered,
                    disordered,
                    spread,
                )
            )
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

    def calibrated(self, point: CurvePoint | None, last: Believed) -> bool | None:
        """Whether guesses are right as often as is believed, and the log score is what bits are.

        Within three standard errors each. None if nobody knows the truth, or chains disagree.
        """
        if point is None or point.right is None or point.gap > OPEN_GAP:
            return None
        assert last.hits is not None
        assert last.known is not None
        assert last.log_scores is not None
        assert last.spreads is not None
        some = self.mine(last) & last.known
        sure = last.judged.mean(axis=0)[some]
        square, together = float((sure * (1 - sure)).sum()), 1.0
        if last.drawn is not None and square > 0.0:  # guesses go wrong together, as draws show
            together = max(float(last.drawn[:, some].sum(axis=1).var(ddof=1)) / square, 1.0)
        apart = float((last.hits[some] - sure).sum())
        surprise = float((last.log_scores - last.bits.all)[some].sum())
        return bool(
            abs(apart) <= 3 * math.sqrt(together * square) + 1e-9
            and abs(surprise) <= 3 * math.sqrt(together * float(last.spreads[some].sum())) + 1e-9
        )

    def log_score(self, last: Believed) -> float | None:
        """Mean of -log2 of the probability of the true receiver, where it is known."""
        if last.log_scores is None or last.known is None:
            return None
        some = self.mine(last) & last.known
        return float(last.log_scores[some].mean()) if some.any() else None

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


def _jackknifed(shares: Floats, without: Floats) -> float:
    """The standard error of a mean over stretches, by figures without one of their chains."""
    chains = without.shape[1]
    squares = (chains - 1) * without.var(axis=1)
    return math.sqrt(float((shares**2 * squares).sum()))


def _disagreement(gap: float, end_gap: float, rhat: float) -> tuple[Message, ...]:
    """A note on chains that have not come together."""
    where = [
        f"by {bits:.2g} bits {at}"
        for bits, at in ((gap, "around the half-life"), (end_gap, "after all rounds"))
        if bits > OPEN_GAP
    ]
    if where:
        text = f"chains from opposite starts differ {' and '.join(where)}: the truth is between"
    elif rhat > DISAGREE:
        text = f"chains agree on bits, and not yet on the log posterior (R-hat {rhat:.3g})"
    else:
        return ()
    return (Message(f"{text}; allow more with ", Argument("budget")),)
