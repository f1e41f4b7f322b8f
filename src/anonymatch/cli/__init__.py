"""The command line: one function a command, which parses, calls once and prints."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 a threshold is missed or the work was
    stopped, 2 bad input, 130 interrupted.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given == ["--version"]:  # without click, which takes longer to import than this to answer
        from anonymatch import __version__

        print(f"anonymatch {__version__}")
        return 0
    from anonymatch.cli.console import finish

    return finish(given)
