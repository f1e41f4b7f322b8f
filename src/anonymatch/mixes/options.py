"""LogOptions and ReadOptions: how a file is to be understood, once for all interfaces."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymatch.base.options import (
    above_zero,
    amount,
    from_zero,
    option,
    option_texts,
    per_mix,
    whole,
)
from anonymatch.mixes.formats import LINKED, LOGS, SOURCES
from anonymatch.mixes.laws import Law, law_usage
from anonymatch.mixes.networks.network_conditions import PerMix
from anonymatch.rings import RingOptions
from anonymatch.tables import TableOptions

__all__ = ["LogOptions", "ReadOptions", "TrafficOptions"]

_NETWORK = frozenset({"network"})
_LOG: dict[str, Any] = {"group": "Message log", "sources": frozenset({"messages"}) | _NETWORK}
_LOGS: dict[str, Any] = {"group": "Message log", "sources": LOGS | _NETWORK}
_LOSSY: dict[str, Any] = {"group": "Loss and cover traffic", "sources": LOGS | _NETWORK}
_COUNTED: dict[str, Any] = {"group": "Loss and cover traffic", "sources": LOGS}
_LINKS: dict[str, Any] = {"group": "Networks", "sources": LINKED}
_FLOWS: dict[str, Any] = {"group": "Flow pairs", "sources": frozenset({"mixmatch"})}
_RATE = per_mix(from_zero("a rate"))

_OLD = {"identifiers": "quasi_identifiers"}  # keywords of version 0.1, until 0.3.0

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """How a message log, a simulator's log or the log of a network is to be understood.

    Attributes
    ----------
    law : Law or str, optional
        How messages are delayed, such as ``"window:1,5"``. Message logs need it. For flow pairs it
        gives the longest delay.
    source : str, optional
        Kind of the file, one of :data:`SOURCES`; default: detected.
    departures : path, optional
        File of the messages out, if the main file has only the messages in.
    unit : {"s", "ms", "us", "ns"}, optional
        Unit of the times in a log.
    columns : mapping or str, optional
        Names of columns of a message log or a link log by what they mean:
        ``{"time": "timestamp_ms", "direction": "dir", "user": "src", "behaviour": "dst"}``.
    loss, lost, cover_rate, cover, loop_rate, since, until, drained, inside_at_start, \
cover_in_pool, cover_visible, whole_log
        As for :func:`~anonymatch.mixes.observe`; for networks, as for
        :func:`~anonymatch.mixes.read_network`.
    corrupt : str or sequence of str, optional
        Mixes of a network inside which the attacker sees which packet is which, ``"m3,m7"``.
    view : {"links", "ends"}, optional
        Attacker's view of a simulator's log that has every hop; default: all links, unless a law is
        given.
    longest_delay, strays, align
        As for :func:`~anonymatch.mixes.formats.mixmatch.read_flow_pairs`.
    """

    law: Law | str | Mapping[str, Law | str] | None = option(
        None,
        lambda: f"How messages are delayed, in seconds: {law_usage()}.",
        metavar="LAW",
        group="Message log",
    )
    source: str | None = option(
        None,
        lambda: f"Kind of FILE: {', '.join(SOURCES)}.",
        metavar="KIND",
        shown="detected",
        group="Message log",
    )
    unit: str | None = option(
        None, "Unit of times: s, ms, us or ns.", metavar="UNIT", shown="s", **_LOG
    )
    columns: Mapping[str, str] | Sequence[str] | None = option(
        None,
        "Column names of the log: time=ts,direction=dir,user=src,behaviour=dst; also from, to, "
        "entered, left, name, message, cover, lost.",
        metavar="MEANING=NAME",
        many=True,
        **_LOG,
    )
    departures: Path | None = option(
        None,
        "File of the messages out, if FILE has only the messages in.",
        metavar="FILE",
        read=pathlib.Path,
        group="Message log",
        sources=frozenset({"messages"}),
    )
    since: float | str | None = option(
        None,
        "Start of the observation, in seconds or as a date-time; earlier rows are left out.",
        metavar="TIME",
        shown="the first row",
        **_LOGS,
    )
    until: float | str | None = option(
        None,
        "End of the observation, in seconds or as a date-time; later rows are left out.",
        metavar="TIME",
        shown="the last row",
        **_LOGS,
    )
    whole_log: bool = option(
        False, "Include messages near the start and end of the log in averages.", **_LOGS
    )
    loss: PerMix | None = option(
        None,
        "Probability that a message is lost; in networks per hop, or per mix: m1=0.01,m2=0.02.",
        metavar="P",
        read=per_mix(from_zero("a probability", below=1.0)),
        **_LOSSY,
    )
    lost: int | None = option(
        None,
        "Number of lost messages, excluding those still in the mix when the log ends (instead of "
        "--loss).",
        metavar="N",
        read=whole(0),
        **_COUNTED,
    )
    cover_rate: PerMix | None = option(
        None,
        "Cover traffic: dummy messages leaving the mix per second; in networks per mix.",
        metavar="R",
        unit="1/s",
        read=_RATE,
        **_LOSSY,
    )
    cover: int | None = option(
        None,
        "Number of dummy messages that left the mix (instead of --cover-rate).",
        metavar="N",
        read=whole(0),
        **_COUNTED,
    )
    drained: bool = option(False, "The mix is empty when the log ends.", **_LOSSY)
    inside_at_start: PerMix | None = option(
        None,
        "Mean number of messages inside a mix at the start.",
        metavar="R",
        shown="0, or fitted if the log starts in running traffic",
        read=per_mix(from_zero("a number of messages")),
        **_LOSSY,
    )
    cover_in_pool: bool = option(
        False, "Cover traffic of a flush mix enters its pool, as messages do.", **_COUNTED
    )
    cover_visible: bool = option(
        False, "The attacker recognises messages that the log flags as cover or lost.", **_LOSSY
    )
    loop_rate: PerMix | None = option(
        None,
        "Loops per second that each mix sends to itself.",
        metavar="R",
        unit="1/s",
        shown="from the links",
        read=_RATE,
        group="Networks",
        sources=_NETWORK,
    )
    corrupt: str | Sequence[str] | None = option(
        None,
        "Corrupt mixes: the attacker sees which packet is which inside them, such as m3,m7.",
        metavar="MIXES",
        many=True,
        **_LINKS,
    )
    view: str | None = option(
        None,
        "Attacker's view of a simulator's log with all hops: links or ends.",
        metavar="VIEW",
        shown="links, or ends if a law with numbers is given",
        **_LINKS,
    )
    longest_delay: float | None = option(
        None,
        "Maximum packet delay in seconds.",
        metavar="SECONDS",
        unit="s",
        shown="2",
        read=above_zero("a delay"),
        **_FLOWS,
    )
    strays: int | None = option(
        None,
        "Number of packets that a pair may receive although neither end sent them.",
        metavar="N",
        read=whole(0),
        **_FLOWS,
    )
    align: str | None = option(
        None, "start: shift the recordings so that all begin together.", metavar="WHERE", **_FLOWS
    )


@dataclass(frozen=True, kw_only=True)
class ReadOptions(RingOptions, TableOptions, LogOptions):
    """How a file of any kind is to be understood: keywords of Python, and options elsewhere.

    Examples
    --------
    >>> ReadOptions(law="window:1,5", unit="ms").given()
    {'law': 'window:1,5', 'unit': 'ms'}
    """

    @classmethod
    def of(cls, options: ReadOptions | None, keywords: Mapping[str, Any]) -> ReadOptions:
        """Return the options with keywords in their place; names of version 0.1 are understood."""
        named = {_OLD.get(name, name): value for name, value in keywords.items()}
        return replace(options or cls(), **named)

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        values = {name: getattr(self, name) for name in option_texts(self)}
        return {name: value for name, value in values.items() if value not in (None, False, "")}

    def of_log(self) -> dict[str, Any]:
        """Return the options of a message log as keywords of ``observe``."""
        texts = option_texts(self)
        return {name: getattr(self, name) for name, each in texts.items() if each.sources >= LOGS}

    def unused(self, source: str) -> tuple[str, frozenset[str]] | None:
        """Return the first given option that is not for this source, and those that it is for."""
        for name, each in option_texts(self).items():
            value = getattr(self, name)
            is_given = bool(value) if each.sources >= LOGS else value is not None
            if each.sources and is_given and source not in each.sources:
                return name, each.sources
        return None


@dataclass(frozen=True, kw_only=True)
class TrafficOptions:
    """Keywords of :func:`~anonymatch.mixes.synthesize`."""

    messages: int = option(1000, "Number of messages.", metavar="N", read=whole(1))
    rate: float = option(
        1.0, "Messages per second.", metavar="R", unit="1/s", read=above_zero("a rate")
    )
    users: int | None = option(
        None,
        "Number of senders.",
        metavar="N",
        shown="one per message; 100 with --rounds",
        read=whole(1),
    )
    receivers: int | None = option(
        None,
        "Number of receivers.",
        metavar="N",
        shown="one per message; with --rounds the number of users",
        read=whole(1),
    )
    cover: float = option(
        0.0, "Dummy messages that leave per real message.", metavar="SHARE", read=amount
    )
    loss: float = option(0.0, "Share of messages that are lost.", metavar="SHARE", read=amount)
    network: str | None = option(
        None,
        "Write all links of a network of these mixes: one, cascade:3, or 3x4 (layers x mixes).",
        metavar="SHAPE",
        group="Networks",
    )
    link: float = option(
        0.0,
        "Delay of every link in seconds.",
        metavar="SECONDS",
        unit="s",
        read=amount,
        group="Networks",
    )
