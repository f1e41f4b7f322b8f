"""The formats of files: one row a suffix, and a module each that reads and writes.

To add a format, write its module (``read`` from a `Source` to parts of a graph and notes, ``write``
from a graph into a stream) and its row here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import InputError

if TYPE_CHECKING:
    from typing import BinaryIO

    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts
    from anonymatch.graph.io.source import Source

    Reader = Callable[[Source], tuple[Parts, list[str]]]
    Writer = Callable[[Graph, BinaryIO], None]

__all__ = ["FORMATS", "FileFormat", "format_of", "separator_in"]

_QUOTED = re.compile(r'"[^"]*"')
_OTHER_SEPARATORS = ";\t"  # of a .csv file: ARX, and spreadsheets where numbers have commas


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format, by its suffix.

    Attributes
    ----------
    module : str
        In this folder; it is imported when the format is used.
    reads, writes : str
        Its functions.
    packed : bool
        Whether files may be compressed, and then end in .gz.
    table : bool
        Whether rows with columns of any names can be in it, such as those of message logs.
    separator : str
        Of a text table, which its functions take as ``separator``; else empty.
    """

    module: str
    reads: str = "read"
    writes: str = "write"
    packed: bool = False
    table: bool = False
    separator: str = ""

    @property
    def reader(self) -> Reader:
        return self._function(self.reads)

    @property
    def writer(self) -> Writer:
        return self._function(self.writes)

    def _function(self, name: str) -> Callable[..., Any]:
        made: Callable[..., Any] = getattr(import_module(f"{__package__}.{self.module}"), name)
        return partial(made, separator=self.separator) if self.separator else made


FORMATS = {
    ".csv": FileFormat(module="delimited", packed=True, table=True, separator=","),
    ".tsv": FileFormat(module="delimited", packed=True, table=True, separator="\t"),
    ".parquet": FileFormat(module="parquet", table=True),
    ".mtx": FileFormat(module="matrix_market", packed=True),
    ".npz": FileFormat(module="npz"),
    ".json": FileFormat(module="json_text", packed=True),
    ".jsonl": FileFormat(
        module="json_text", reads="read_lines", writes="write_lines", packed=True, table=True
    ),
}
"""Formats by suffix, in the order in which people see them."""


def separator_in(header: str, usual: str) -> str:
    """What stands between the fields of a text table, by its first line.

    It is the usual one, unless a line of a .csv file has another and no comma outside quotes.

    Examples
    --------
    >>> separator_in("user;behaviour", ","), separator_in('user,"a;b"', ",")
    (';', ',')
    """
    plain = _QUOTED.sub("", header)
    if usual != "," or usual in plain:
        return usual
    return next((mark for mark in _OTHER_SEPARATORS if mark in plain), usual)


def format_of(
    path: Path, known: Collection[str] = FORMATS, *, of: str = ""
) -> tuple[str, FileFormat, bool]:
    """The suffix of a file, its format, and whether the file is compressed.

    Parameters
    ----------
    path : Path
    known : collection of str
        Suffixes that are allowed.
    of : str
        What they are formats of, for the error.

    Examples
    --------
    >>> suffix, kind, packed = format_of(Path("log.CSV.gz"))
    >>> suffix, kind.module, packed
    ('.csv', 'delimited', True)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[:1] if packed and len(suffixes) == 2 else suffixes[-1:])
    if suffix in known and (not packed or FORMATS[suffix].packed):
        return suffix, FORMATS[suffix], packed
    may_be_packed = [each for each in known if FORMATS[each].packed]
    raise InputError(
        f"its suffix tells no known format{f' of {of}' if of else ''}; known are "
        f"{' '.join(known)}, and .gz after {' '.join(may_be_packed)}"
    ).about(path)
