"""ReadOptions: how a file is to be understood, once for Python, the command line and the studio."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any

from anonymatch.sources.formats import LINKED, LOGS, SOURCES
from anonymatch.sources.laws import Law, law_usage

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
    loss, lost, cover_rate, cover, until, drained, inside_at_start, cover_in_pool, \
cover_visible, whole_log
        Of message logs, as for :func:`~anonymatch.sources.observing.observe`.
    original : path, optional
        The table before release; the file is the released one.
    identifiers, sensitive, name, hierarchies, tolerance
        As for :func:`~anonymatch.sources.formats.released.read_released`.
    longest_delay, strays, align
        As for :func:`~anonymatch.sources.formats.mixmatch.read_flow_pairs`.
    corrupt : str or sequence of str, optional
        Of a network: mixes that tell the attacker which packet is which, ``"m3,m7"``.
    decoys, spends, merging
        Of rings: as for :func:`~anonymatch.sources.formats.rings.read_rings`.
    view : {"links", "ends"}, optional
        Of a simulator's log that has every hop: whether the attacker sees all links or only the
        ends; all links unless a law is given.

    Examples
    --------
    >>> ReadOptions(law="window:1,5", unit="ms").given()
    {'law': 'window:1,5', 'unit': 'ms'}
    """

    law: Law | str | None = field(
        default=None,
        metadata=_option(lambda: f"How messages are delayed, in seconds: {law_usage()}."),
    )
    source: str | None = field(
        default=None,
        metadata=_option(lambda: f"What FILE is, if it does not show: {', '.join(SOURCES)}."),
    )
    unit: str | None = field(
        default=None,
        metadata=_option("Of times: s, ms, us or ns (s unless told).", _FILE | _NETWORK),
    )
    departures: Path | None = field(
        default=None, metadata=_option("Messages out, if FILE has only those in.", _FILE)
    )
    loss: float | None = field(
        default=None, metadata=_option("Probability of a message to be lost on its way.", LOGS)
    )
    lost: int | None = field(
        default=None,
        metadata=_option(
            "Instead: so many messages in were lost, beyond those still inside at the end.", LOGS
        ),
    )
    cover_rate: float | None = field(
        default=None,
        metadata=_option("Messages out a second that are nobody's (dummy traffic).", LOGS),
    )
    cover: int | None = field(
        default=None, metadata=_option("Instead: so many messages out are nobody's.", LOGS)
    )
    until: float | str | None = field(
        default=None,
        metadata=_option(
            "When the log ends: seconds, or a date-time (its last row unless told).", LOGS
        ),
    )
    drained: bool = field(
        default=False, metadata=_option("Nothing was left inside when the log ended.", LOGS)
    )
    inside_at_start: float | None = field(
        default=None,
        metadata=_option(
            "Messages inside when the log begins, on average, if it starts in mid traffic (none "
            "unless told, or unless the log shows some).",
            LOGS,
        ),
    )
    cover_in_pool: bool = field(
        default=False, metadata=_option("Cover of a flush mix is held back like messages.", LOGS)
    )
    cover_visible: bool = field(
        default=False,
        metadata=_option("The attacker sees what the log flags as cover or lost.", LOGS | _NETWORK),
    )
    whole_log: bool = field(
        default=False,
        metadata=_option("Count messages near the ends of the log as all others.", LOGS | _NETWORK),
    )
    original: Path | None = field(
        default=None,
        metadata=_option("The table before release, which a released FILE needs.", _TABLE),
    )
    identifiers: Sequence[str] | str | None = field(
        default=None,
        metadata=_option(
            "Of a released table: columns that an attacker knows, age,zip; may be repeated "
            "(guessed unless told).",
            _TABLE,
        ),
    )
    sensitive: Sequence[str] | str | None = field(
        default=None,
        metadata=_option(
            "Of a released table: columns that an attacker wants to know; may be repeated (guessed "
            "unless told).",
            _TABLE,
        ),
    )
    hierarchies: Mapping[str, Path] | None = field(
        default=None,
        metadata=_option(
            "Of a released table: COLUMN=FILE, what each value may have become, as ARX writes it; "
            "may be repeated.",
            _TABLE,
        ),
    )
    tolerance: Mapping[str, float] | None = field(
        default=None,
        metadata=_option(
            "Of a released table: COLUMN=NUMBER, how far a released number may be from the true "
            "one; may be repeated.",
            _TABLE,
        ),
    )
    name: str | None = field(
        default=None, metadata=_option("Of a released table: the column of names.", _TABLE)
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
    'Of times: s, ms, us or ns (s unless told).'
    """
    text = next(each.metadata["text"] for each in fields(ReadOptions) if each.name == name)
    return str(text()) if callable(text) else str(text)


def _of_log(option: Field[Any]) -> bool:
    return _of(option) >= LOGS


def _of(option: Field[Any]) -> frozenset[str]:
    kinds: frozenset[str] = option.metadata["of"]
    return kinds
