"""Faces of rooms that import a module when somebody first asks for a name that it holds.

A short command uses few modules of a large room, and imports are most of its time. Whoever imports
such a room and writes ``counting.count(graph)`` pays for ``count`` when that line runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["on_first_use"]


def on_first_use(room: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a room: ``modules`` has the names that each of its modules holds.

    A module is there by its own name, too.

    Examples
    --------
    >>> face = on_first_use("anonymatch.base", {"text": "quoted several"})
    >>> face("several")(2, "user")
    '2 users'
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807  (what errors call it)
        if name in modules:
            return import_module(f"{room}.{name}")
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{homes[name]}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return __getattr__
