"""Graphs from files, of edges, rings or relays: what counts, posteriors and samples begin with."""

from __future__ import annotations

import os
import warnings

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.graph import FileNote, Graph
from anonymatch.graph import read as read_edges
from anonymatch.mixes.formats.relay_files import read_relays
from anonymatch.mixes.logs.observation import Observation
from anonymatch.mixes.reading.detect import holds_relays, holds_rings
from anonymatch.rings import read_rings

__all__ = ["read"]


def read(
    path: str | os.PathLike[str],
    *,
    decoys: str | None = None,
    spends: str | None = None,
    merging: float | None = None,
) -> Graph:
    r"""Read a graph from a file of edges, of rings, or of relays.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .mtx, .npz, .json or .jsonl file; text formats may end in .gz. Rings
        are known by a table's columns ``ring`` and ``member``, or by the keys of a document, and
        relays by theirs.
    decoys, spends, merging : optional
        Of rings, as in :func:`audit`: weights of their members beside what the file says.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        The file is not usable; one line says what is wrong, where, and what to do.

    Warns
    -----
    FileNote
        Extra columns and empty rows were ignored, equal edges were kept once, edges of weight 0
        were left out, or a name stands in no edge because its rows lack the other name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "seen.csv")
    >>> _ = path.write_text("user,behaviour\nann,x\nann,y\nbob,x\n")
    >>> read(path).to_edges()
    [('ann', 'x'), ('ann', 'y'), ('bob', 'x')]
    >>> _ = path.write_text("ring,member\ni1,o1\ni1,o2\ni2,o2\n")
    >>> read(path).to_edges()
    [('i1', 'o1'), ('i1', 'o2'), ('i2', 'o2')]
    >>> folder.cleanup()
    """
    file = as_path(path)
    told = {"decoys": decoys, "spends": spends, "merging": merging}
    if holds_rings(file):
        observation: Observation = read_rings(file, decoys=decoys, spends=spends, merging=merging)
    else:
        relays = holds_relays(file)
        for name, value in told.items():
            if value is not None:
                what = "relays" if relays else "edges"
                raise InputError(
                    Argument(name), f" is for rings, and this is {what}; leave it out"
                ).about(file)
        if not relays:
            return read_edges(file)
        observation = read_relays(file)
    for note in observation.notes:
        warnings.warn(f"{file}: {note}", FileNote, stacklevel=2)
    assert observation.graph is not None
    return observation.graph
