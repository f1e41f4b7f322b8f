"""Standard output and error, the progress bar, and how a command ends.

Answers go to standard output and everything else to standard error, so that pipes stay clean. Long
work runs in a thread of its own while the main thread waits: only so can Ctrl-C be answered in the
middle of a kernel.
"""

from __future__ import annotations

import errno
import math
import os
import shlex
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from anonymatch.base import text
from anonymatch.base.atomic_files import discard_unfinished
from anonymatch.base.errors import AnonymatchError, BudgetError, InputError, StoppedError
from anonymatch.base.text import Argument
from anonymatch.cli import words
from anonymatch.running import CancelToken, Progress
from anonymatch_start import AT_THE_END, leave
from anonymatch_start.address_space import limit, shortage

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress as Bar

__all__ = [
    "BAD_INPUT",
    "DONE",
    "INTERRUPTED",
    "MISSED",
    "STOPPED",
    "as_text",
    "finish",
    "note",
    "notes",
    "pipe_may_close",
    "show",
    "typed",
    "watch",
]

T = TypeVar("T")

DONE, MISSED, STOPPED, BAD_INPUT, INTERRUPTED = 0, 1, 1, 2, 130
AT_THE_END.append(discard_unfinished)
_PATIENCE = 0.4  # seconds before a bar appears: shorter work needs none
_GLANCE = 0.05  # seconds at most until Ctrl-C is heard
_FIRST_LINE, _LONGEST_PAUSE = 15.0, 120.0  # seconds between lines where there is no terminal
_GRACE = 0.9  # seconds that work which is asked to end may take to say what it has


# ---- how a command ends


def finish(arguments: list[str]) -> int:
    """Run a command; say in one line what went wrong, and return the exit code."""
    _open_streams()
    _look_out_for_tables()
    code: int | None = None
    try:
        from anonymatch.cli.app import parse

        work = parse(arguments)
        code = None if work is None else work()
        sys.stdout.flush()
        return DONE if code is None else code
    except BudgetError as error:
        return _refuse(_over_budget(error))
    except StoppedError as error:
        return _refuse(error.message.worded(_option), STOPPED)
    except AnonymatchError as error:
        return _refuse(error.message.worded(_option))
    except BrokenPipeError:  # the reader of the pipe has seen enough
        _drop_output()
        return DONE if code is None else code
    except OSError as error:
        return _refuse(_not_written(error))
    except MemoryError:
        return _refuse("there is not enough memory; allow less with --memory, or split the graph")
    except KeyboardInterrupt:
        leave()


def _open_streams() -> None:
    """Streams that take every name; a stream that the caller has closed becomes one that refuses.

    Python leaves None there. The null device opened for reading fails on the first flush, as a full
    disk does; what would go to standard error is dropped.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (open until the end)
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show is no error
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")


class _Tables:
    """Refuses to import polars under a limit on addresses in which it would end the process."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        short = shortage("to read or write tables", 1.5, 0.25) if name == "polars" else ""
        if short:
            raise InputError(short)


def _look_out_for_tables() -> None:
    if limit() < math.inf and _Tables not in sys.meta_path:
        sys.meta_path.insert(0, _Tables)  # measured: 1.1 GiB, and 0.2 for each core


def _not_written(error: OSError) -> str:
    """Why something was not written: a file with its name, else standard output."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}; choose another file"
    _drop_output()
    if error.errno == errno.EBADF:
        return "standard output is closed; let the answer go somewhere"
    room = "; make room for it" if error.errno == errno.ENOSPC else ""
    return f"cannot write the answer ({error.strerror or error}){room}"


def _refuse(message: str, exit_code: int = BAD_INPUT) -> int:
    print(f"error: {text.name(message)}", file=sys.stderr)
    return exit_code


def _drop_output() -> None:
    """Let what is left of the output go nowhere: Python would complain again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _over_budget(error: BudgetError) -> str:
    """The refusal; where no budget is enough, it says where to look instead."""
    if math.isinf(error.cost.seconds) and not error.instead:
        where = f"{error.where}: " if error.where else ""
        return f"{where}no exact method reaches a block of this graph; see 'anonymatch bounds'"
    return error.message.worded(_option)


def _option(argument: Argument) -> str:
    """The option that gives an argument; what no command takes keeps its name."""
    from anonymatch.cli.app import option_names

    text = words.option(argument)
    return text if text.partition(" ")[0] in option_names() else str(argument)


# ---- what is said


def note(message: object) -> None:
    """Say something on standard error that is no error."""
    print(f"note: {text.name(message)}", file=sys.stderr)


def typed() -> str:
    """Return the command line that was typed, for reports."""
    return shlex.join(["anonymatch", *sys.argv[1:]])


@contextmanager
def notes() -> Iterator[list[str]]:
    """Collect what the package remarks about a file or an answer, and say it at the end."""
    from anonymatch import ApproximateNote, FileNote

    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        for kind in (FileNote, ApproximateNote):
            warnings.simplefilter("always", kind)
        yield remarks
    for warning in caught:
        if issubclass(warning.category, FileNote | ApproximateNote):
            remarks.append(str(warning.message))
            note(warning.message)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def show(*parts: RenderableType) -> None:
    """Print for people: in colour on a terminal, plain text of 80 columns in a pipe."""
    text = as_text(*parts)
    with pipe_may_close():
        sys.stdout.write(text)


@contextmanager
def pipe_may_close() -> Iterator[None]:
    """Write an answer; where the reader of the pipe has seen enough, the work goes on without."""
    try:
        yield
    except BrokenPipeError:
        _drop_output()


def as_text(*parts: RenderableType) -> str:
    """What :func:`show` prints."""
    console = _console(stderr=False)
    with console.capture() as text:
        for part in parts:
            console.print(part)
    # Trailing blanks only disturb those who copy or compare the text.
    return "".join(f"{line.rstrip()}\n" for line in text.get().splitlines())


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 80
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


# ---- long work


def watch(what: str, work: Callable[[Progress], T], *, stop: CancelToken | None = None) -> T:
    """The result of ``work``, with a bar on a terminal, while Ctrl-C stays alive.

    Where standard error is no terminal, long work says in a line now and then how far it is.
    With a ``stop``, Ctrl-C asks work that has something to show for what it has.
    """
    result: Future[T] = Future()
    bar = _bar() if sys.stderr.isatty() else None
    task = None if bar is None else bar.add_task(what, total=None)
    lines = _Lines(what)

    def tell(done: float, total: float) -> None:
        lines.done, lines.total = done, total
        if bar is not None and task is not None and total > 0:
            bar.update(task, completed=done, total=total)

    def go() -> None:
        try:
            with nullcontext() if stop is None else stop.active():
                result.set_result(work(tell))
        except BaseException as error:
            result.set_exception(error)

    Thread(target=go, daemon=True).start()
    try:
        with _interruptible():
            if wait([result], timeout=_PATIENCE).not_done:
                with nullcontext() if bar is None else _shown(bar):
                    # Look up now and then: once polars has read a file, its signal handler lets a
                    # wait without a limit sleep through Ctrl-C.
                    while wait([result], timeout=_GLANCE).not_done:
                        if bar is None:
                            lines.look()
    except KeyboardInterrupt:
        if stop is None or not stop.useful:
            raise
        stop.cancel()
        if wait([result], timeout=_GRACE).not_done:
            raise
    return result.result()


class _Lines:
    """How far work is, in a line now and then: for logs of programs that nobody watches."""

    def __init__(self, what: str) -> None:
        self.what, self.done, self.total = what, 0.0, 0.0
        self.began, self.pause = time.monotonic(), _FIRST_LINE
        self.next = self.began + self.pause

    def look(self) -> None:
        """Say it, if it is time for it; pauses grow with the work."""
        now = time.monotonic()
        if now < self.next:
            return
        share = f"{100 * min(self.done / self.total, 1.0):.0f} %" if self.total > 0 else "at work"
        print(f"{self.what}: {share} after {now - self.began:.0f} s", file=sys.stderr, flush=True)
        self.next, self.pause = now + self.pause, min(2 * self.pause, _LONGEST_PAUSE)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C is an exception in here, where the program would end at once."""
    if signal.getsignal(signal.SIGINT) is not leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, leave)


@contextmanager
def _shown(bar: Bar) -> Iterator[None]:
    """Draw a bar in a thread of its own: Ctrl-C ends the main one, and would leave it half drawn,
    with the cursor hidden and what is said next lost.
    """
    ended, gone = Event(), Event()

    def draw() -> None:
        with bar:
            ended.wait()
        gone.set()

    try:
        Thread(target=draw, daemon=True).start()
        yield
    finally:
        ended.set()
        gone.wait(timeout=_GRACE)


def _bar() -> Bar:
    from rich import progress

    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=_console(stderr=True),
        transient=True,
    )
