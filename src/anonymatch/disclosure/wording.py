"""What rounds say, in a few sentences: the half-life first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.numbers import amount, in_bits, percent
from anonymatch.base.text import name, several
from anonymatch.disclosure.decay import rounds_until

if TYPE_CHECKING:
    from anonymatch.disclosure.result import Disclosure
    from anonymatch.measures import Interval

__all__ = [
    "bits_about",
    "half_life_in_words",
    "half_right",
    "left_in_words",
    "rounds_seen",
    "rounds_text",
    "verdict",
]


def verdict(disclosure: Disclosure) -> str:
    """How long anonymity lasts, and what is left of it, in words.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.sources.RoundLog.of([(1, "ab", "xy")])
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
    if half is None:
        return (
            f"The half-life is more than {several(seen, *rounds)}: after all of them more than "
            f"half of the {_bits(first)} about {about} is left, and this log is too short to "
            "show when it goes."
        )
    if half.low <= 0.0:
        return (
            f"The half-life is at most {several(round(half.high), *rounds)}: half of the "
            f"{_bits(first)} about {about} is gone by then."
        )
    between = f" (between {amount(half.low)} and {amount(half.high)})"
    return (
        f"The half-life is about {round(half.value):,} {rounds[1]}"
        f"{between if half.high - half.low >= 1.5 else ''}: half of the {_bits(first)} about "
        f"{about} is gone by then."
    )


def left_in_words(disclosure: Disclosure) -> str:
    """Bits after all rounds, and the share of guesses that are right."""
    seen, curve = rounds_seen(disclosure), disclosure.curve
    first, last = (curve[0].bits, curve[-1].bits) if curve else (None, None)
    parts = []
    if first is not None and last is not None and first.value > 0.0:
        alone = len(curve) == 1  # no sentence before has said what bits are about
        about = f" about {bits_about(disclosure)}" if alone else ""
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
