"""What rounds say, in a few sentences: the half-life first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from anonymatch.base.numbers import amount, in_bits, percent, plural
from anonymatch.base.text import name, several
from anonymatch.disclosure.decay import OPEN_GAP, rounds_until

if TYPE_CHECKING:
    from anonymatch.base.interval import Interval
    from anonymatch.disclosure.logs.round_log import RoundLog
    from anonymatch.disclosure.result import Disclosure

__all__ = [
    "bits_about",
    "calibration_in_words",
    "half_life_ends",
    "half_life_in_words",
    "half_right",
    "left_in_words",
    "log_size",
    "method_words",
    "rounds_seen",
    "rounds_text",
    "verdict",
]

_SAME_SHARE = 0.01  # of guesses: a difference that the log score decides


def verdict(disclosure: Disclosure) -> str:
    """How long anonymity lasts, and what is left of it, in words.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy")])
    >>> print(verdict(am.rounds(log)))
    One round alone says nothing about how long anonymity lasts: record more. After one round, \
1 bit about the receiver of a message is left.
    """
    return f"{half_life_in_words(disclosure)} {left_in_words(disclosure)}".rstrip()


def rounds_seen(disclosure: Disclosure) -> int:
    """How many rounds the end of the curve stands for: of the log, of the target, of a pseudonym.

    Methods without a curve have seen the log.
    """
    return disclosure.curve[-1].rounds if disclosure.curve else disclosure.log.n_rounds


def half_right(disclosure: Disclosure) -> Interval | None:
    """Rounds until half of the best guesses are right; None if they never are, or nobody knows."""
    known = [(one.rounds, 1.0 - one.right.value) for one in disclosure.curve if one.right]
    if len(known) < 2:
        return None
    return rounds_until([at for at, _ in known], [wrong for _, wrong in known], 0.5)


def half_life_in_words(disclosure: Disclosure) -> str:
    """How long anonymity lasts, in one sentence."""
    curve = disclosure.curve
    if not curve or curve[0].bits is None:
        return f"{disclosure.method} tells who writes to whom, and no half-life; gibbs does."
    first = curve[0].bits
    about, rounds = bits_about(disclosure), _rounds(disclosure)
    seen, half = rounds_seen(disclosure), disclosure.half_life_between
    if first.value <= 0.0:
        return f"Nobody hides: one round alone leaves 0 bits about {about}."
    if half is None and seen <= 1:
        return "One round alone says nothing about how long anonymity lasts: record more."
    if half is None and len(curve) == 1:
        return f"All {seen} {rounds[1]} were looked at together, which tells no half-life."
    gone = f"half of the {_bits(first)} about {about} is gone by then"
    if half is None or half.low >= seen:
        return (
            f"The half-life is more than {several(seen, *rounds)}: after all of them more than "
            f"half of the {_bits(first)} about {about} is left, and this log is too short to "
            "show when it goes."
        )
    if math.isinf(half.high) and (disclosure.gap or 0.0) > OPEN_GAP:
        return (
            f"The half-life is at least {several(math.floor(half.low), *rounds)}. Chains from "
            "opposite starts disagree too much to say more."
        )
    if math.isinf(half.high):
        return (
            f"The half-life is at least {several(math.floor(half.low), *rounds)}. After all "
            f"{seen} {rounds[1]} about half of the {_bits(first)} about {about} is left, so this "
            "log is too short to say more."
        )
    if half.low <= 0.0:
        return f"The half-life is at most {several(round(half.high), *rounds)}: {gone}."
    if disclosure.half_life is None:
        return (
            f"The half-life is {half_life_ends(half)} {rounds[1]}: {gone}. Chains from opposite "
            "starts disagree, so there is no single number yet."
        )
    between = f" ({half_life_ends(half)})" if half.high - half.low >= 0.5 else ""
    other = disclosure.half_life_error
    error = "" if other is None or other < 0.5 else _OTHER_STRETCHES.format(round(other))
    return f"The half-life is about {round(half.value):,} {rounds[1]}{between}: {gone}.{error}"


_OTHER_STRETCHES = " Stretches of this log differ: the standard error is {:,}."


def half_life_ends(half: Interval) -> str:
    """Between which rounds a half-life is."""
    if math.isinf(half.high):
        return f"at least {rounds_text(half.low)}"
    return f"between {rounds_text(half.low)} and {rounds_text(half.high)}"


def calibration_in_words(disclosure: Disclosure) -> str:
    """What the known links say of the attacker's probabilities, after all rounds; or nothing.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy")])
    >>> calibration_in_words(am.rounds(log))
    ''
    """
    right, believed = disclosure.right, disclosure.believed
    if right is None or believed is None:
        return ""
    line = (
        f"Against the known links: {percent(right)} of best guesses are right, the model predicted "
        f"{percent(believed)}."
    )
    score, bits = disclosure.log_score, disclosure.bits
    if score is not None and bits is not None:
        line += f" The log score is {amount(round(score, 2))} bits, predicted {_short(bits)}."
    if disclosure.calibrated:
        return f"{line} The probabilities are well calibrated."
    if disclosure.calibrated is None:
        return f"{line} Chains disagree, so this says nothing about calibration yet."
    under = right > believed
    if score is not None and bits is not None and abs(right - believed) < _SAME_SHARE:
        under = score < bits
    verb, more = ("underestimates", "more") if under else ("overestimates", "less")
    return f"{line} The model {verb} the attacker, who knows {more} than it predicts."


def _short(bits: float) -> str:
    return amount(round(bits, 2))


def left_in_words(disclosure: Disclosure) -> str:
    """Bits after all rounds, and the share of guesses that are right."""
    seen, curve = rounds_seen(disclosure), disclosure.curve
    first, last = (curve[0].bits, curve[-1].bits) if curve else (None, None)
    parts = []
    if first is not None and last is not None and first.value > 0.0:
        alone = len(curve) == 1  # no sentence before has said what bits are about
        about = f" about {bits_about(disclosure)}" if alone else ""
        if (disclosure.end_gap or 0.0) > OPEN_GAP:
            low, high = amount(float(f"{last.low:.3g}")), amount(float(f"{last.high:.3g}"))
            parts.append(f"between {low} and {high} bits{about} are left")
        else:
            parts.append(f"{_bits(last)}{about} {_are(last)} left")
    if disclosure.right is not None:
        parts.append(f"the attacker's best guess is right for {percent(disclosure.right)}")
        half = half_right(disclosure)
        if half is not None and half.low > 0.0:
            rounds = several(round(half.value), "round")
            parts[-1] += f" of messages (for half of them after about {rounds})"
        else:
            parts[-1] += " of messages"
    if not parts:
        return ""
    one, more = _rounds(disclosure)
    rounds = f"all {seen} {more}" if seen > 1 else f"one {one}"
    return f"After {rounds}, {' and '.join(parts)}."


def bits_about(disclosure: Disclosure) -> str:
    """Of what the bits are."""
    if disclosure.method == "presence":
        return "the owner of a pseudonym"
    if disclosure.target is None:
        return "the receiver of a message"
    target = name(disclosure.target)
    if disclosure.method == "exact":
        return f"the friends of {target}"
    return f"the receiver of a message of {target}"


def _rounds(disclosure: Disclosure) -> tuple[str, str]:
    """One and several rounds, as the curve counts them."""
    if disclosure.method == "presence":
        return "round in which it acts", "rounds in which it acts"
    if disclosure.method == "exact":
        target = name(disclosure.target)
        return f"round of {target}", f"rounds of {target}"
    return "round", "rounds"


def _bits(interval: Interval) -> str:
    return in_bits(amount(float(f"{interval.value:.3g}")))


def _are(interval: Interval) -> str:
    return "is" if _bits(interval) == "1 bit" else "are"


def rounds_text(rounds: float) -> str:
    """A number of rounds in as many digits as one between two that were looked at is worth.

    Examples
    --------
    >>> [rounds_text(value) for value in (3.582, 20.39, 1234.5)]
    ['3.6', '20', '1,234']
    """
    return f"{rounds:,.0f}" if rounds >= 10 else f"{rounds:.2g}"


class MethodWords(NamedTuple):
    """What the numbers of a method are about."""

    title: str
    each: str  # a point of the curve
    pair: str  # a probability
    guess: str  # a right guess


def method_words(disclosure: Disclosure) -> MethodWords:
    """Return what the numbers of the method are about."""
    if disclosure.method == "presence":
        return MethodWords(
            "who owns which pseudonym",
            "rounds in which a pseudonym acts",
            "the probability that the user owns the pseudonym",
            "the likeliest owner is the owner",
        )
    if disclosure.method == "exact":
        target = name(disclosure.target)
        return MethodWords(
            f"the friends of {target}",
            f"rounds in which {target} sends",
            "the probability that the behaviour is a friend",
            "one of the likeliest is a friend",
        )
    return MethodWords(
        "who writes to whom",
        "rounds",
        "the probability that a message of the user goes to that behaviour",
        "the likeliest receiver of a message is the receiver",
    )


def log_size(log: RoundLog) -> str:
    """Return the size of a log in words."""
    sizes = (
        (log.n_rounds, "round"),
        (len(log.users), "user"),
        (len(log.behaviours), "behaviour"),
        (log.n_messages, "message"),
    )
    return ", ".join(plural(number, noun) for number, noun in sizes)
