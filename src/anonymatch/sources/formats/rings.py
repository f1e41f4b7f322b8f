"""Ring signatures: each input was signed by one of several outputs, and nobody says by which.

JSON: ``{input: [candidate outputs], ...}``; with what really was, ``{input: {"members": [...],
"truth": output}, ...}``; or a list of ``{"ring": input, "members": [...], "truth": output}``.
Names are text; whole numbers become text.

Inputs are users and outputs are behaviours: every input spends one output, no output is spent
twice, and most outputs are spent by none of these inputs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.graph import Graph, reading
from anonymatch.sources.formats.json_files import as_name, as_object, load_json, true_indices
from anonymatch.sources.formats.relay_files import is_relays
from anonymatch.sources.formats.source_format import SourceFormat
from anonymatch.sources.observation import Observation

if TYPE_CHECKING:
    from anonymatch.running import Budget
    from anonymatch.sources.laws import Law
    from anonymatch.sources.reading import ReadOptions

__all__ = ["is_rings", "read_rings"]

_KEYS = {"ring", "members", "truth"}


def read_rings(path: str | os.PathLike[str]) -> Observation:
    r"""The graph of inputs and their candidate outputs.

    Parameters
    ----------
    path : path
        A .json file, which may end in .gz.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "rings.json")
    ...     _ = place.write_text('{"i1": ["o1", "o2"], "i2": ["o2", "o3"]}')
    ...     read_rings(place).graph
    Graph(2 users, 3 behaviours, 4 edges)
    """
    file = as_path(path)
    with reading(file):
        rings, truth = _rings(load_json(file))
        outputs = {name: at for at, name in enumerate(dict.fromkeys(_flat(rings)))}
        indices = true_indices(truth, rings, outputs)
        graph = Graph.from_edges(
            [(ring, member) for ring, members in rings.items() for member in members],
            users=list(rings),
            behaviours=list(outputs),
        )
    repeats = sum(len(members) - len(set(members)) for members in rings.values())
    note = f"{several(repeats, 'member')} came twice in one ring; once is enough."
    return Observation(
        graph=graph,
        source=f"{several(len(rings), 'ring signature')} over {several(len(outputs), 'output')}",
        truth=np.array(indices, dtype=np.int64) if truth else None,
        notes=(note,) if repeats else (),
    )


def is_rings(document: object) -> bool:
    """Whether a JSON value can only be rings: it has members, or is a list of such."""
    if isinstance(document, list):
        values = document
    elif isinstance(document, dict):
        values = list(document.values())
    else:
        return False
    return bool(values) and all(isinstance(ring, dict) and "members" in ring for ring in values)


def _rings(document: object) -> tuple[dict[str, list[str]], dict[str, str]]:
    named = _named(document) if isinstance(document, list) else as_object(document, "rings")
    if not named:
        raise InputError("it holds no ring; give {input: [candidate outputs], ...}")
    rings: dict[str, list[str]] = {}
    truth: dict[str, str] = {}
    for name, ring in named.items():
        given = ring
        if isinstance(ring, dict):
            extra = set(ring) - _KEYS
            if extra:
                raise InputError(
                    f"ring {quoted(name)} has the unknown key {quoted(min(extra))}; known are "
                    "members and truth"
                )
            given = ring.get("members")
        if not isinstance(given, list) or not given:
            raise InputError(f"ring {quoted(name)} must have a list of members, at least one")
        rings[name] = [as_name(member, f"a member of ring {quoted(name)}") for member in given]
        if isinstance(ring, dict) and ring.get("truth") is not None:
            truth[name] = as_name(ring["truth"], f"the truth of ring {quoted(name)}")
            if truth[name] not in rings[name]:
                raise InputError(
                    f"ring {quoted(name)}: its truth {quoted(truth[name])} is none of its members"
                )
    return rings, truth


def _named(rings: list[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for number, ring in enumerate(rings):
        name = as_name(as_object(ring, f"ring {number}").get("ring", number), f"ring {number}")
        if name in named:
            raise InputError(f"ring {quoted(name)} is there twice; give each its own name")
        named[name] = ring
    return named


def _flat(rings: dict[str, list[str]]) -> list[str]:
    return [member for members in rings.values() for member in members]


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return read_rings(path)


FORMAT = SourceFormat(
    text="ring signatures: .json, {input: [candidate outputs]}",
    open=_open,
    document=lambda document: is_rings(document) and not is_relays(document),
    marks=(b'"members"',),
)
