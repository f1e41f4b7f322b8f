"""The first lines of the program, outside the package: Ctrl-C is heard while that is imported."""

from __future__ import annotations

import os

__all__ = ["main"]


def main() -> int:
    """Run one command and return its exit code: 130 also if it is interrupted before it begins."""
    try:
        import signal

        heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
        if heard:  # leave at once: an exception amid an import may get lost
            signal.signal(signal.SIGINT, _leave)
        from anonymatch.cli import main as run

        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        return _leave()


def _leave(*_: object) -> int:
    """End with the code of Ctrl-C; whoever closed standard error is told nothing."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)
