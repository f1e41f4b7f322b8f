"""Names of readers and delay laws as in version 0.1; they move to their problems in 0.3.0."""

from __future__ import annotations

from importlib import import_module

_HOMES = ("mixes", "tables", "rings", "disclosure", "tabular")


def __getattr__(name: str) -> object:
    for home in _HOMES:
        module = import_module(f"anonymatch.{home}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
