"""The command line: one function a command, which parses, calls once and prints."""

from __future__ import annotations

from anonymatch.cli.console import finish

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 bad input, 130 interrupted."""
    return finish(arguments)
