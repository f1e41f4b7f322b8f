"""Losses, cover and what was inside at the beginning: rates that were used, and their origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from anonymatch.mixes import Channel, Conditions

__all__ = ["Origin", "UsedRate", "UsedRates", "used_rates"]

Origin = Literal["given", "flags", "fitted", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRate:
    """One of them.

    Attributes
    ----------
    rate : float or None
        None where a number is used instead.
    number : int or None
    origin : str
        "given" by the caller, by the log's "flags", "fitted" to the log, or "assumed": 0, as
        nothing speaks for more.
    error : float or None
        Standard error of one that was fitted by the evidence of the log.
    """

    rate: float | None
    number: int | None = None
    origin: Origin
    error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRates:
    """What the figures of a log are exact for.

    Attributes
    ----------
    loss : UsedRate
        Probability of a message to be lost.
    cover_rate : UsedRate
        Messages out a second that are nobody's.
    inside_at_start : UsedRate
        Messages inside when the log begins, on average.
    """

    loss: UsedRate
    cover_rate: UsedRate
    inside_at_start: UsedRate


def used_rates(
    channel: Channel, conditions: Conditions, fitted: Mapping[str, float | None]
) -> UsedRates:
    """The rates of a channel; ``fitted`` has the standard errors of those that were.

    Examples
    --------
    >>> conditions = Conditions(begin=0.0, end=9.0, lost=2)
    >>> rates = used_rates(Channel(begin=0.0, end=9.0, lost=2), conditions, {})
    >>> rates.loss
    UsedRate(rate=None, number=2, origin='given', error=None)
    >>> rates.cover_rate.origin
    'assumed'
    """

    def used(rate: str, number: str | None = None) -> UsedRate:
        exactly = None if number is None else getattr(channel, number)
        names = {rate, number} - {None}
        return UsedRate(
            rate=getattr(channel, rate) if exactly is None else None,
            number=exactly,
            origin=_origin({str(name) for name in names}, conditions, set(fitted)),
            error=fitted.get(rate),
        )

    return UsedRates(
        loss=used("loss", "lost"),
        cover_rate=used("cover_rate", "cover"),
        inside_at_start=used("inside_at_start"),
    )


def _origin(names: set[str], conditions: Conditions, fitted: set[str]) -> Origin:
    if names & conditions.flagged:
        return "flags"
    if names & (fitted | conditions.estimated):
        return "fitted"
    return "given" if any(getattr(conditions, name) is not None for name in names) else "assumed"
