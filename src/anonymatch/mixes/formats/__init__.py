"""Formats of logs, tables and simulators; :data:`SOURCE_FORMATS` is the table of them.

To add one, write its module, with a `SourceFormat`, and its row here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.graph import FORMATS, read
from anonymatch.mixes.formats import (
    message_files,
    mixmatch,
    network_files,
    relay_files,
    simulators,
)
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.observation import Observation
from anonymatch.rings import ring_files as rings
from anonymatch.tables import released

if TYPE_CHECKING:
    from anonymatch.mixes.laws import Law
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.running import Budget

__all__ = ["LINKED", "LOGS", "SOURCES", "SOURCE_FORMATS", "SourceFormat"]


def _open_edges(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return Observation(graph=read(path), source=f"edges of {path.name}")


SOURCE_FORMATS: dict[str, SourceFormat] = {
    "edges": SourceFormat(text=f"who may have done what: {' '.join(FORMATS)}", open=_open_edges),
    "messages": message_files.FORMAT,
    "network": network_files.FORMAT,
    "mixim": simulators.MIXIM,
    "nym": simulators.NYM,
    "mixmatch": mixmatch.FORMAT,
    "rings": rings.FORMAT,
    "relays": relay_files.FORMAT,
    "released": released.FORMAT,
}
"""Kinds of files and folders by name, in the order in which people see them."""

SOURCES: dict[str, str] = {name: each.text for name, each in SOURCE_FORMATS.items()}
"""The same, each in one line."""

LINKED: frozenset[str] = frozenset(
    name for name, each in SOURCE_FORMATS.items() if each.reads_law or each.links is not None
)
"""Those that may show every link."""

LOGS: frozenset[str] = frozenset(
    name for name, each in SOURCE_FORMATS.items() if each.messages is not None
)
"""Those that need a law."""
