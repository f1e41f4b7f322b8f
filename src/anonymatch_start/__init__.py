"""The first lines of the program, outside the package: Ctrl-C is heard while that is imported."""

# Nothing is imported here that Python has not loaded already: until main runs, nobody hears Ctrl-C.
import os
import sys

TYPE_CHECKING = False  # that of typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["AT_THE_END", "leave", "listen", "listen_as_module", "main"]

AT_THE_END: "list[Callable[[], object]]" = []
"""What is done before an interrupted program ends, since nothing else is unwound then."""


def main() -> int:
    """Run one command and return its exit code: 130 also if it is interrupted before it begins."""
    try:
        listen()
        _check_room()
        from anonymatch.cli import main as run

        return run()
    except KeyboardInterrupt:
        leave()


def listen() -> None:
    """From here on Ctrl-C ends the program at once, unless it was started to ignore that.

    An exception would come amid an import or in the middle of tidying up, where it may get lost.
    """
    import _signal  # type: ignore[import-not-found]  # (the half of signal that is there at once)

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, leave)


def listen_as_module() -> None:
    """Begin as main does if this is ``python -m anonymatch``: that imports the package first."""
    if sys.argv[:1] == ["-m"]:  # so it is until the module is found
        requested = sys.orig_argv[len(sys.orig_argv) - len(sys.argv)]
        if requested.removeprefix("-m") == "anonymatch":
            listen()
            _check_room()


def _check_room() -> None:
    """Refuse a limit on addresses under which libraries cannot be loaded."""
    from anonymatch_start.address_space import shortage

    short = shortage("to start", 0.5, 0.1)  # measured: 0.34, and 0.08 for each thread of BLAS
    if short:
        os.write(2, f"error: {short}\n".encode())
        raise SystemExit(2)


def leave(*_: object) -> "NoReturn":
    """End now, with the code of Ctrl-C: threads may be in the middle of a kernel.

    Whoever closed standard error is told nothing.
    """
    try:
        import _signal

        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # once is enough
        for tidy in AT_THE_END:
            tidy()
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)
