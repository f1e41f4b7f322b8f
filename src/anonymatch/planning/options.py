"""PlanOptions: traffic, network, attacker and targets of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.options import above_zero, from_zero, numbers, option, share, whole

__all__ = ["PlanOptions"]

_TRAFFIC: dict[str, Any] = {"group": "Traffic"}
_MIXES: dict[str, Any] = {"group": "Mix network"}
_ATTACKER: dict[str, Any] = {"group": "Attacker"}
_TARGETS: dict[str, Any] = {"group": "Targets"}


def _worst(text: str) -> tuple[float, float]:
    part, _, among = text.partition("=")
    try:
        return share(part), float(among)
    except ValueError:
        raise InputError(f"{text!r}: give SHARE=NUMBER, such as 1%=20") from None


def _corrupt(text: str) -> int | tuple[int, ...]:
    try:
        mixes = tuple(int(value) for value in text.split(","))
    except ValueError:
        raise InputError(f"{text!r}: give a number, or one per layer such as 1,1,1") from None
    return mixes if len(mixes) > 1 else mixes[0]


def _burst(text: str) -> tuple[float, ...]:
    burst = numbers(text)
    if len(burst) != 2:
        raise InputError(f"{text!r}: give MEAN,GAP such as 5,0.2")
    return burst


def _laws(text: str) -> list[str]:
    """Read names with commas between them; a law with parameters has commas of its own.

    Examples
    --------
    >>> _laws("pool:2,4,exponential,timed:3")
    ['pool:2,4', 'exponential', 'timed:3']
    """
    laws: list[str] = []
    for piece in text.split(","):
        if laws and ":" in laws[-1] and _is_number(piece):
            laws[-1] += f",{piece}"
        else:
            laws.append(piece.strip())
    return laws


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Keywords of :func:`~anonymatch.planning.plan`; None means the plan's file or default.

    Attributes
    ----------
    preset : {"katzenpost", "nym", "loopix"}, optional
        Start from the configuration that this system ships.
    users, rate : int, float
        Users, and messages per user per second.
    hours : sequence of float, optional
        Relative rates by hour; the mean is ``rate``.
    burst : (mean, gap), optional
        Messages in bursts: mean number of messages, and seconds between them.
    arrivals : path, optional
        Log of messages with a column ``time``, instead of ``rate``.
    network : str, default "3x3"
        ``one``, ``cascade:L``, ``LxW`` such as ``3x3``, or ``free:L,MIXES``: routes that end after
        each hop with the probability 1/L. Widths are swept if several are given: ``3x1,3,10``, the
        range ``3x1-80``, or ``3`` for three layers of any width up to 80.
    link : float
        Delay of every link in seconds.
    laws : names
        Kinds of mixes to try, such as ``("exponential", "pool")``, or laws with their parameters,
        such as ``"pool:2,4"`` [default: all kinds].
    cover : numbers
        Cover packets per message, from end to end.
    corrupt_mixes : int, or one number per layer
        Number of corrupt mixes: anywhere, or in each layer.
    corrupt_users : float
        Share of all packets that the attacker sends and knows.
    active : {"none", "n-1"}
        With ``"n-1"`` the attacker may also send and block, and every setting reports the cost.
    worst : (share, among), optional
        The worst share of messages have an effective anonymity set of at least ``among``.
    mean_delay, delay_99 : float, optional
        Maximum delay in seconds, on average and for 99 % of messages.
    packets : float, optional
        Maximum number of packets per message.
    identified : float, optional
        Maximum share of messages that are identified.
    """

    preset: str | None = option(
        None,
        "Start from the shipped settings of katzenpost, nym or loopix.",
        metavar="NAME",
        **_TRAFFIC,
    )
    users: int | None = option(None, "Number of users.", metavar="N", read=whole(1), **_TRAFFIC)
    rate: float | None = option(
        None,
        "Messages per user per second.",
        metavar="R",
        unit="1/s",
        read=above_zero("a rate"),
        **_TRAFFIC,
    )
    hours: tuple[float, ...] | None = option(
        None, "Relative rates by hour.", metavar="R,R,...", read=numbers, **_TRAFFIC
    )
    burst: tuple[float, ...] | None = option(
        None,
        "Messages in bursts: mean number, and seconds between them.",
        metavar="MEAN,GAP",
        read=_burst,
        **_TRAFFIC,
    )
    arrivals: Path | None = option(
        None,
        "Log of messages with a column time (instead of --rate).",
        metavar="FILE",
        read=Path,
        **_TRAFFIC,
    )
    network: str | None = option(
        None,
        "one, cascade:LAYERS, LAYERSxWIDTH or free:HOPS,MIXES; 3x1,3,10 or 3x1-80 sweeps widths, 3 "
        "sweeps widths up to 80.",
        metavar="SHAPE",
        shown="3x3",
        **_MIXES,
    )
    link: float | None = option(
        None,
        "Delay of every link in seconds.",
        metavar="S",
        unit="s",
        read=from_zero("seconds"),
        **_MIXES,
    )
    laws: list[str] | str | None = option(
        None,
        "Mixes to try: exponential, pool, threshold, timed, timed-pool, binomial, or laws with "
        "parameters, such as pool:2,4.",
        metavar="NAMES",
        shown="all",
        read=_laws,
        names=("law",),
        **_MIXES,
    )
    cover: tuple[float, ...] | None = option(
        None,
        "Levels of cover packets per message, separated by commas.",
        metavar="C,C,...",
        shown="0,1,3",
        read=numbers,
        **_MIXES,
    )
    corrupt_mixes: int | tuple[int, ...] | None = option(
        None,
        "Number of corrupt mixes: anywhere, or one number per layer.",
        metavar="N|N,N,...",
        read=_corrupt,
        **_ATTACKER,
    )
    corrupt_users: float | None = option(
        None, "Share of packets that the attacker sends.", metavar="SHARE", read=share, **_ATTACKER
    )
    active: str | None = option(
        None, "none, or n-1: also report the cost of the n-1 attack.", metavar="KIND", **_ATTACKER
    )
    worst: tuple[float, float] | None = option(
        None,
        "The worst 1 % of messages have an effective anonymity set of at least N.",
        metavar="1%=N",
        read=_worst,
        **_TARGETS,
    )
    mean_delay: float | None = option(
        None,
        "Mean delay of at most S seconds.",
        metavar="S",
        unit="s",
        read=above_zero("a delay"),
        **_TARGETS,
    )
    delay_99: float | None = option(
        None,
        "Delay of at most S seconds for 99 % of messages.",
        metavar="S",
        unit="s",
        read=above_zero("a delay"),
        **_TARGETS,
    )
    packets: float | None = option(
        None, "At most P packets per message.", metavar="P", read=above_zero("a number"), **_TARGETS
    )
    identified: float | None = option(
        None,
        "At most this share of messages is identified.",
        metavar="SHARE",
        read=share,
        **_TARGETS,
    )
