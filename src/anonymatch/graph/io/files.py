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
CSV and TSV turn whole-number names into text. Each format is described in its module, and
``formats.py`` is the table of them.
"""

from __future__ import annotations

import difflib
import os
import stat
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.base.atomic_files import as_path, unfinished_stream
from anonymatch.base.errors import InputError
from anonymatch.graph.graph import Graph, check_graph
from anonymatch.graph.io.formats import format_of
from anonymatch.graph.io.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator


class FileNote(UserWarning):
    """Something in a file makes no edge, such as a column that is not needed or a weight of 0."""


def read(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a file of edges, as :func:`anonymatch.read` does; its suffix tells how."""
    file = as_path(path)
    _, kind, packed = format_of(file)
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
    _, kind, packed = format_of(target)
    with unfinished_stream(target, packed=packed) as stream:
        kind.writer(graph, stream)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Refuse what is no regular file; what is wrong inside becomes one line with its name."""
    try:
        _check_file(path)
        yield
    except InputError as error:
        raise error.about(path) from None
    except OSError as error:
        raise InputError(_reason(error)).about(path) from None
    except MemoryError:
        raise InputError("reading it needs more memory than there is").about(path) from None


def _check_file(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"there is no such file; {_nearby(path)}") from None
    if stat.S_ISDIR(kind):
        raise InputError("it is a folder; give a file in it")
    if not stat.S_ISREG(kind):
        raise InputError("it is not a regular file; save its content to one first")
    try:
        str(path).encode()
    except UnicodeEncodeError:  # polars cannot open it
        raise InputError("its name is not UTF-8; rename it") from None
    with path.open("rb"):
        pass


def _nearby(path: Path) -> str:
    """A hint at files in the same folder with a similar name."""
    try:
        there = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"nor a folder {str(path.parent)!r}; check the path"
    close = difflib.get_close_matches(path.name, there[:10_000], n=3)
    return f"did you mean {' or '.join(close)}?" if close else "check the path"


def _reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it; ask its owner or choose another file"
    return f"cannot read it ({error.strerror or type(error).__name__})"
