"""One function a command: parse, call once, print."""

# ruff: noqa: I001  (help lists commands in the order in which they are registered)
from anonymatch.cli.commands import (
    auditing,
    counting,
    measuring,
    attacking,
    designing,
    checking,
    running,
    files,
    studio,
)

__all__ = [
    "attacking",
    "auditing",
    "checking",
    "counting",
    "designing",
    "files",
    "measuring",
    "running",
    "studio",
]
