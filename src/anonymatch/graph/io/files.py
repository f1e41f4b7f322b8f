"""Read graphs from files and write them, by suffix.

==================  ==========================================================================
.csv .tsv           header ``user,behaviour[,weight]`` in any order; names become text
.parquet            the same columns; names stay text or whole numbers
.mtx                Matrix Market, general: a row a user; names in comments
.npz                ``scipy.sparse.save_npz``; names as two more arrays
.json               ``{"users": [], "behaviours": [], "edges": []}`` or ``{user: [behaviours]}``
.jsonl              ``{"user": ..., "behaviour": ..., "weight": ...}`` a line
==================  ==========================================================================

All but .parquet and .npz may end in .gz. What is read back equals what was written, except that
CSV and TSV turn whole-number names into text. Each format is described in its module. To add a
format, write its module (``read`` from a `Source` to parts of a graph and notes, ``write`` from a
graph into a stream) and its row in `FORMATS`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.atomic_files import as_path, unfinished_stream
from anonymatch.graph.graph import Graph, check_graph
from anonymatch.tabular import Source, reading, suffix_of

if TYPE_CHECKING:
    from typing import BinaryIO

    from anonymatch.graph.inputs import Parts

    Reader = Callable[[Source], tuple[Parts, list[str]]]
    Writer = Callable[[Graph, BinaryIO], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format, by its suffix.

    Attributes
    ----------
    module : str
        In this folder; it is imported when the format is used.
    ending : str
        Of the names of its functions, ``read`` and ``write``.
    packed : bool
        Whether files may be compressed, and then end in .gz.
    separator : str
        Of a text table, which its functions take as ``separator``; else empty.
    """

    module: str
    ending: str = ""
    packed: bool = False
    separator: str = ""

    @property
    def reader(self) -> Reader:
        return self._function(f"read{self.ending}")

    @property
    def writer(self) -> Writer:
        return self._function(f"write{self.ending}")

    def _function(self, name: str) -> Callable[..., Any]:
        made: Callable[..., Any] = getattr(import_module(f"{__package__}.{self.module}"), name)
        return partial(made, separator=self.separator) if self.separator else made


FORMATS = {
    ".csv": FileFormat(module="tables", ending="_text", packed=True, separator=","),
    ".tsv": FileFormat(module="tables", ending="_text", packed=True, separator="\t"),
    ".parquet": FileFormat(module="tables", ending="_parquet"),
    ".mtx": FileFormat(module="matrix_market", packed=True),
    ".npz": FileFormat(module="npz"),
    ".json": FileFormat(module="json_text", packed=True),
    ".jsonl": FileFormat(module="json_text", ending="_lines", packed=True),
}
"""Formats by suffix, in the order in which people see them."""


def format_of(path: Path) -> tuple[FileFormat, bool]:
    """The format of a file, and whether the file is compressed.

    Examples
    --------
    >>> kind, packed = format_of(Path("log.CSV.gz"))
    >>> kind.module, packed
    ('tables', True)
    """
    packable = {suffix: kind.packed for suffix, kind in FORMATS.items()}
    suffix, packed = suffix_of(path, packable, of="")
    return FORMATS[suffix], packed


class FileNote(UserWarning):
    """Something in a file makes no edge, such as a column that is not needed or a weight of 0."""


def read(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a file of edges, as :func:`anonymatch.read` does; its suffix tells how."""
    file = as_path(path)
    kind, packed = format_of(file)
    with reading(file):
        parts, notes = kind.reader(Source(file, packed))
    for note in notes:
        warnings.warn(f"{file}: {note}", FileNote, stacklevel=2)
    return Graph(*parts)


def write(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph to a file; its suffix tells the format.

    The file appears under its name only when it is complete.

    Parameters
    ----------
    graph : Graph
    path : path
        Its suffix tells the format, one of those that :func:`read` knows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from anonymatch.graph.graph import Graph
    >>> graph = Graph.from_rows(["110", "011"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "graph.npz")
    ...     write(graph, path)
    ...     read(path) == graph
    True
    """
    check_graph(graph)
    target = as_path(path)
    kind, packed = format_of(target)
    with unfinished_stream(target, packed=packed) as stream:
        kind.writer(graph, stream)
