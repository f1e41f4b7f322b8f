"""The program: its name, what all its commands share, and how arguments become work."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.cli.commands import load_commands
from anonymatch.cli.console import INTERRUPTED, notes, watch
from anonymatch.cli.help import Group
from anonymatch.cli.options import Options, option, whole

__all__ = ["File", "Out", "app", "load", "option_names", "parse", "top_option"]

_LAW_KEYS = ("decoys", "spends", "merging")  # of files of rings
_KEYS = ("members", "rings", "inputs", "outputs", "links", "relays")  # of rings and relays
_HEAD = 1 << 16  # bytes of a file that show whether it may be these

# Both the click that typer carries and the click of older typers call this UsageError.
_Usage: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="anonymatch",
    cls=Group,
    help=(
        "Measure anonymity: count the ways users can be matched to what an attacker saw.\n\n"
        "FILE is a table user,behaviour[,weight] as .csv, .tsv or .parquet, or a graph as .mtx, "
        ".npz, .json or .jsonl. Start with 'anonymatch demo'."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Who may have done what.")]
Out = Annotated[
    Path | None,
    option("--out", "Save as .csv, .tsv, .parquet, .json or .jsonl.", metavar="FILE"),
]


def top_option(what: str) -> Any:
    """How many lines of a table are shown."""
    text = f"{what} to show; 0 for all (20 unless told)."
    return option("--top", text, metavar="N", parser=whole(0))


def option_names() -> set[str]:
    """Every option of every command."""
    load_commands()
    program: Any = typer.main.get_command(app)
    every = program.commands.values()
    return {name for command in every for param in command.params for name in param.opts}


def parse(arguments: list[str]) -> Callable[[], int | None] | None:
    """The work that the arguments ask for; None if the answer was given (help, version)."""
    load_commands(arguments[0] if arguments else None)
    program = typer.main.get_command(app)
    try:
        work: Any = program.main(args=arguments, prog_name="anonymatch", standalone_mode=False)
    except _Usage as error:
        names = [name for name in arguments[:1] if name in program.commands]  # type: ignore[attr-defined]
        where = " ".join(("anonymatch", *names))
        text = _suggested(error.format_message().strip().rstrip("."))
        see = " See" if text.endswith("?") else "; see"
        raise InputError(f"{text[:1].lower()}{text[1:]}{see} '{where} --help'") from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    if work == INTERRUPTED:  # newer typers return the code of Ctrl-C
        raise KeyboardInterrupt
    return work if callable(work) else None


def _suggested(text: str) -> str:
    """What typer says, with its suggestions worded as everywhere else.

    Some versions put options in quotes, and some say a command twice: once for click.
    """
    text = re.sub(r" \(Possible options?: (.*)\)$", r" Did you mean \1?", text)
    said, *hints = re.split(r"[.,;?]* Did you mean (?:one of:? )?", text)
    if not hints:
        return text
    hint = re.sub(r"'(--[\w-]+)'", r"\1", hints[-1].rstrip("?"))
    return f"{said}; did you mean {hint}?"


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, option("--version", "Print the version.")] = False,
) -> None:
    """What the program is, and its version."""
    if version:
        print(f"anonymatch {am.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help().rstrip())


def load(path: Path, options: Options) -> am.Graph:
    """Read FILE, with its notes on standard error."""
    options.limit_readers()
    with notes():
        return watch(f"reading {path.name}", lambda _: _graph(path, options.of_rings))


def _graph(path: Path, of_rings: dict[str, Any]) -> am.Graph:
    """Of edges, or of rings or relays, which are such a graph too."""
    if of_rings or _may_be_more(path):
        return am.read(path, **of_rings)
    from anonymatch.graph import read  # most are edges: nothing about sources is imported

    return read(path)


def _may_be_more(path: Path) -> bool:
    """Whether the beginning of a file has a word by which rings or relays are known."""
    name = path.name.lower()
    marks = [b"member", b"output"]
    if name.removesuffix(".gz").endswith(".json"):
        marks = [f'"{key}"'.encode() for key in (*_KEYS, *_LAW_KEYS)]
    elif not name.removesuffix(".gz").endswith((".csv", ".tsv")):
        return name.endswith(".parquet")
    try:
        with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
            head = file.read(_HEAD).lower()
    except (OSError, EOFError, zlib.error):
        return False  # whoever reads it says what is wrong
    return any(mark in head for mark in marks)
