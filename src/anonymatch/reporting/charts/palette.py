"""Colours of charts and drawings: told apart by colour-blind readers, in light and in dark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["DARK", "GROUPS", "LIGHT"]

GROUPS = 6

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#ffffff",
        "card": "#f5f7f9",
        "ink": "#1c2127",
        "soft": "#59636e",
        "line": "#8791a0",
        "faint": "#d5dbe2",
        "c0": "#1666c1",
        "c1": "#b93a08",
        "c2": "#0f8f76",
        "c3": "#84277c",
        "c4": "#a87f00",
        "c5": "#343b44",
    }
)
"""From the name of a colour to its value on white: ``c0`` to ``c5`` tell groups apart."""

DARK: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#15181c",
        "card": "#1e2328",
        "ink": "#e9edf1",
        "soft": "#a3adb9",
        "line": "#768190",
        "faint": "#3a424c",
        "c0": "#4f97fb",
        "c1": "#ff7f45",
        "c2": "#35cfae",
        "c3": "#e29ae6",
        "c4": "#f4d35e",
        "c5": "#f1f3f5",
    }
)
