"""Formats of logs, tables and simulators; :data:`SOURCE_FORMATS` is the table of them.

To add one, write its module, with a `SourceFormat`, and its row here.
"""

from anonymatch.mixes.formats import (
    edge_files,
    message_files,
    mixmatch,
    network_files,
    relay_files,
    simulators,
)
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.rings import ring_files as rings
from anonymatch.tables.reading import released

__all__ = ["LINKED", "LOGS", "SOURCES", "SOURCE_FORMATS", "SourceFormat"]

SOURCE_FORMATS: dict[str, SourceFormat] = {
    "edges": edge_files.FORMAT,
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

SOURCES = {name: each.text for name, each in SOURCE_FORMATS.items()}
"""The same, each in one line."""

LINKED = frozenset(
    name for name, each in SOURCE_FORMATS.items() if each.reads_law or each.links is not None
)
"""Those that may show every link."""

LOGS = frozenset(name for name, each in SOURCE_FORMATS.items() if each.messages is not None)
"""Those that need a law."""
