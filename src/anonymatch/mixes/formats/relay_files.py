"""Relay topologies from files: who entered where, what was seen where, and which links there are.

JSON with these keys, all names text or whole numbers:

================  ==============================================================================
``links``         ``[[relay, relay it sends to], ...]``; or ``relays``: ``{relay: [relays], ...}``
``entries``       ``{user: relay where that user entered, ...}``, or a list of relays, any of which
``exits``         ``{behaviour: relay where it was seen, ...}``, or a list of relays likewise
``length``        relays on a path, entry and exit included; default 3
``repeat``        true if a path may pass a relay again; default false
``bandwidth``     ``{relay: number, ...}``, of every relay; default: all alike
``truth``         ``{user: behaviour, ...}``, if known
================  ==============================================================================

:mod:`anonymatch.mixes.formats.relays` says what follows from them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.mixes.formats.relays import EXACT_EDGES, path_graph
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.observation import Observation
from anonymatch.running import Budget
from anonymatch.tabular import Source, as_name, as_object, load_json, reading

if TYPE_CHECKING:
    from anonymatch.mixes.laws import Law
    from anonymatch.mixes.options import ReadOptions

_KEYS = {"links", "relays", "entries", "exits", "length", "repeat", "bandwidth", "truth"}


def read_relays(
    path: str | os.PathLike[str], *, budget: Budget | float | None = None
) -> Observation:
    r"""The weighted graph of users and behaviours, by the paths between their relays.

    Parameters
    ----------
    path : path
        A .json file, which may end in .gz.
    budget : float or Budget, optional
        Paths of four relays and more through cycles may take long; beyond it they are refused.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> topology = {
    ...     "links": [["t", "b"], ["b", "t"], ["t", "m"], ["t", "x2"], ["b", "x1"], ["b", "m"],
    ...               ["m", "x1"], ["m", "x2"]],
    ...     "entries": {"alice": "t", "bob": "t", "cem": "b", "dan": "b"},
    ...     "exits": {"1": "x1", "2": "x1", "3": "x2", "4": "x2"},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "relays.json")
    ...     _ = place.write_text(json.dumps(topology))
    ...     seen = read_relays(place)
    >>> seen.source
    'paths of 3 relays'
    >>> print(*(edge[2] for edge in seen.graph.to_edges()[:4]))
    1/3 1/3 1/6 1/6
    """
    file = as_path(path)
    with reading(file):
        document = as_object(load_json(Source.of(file)), "a topology")
        unknown = set(document) - _KEYS
        if unknown:
            known = ", ".join(sorted(_KEYS))
            raise InputError(f"there is the unknown key {quoted(min(unknown))}; known are {known}")
        links = _links(document)
        users, behaviours = (_relays(document, key) for key in ("entries", "exits"))
        length, repeat = document.get("length", 3), document.get("repeat", False)
        if not isinstance(repeat, bool):
            raise InputError('"repeat" must be true or false')
        bandwidth = document.get("bandwidth")
        graph = path_graph(
            links,
            users=users,
            behaviours=behaviours,
            relays=length,
            repeat=repeat,
            bandwidth=None if bandwidth is None else as_object(bandwidth, '"bandwidth"'),
            budget=budget,
        )
        truth = _names(document, "truth") if "truth" in document else None
        place_of = {behaviour: at for at, behaviour in enumerate(behaviours)}
        indices = None if truth is None else _true_indices(truth, users, place_of)
    kind = "walks" if repeat else "paths"
    weighed = ", by bandwidth" if bandwidth is not None else ""
    rounded = "Weights are rounded to float64."
    return Observation(
        graph=graph,
        source=f"{kind} of {several(length, 'relay')}{weighed}",
        truth=None if indices is None else np.array(indices, dtype=np.int64),
        notes=(rounded,) if graph.n_edges > EXACT_EDGES else (),
    )


def is_relays(document: object) -> bool:
    """Whether a JSON value means a topology: it has entries, or links."""
    return isinstance(document, dict) and (
        "links" in document or {"relays", "entries"} <= set(document)
    )


def _links(document: dict[str, Any]) -> list[tuple[str, str]]:
    if ("links" in document) == ("relays" in document):
        raise InputError('give "links": [[a, b], ...] or "relays": {a: [b, ...]}, one of them')
    pairs: list[Any] = []
    if "links" in document:
        if not isinstance(document["links"], list):
            raise InputError('"links" must be a list of pairs [a, b]')
        pairs = document["links"]
    else:
        for relay, after in as_object(document["relays"], '"relays"').items():
            if not isinstance(after, list):
                raise InputError(
                    f"relay {quoted(relay)} must have a list of relays that it sends to"
                )
            pairs += [(relay, following) for following in after]
    links = []
    for number, pair in enumerate(pairs):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InputError(f"link {number} must be a pair [a, b]")
        what = f"an end of link {number}"
        links.append((as_name(pair[0], what), as_name(pair[1], what)))
    if not links:
        raise InputError("there is no link; without links nobody reaches an exit")
    return links


def _relays(document: dict[str, Any], key: str) -> dict[str, str | list[str]]:
    """The relay of each name, or a list of those that it may be."""
    given = as_object(document.get(key), f'"{key}"')
    if not given:
        raise InputError(f'"{key}" is empty; name at least one')
    return {
        name: [as_name(one, f"a relay of {quoted(name)} in {quoted(key)}") for one in value]
        if isinstance(value, list)
        else as_name(value, f"{quoted(name)} in {quoted(key)}")
        for name, value in given.items()
    }


def _names(document: dict[str, Any], key: str) -> dict[str, str]:
    given = as_object(document.get(key), f'"{key}"')
    if not given:
        raise InputError(f'"{key}" is empty; name at least one')
    return {
        name: as_name(value, f"{quoted(name)} in {quoted(key)}") for name, value in given.items()
    }


def _true_indices(
    truth: dict[str, str], users: dict[str, Any], behaviours: dict[str, int]
) -> list[int]:
    """The behaviour of each user by index, -1 where the truth is silent."""
    owners: dict[str, str] = {}
    for user, behaviour in truth.items():
        if user not in users:
            raise InputError(
                f'"truth" names the user {quoted(user)}, who is not there; check the name'
            )
        if behaviour not in behaviours:
            raise InputError(
                f'"truth" gives {quoted(user)} the unknown {quoted(behaviour)}; check the name'
            )
        if behaviour in owners:
            raise InputError(
                f'"truth" gives {quoted(behaviour)} to {quoted(owners[behaviour])} and '
                f"{quoted(user)}; keep one"
            )
        owners[behaviour] = user
    return [behaviours[truth[user]] if user in truth else -1 for user in users]


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return read_relays(path, budget=budget)


FORMAT: SourceFormat = SourceFormat(
    text=".json with links between relays, entries of users and exits of behaviours",
    open=_open,
    document=is_relays,
    marks=(b'"links"', b'"relays"'),
)
