"""ReadOptions: how a file is to be understood, once for Python, the command line and the studio."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any

from anonymatch.mixes.formats import LINKED, LOGS, SOURCES
from anonymatch.mixes.laws import Law, law_usage
from anonymatch.mixes.networks.network_conditions import PerMix

__all__ = ["ReadOptions", "help_text"]

_FILE, _TABLE, _FLOWS = frozenset({"messages"}), frozenset({"released"}), frozenset({"mixmatch"})
_NETWORK = frozenset({"network"})
_RINGS = frozenset({"rings"})

Path = str | os.PathLike[str]


def _option(text: str | Callable[[], str], of: frozenset[str] = frozenset()) -> dict[str, Any]:
    """What a field is, for help texts, and for which sources; for all if none are named."""
    return {"text": text, "of": of}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a file is to be understood. The fields are keywords of Python, and options elsewhere.

    Attributes
    ----------
    law : Law or str, optional
        How messages are delayed, such as ``"window:1,5"``. Message logs need it; of flow pairs it
        says the longest delay; nothing else uses it.
    source : str, optional
        What the file is, one of :data:`SOURCES`; default: as it shows.
    departures : path, optional
        The messages out, if the file has only those in.
    unit : {"s", "ms", "us", "ns"}, optional
        Of the times in a message log.
    columns : mapping or str, optional
        Names of columns of a message log or a link log by what they mean:
        ``{"time": "timestamp_ms", "direction": "dir", "user": "src", "behaviour": "dst"}``.
    loss, lost, cover_rate, cover, loop_rate, since, until, drained, inside_at_start, \
cover_in_pool, cover_visible, whole_log
        Of message logs, as for :func:`~anonymatch.mixes.observe`; of networks, as for
        :func:`~anonymatch.mixes.read_network`.
    original : path, optional
        The table before release; the file is the released one.
    identifiers, sensitive, name, hierarchies, tolerance, missing
        As for :func:`~anonymatch.tables.reading.released.read_released`.
    longest_delay, strays, align
        As for :func:`~anonymatch.mixes.formats.mixmatch.read_flow_pairs`.
    corrupt : str or sequence of str, optional
        Of a network: mixes that tell the attacker which packet is which, ``"m3,m7"``.
    decoys, spends, merging
        Of rings: as for :func:`~anonymatch.rings.ring_files.read_rings`.
    view : {"links", "ends"}, optional
        Of a simulator's log that has every hop: whether the attacker sees all links or only the
        ends; all links unless a law is given.

    Examples
    --------
    >>> ReadOptions(law="window:1,5", unit="ms").given()
    {'law': 'window:1,5', 'unit': 'ms'}
    """

    law: Law | str | Mapping[str, Law | str] | None = field(
        default=None,
        metadata=_option(lambda: f"How messages are delayed, in seconds: {law_usage()}."),
    )
    source: str | None = field(
        default=None,
        metadata=_option(lambda: f"What FILE is, if it does not show: {', '.join(SOURCES)}."),
    )
    unit: str | None = field(
        default=None,
        metadata=_option("Unit of times: s, ms, us or ns [default: s].", _FILE | _NETWORK),
    )
    columns: Mapping[str, str] | Sequence[str] | None = field(
        default=None,
        metadata=_option(
            "Column names of the log: time=ts,direction=dir,user=src,behaviour=dst; also from, to, "
            "entered, left, name, message, cover, lost.",
            _FILE | _NETWORK,
        ),
    )
    departures: Path | None = field(
        default=None, metadata=_option("Messages out, if FILE has only those in.", _FILE)
    )
    loss: PerMix | None = field(
        default=None,
        metadata=_option(
            "Probability that a message is lost; in networks per hop, or by mix: m1=0.01,m2=0.02.",
            LOGS | _NETWORK,
        ),
    )
    lost: int | None = field(
        default=None,
        metadata=_option(
            "Number of lost messages, excluding those still in the mix when the log ends (instead "
            "of --loss).",
            LOGS,
        ),
    )
    cover_rate: PerMix | None = field(
        default=None,
        metadata=_option(
            "Cover traffic: dummy messages leaving the mix per second; in networks per mix.",
            LOGS | _NETWORK,
        ),
    )
    cover: int | None = field(
        default=None,
        metadata=_option(
            "Number of dummy messages that left the mix (instead of --cover-rate).", LOGS
        ),
    )
    loop_rate: PerMix | None = field(
        default=None,
        metadata=_option(
            "Loops per second that each mix sends to itself [default: from the links].", _NETWORK
        ),
    )
    since: float | str | None = field(
        default=None,
        metadata=_option(
            "Start of the observation, in seconds or as a date-time; earlier rows are left out "
            "[default: the first row].",
            LOGS | _NETWORK,
        ),
    )
    until: float | str | None = field(
        default=None,
        metadata=_option(
            "End of the observation, in seconds or as a date-time; later rows are left out "
            "[default: the last row].",
            LOGS | _NETWORK,
        ),
    )
    drained: bool = field(
        default=False,
        metadata=_option("The mix is empty when the log ends.", LOGS | _NETWORK),
    )
    inside_at_start: PerMix | None = field(
        default=None,
        metadata=_option(
            "Mean number of messages inside a mix at the start [default: 0, or fitted if the log "
            "starts in running traffic].",
            LOGS | _NETWORK,
        ),
    )
    cover_in_pool: bool = field(
        default=False,
        metadata=_option("Cover traffic of a flush mix enters its pool, as messages do.", LOGS),
    )
    cover_visible: bool = field(
        default=False,
        metadata=_option(
            "The attacker recognises messages that the log flags as cover or lost.", LOGS | _NETWORK
        ),
    )
    whole_log: bool = field(
        default=False,
        metadata=_option(
            "Include messages near the start and end of the log in averages.", LOGS | _NETWORK
        ),
    )
    original: Path | None = field(
        default=None,
        metadata=_option("The table before release, which a released FILE needs.", _TABLE),
    )
    identifiers: Sequence[str] | str | None = field(
        default=None,
        metadata=_option(
            "Released table: columns that the attacker knows, such as age,zip; may be repeated "
            "[default: guessed].",
            _TABLE,
        ),
    )
    sensitive: Sequence[str] | str | None = field(
        default=None,
        metadata=_option(
            "Released table: sensitive columns; may be repeated [default: guessed].",
            _TABLE,
        ),
    )
    hierarchies: Mapping[str, Path] | None = field(
        default=None,
        metadata=_option(
            "Released table: generalisation hierarchy of a column, as an ARX CSV file; may be "
            "repeated.",
            _TABLE,
        ),
    )
    tolerance: Mapping[str, float] | None = field(
        default=None,
        metadata=_option(
            "Released table: largest difference between a released and a true number; may be "
            "repeated.",
            _TABLE,
        ),
    )
    missing: Sequence[str] | str | None = field(
        default=None,
        metadata=_option(
            "Texts that mean an unknown value in both tables, such as ?,NA; may be repeated "
            "[default: ?, NA, NULL and similar texts that are no values of the original].",
            _TABLE,
        ),
    )
    name: str | None = field(
        default=None, metadata=_option("Released table: column with the names of people.", _TABLE)
    )
    longest_delay: float | None = field(
        default=None,
        metadata=_option(
            "Of flow pairs: seconds that no packet takes longer (2 unless told).", _FLOWS
        ),
    )
    strays: int | None = field(
        default=None,
        metadata=_option(
            "Of flow pairs: packets that a pair may receive though neither sent them.", _FLOWS
        ),
    )
    align: str | None = field(
        default=None,
        metadata=_option(
            "Of flow pairs: start shifts each recording so that all begin together.", _FLOWS
        ),
    )

    corrupt: str | Sequence[str] | None = field(
        default=None,
        metadata=_option(
            "Of a network: mixes that tell the attacker which packet is which, m3,m7.", LINKED
        ),
    )
    view: str | None = field(
        default=None,
        metadata=_option(
            "Of a simulator's log with all hops: links or ends, what the attacker sees (links "
            "unless a law is given).",
            LINKED,
        ),
    )

    decoys: str | None = field(
        default=None,
        metadata=_option(
            "Of rings: how old decoys are, uniform, triangular or gamma:SHAPE,RATE.", _RINGS
        ),
    )
    spends: str | None = field(
        default=None,
        metadata=_option(
            "Of rings: how old outputs are when they are spent (gamma where decoys are told).",
            _RINGS,
        ),
    )
    merging: float | None = field(
        default=None,
        metadata=_option(
            "Of rings: times that members weigh more which one transaction may spend together.",
            _RINGS,
        ),
    )

    def given(self) -> dict[str, Any]:
        """Those that are not as they are unless told, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value not in (None, False, "")}

    def of_log(self) -> dict[str, Any]:
        """Those that say more about a message log, as keywords of ``observe``."""
        return {each.name: getattr(self, each.name) for each in fields(self) if _of_log(each)}

    def unused(self, source: str) -> tuple[str, frozenset[str]] | None:
        """The first option that is given and not for this source, and those that it is for."""
        for each in fields(self):
            value, kinds = getattr(self, each.name), _of(each)
            is_given = bool(value) if _of_log(each) else value is not None
            if kinds and is_given and source not in kinds:
                return each.name, kinds
        return None


def help_text(name: str) -> str:
    """What an option of :class:`ReadOptions` is, in a line for help texts.

    Examples
    --------
    >>> help_text("unit")
    'Unit of times: s, ms, us or ns [default: s].'
    """
    text = next(each.metadata["text"] for each in fields(ReadOptions) if each.name == name)
    return str(text()) if callable(text) else str(text)


def _of_log(option: Field[Any]) -> bool:
    return _of(option) >= LOGS


def _of(option: Field[Any]) -> frozenset[str]:
    kinds: frozenset[str] = option.metadata["of"]
    return kinds
