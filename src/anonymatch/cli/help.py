"""The screens of --help: plain lines in place of typer's boxes and type names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from anonymatch.cli.commands import COMMANDS

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LIVE", "Command", "Group"]

_LINE = 66  # of 80 letters, beside the longest name of a command

LIVE: dict[str, Callable[[], str]] = {}
"""Options whose line is made when it is shown, by name: it lists what may change."""

Entry = tuple[str, str]
"""A name and what it means."""


class Command(TyperCommand):
    """A command whose help lists its arguments and the options that act on it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options whose value may be left out, as in ``[FILE]``, get "-": standard output."""
        free = {
            name
            for param in self.get_params(ctx)
            if str(param.metavar).startswith("[")
            for name in param.opts
        }
        return super().parse_args(ctx, list(_filled(args, free)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the screen."""
        files = _rows(self.get_params(ctx), "argument")
        usage = " ".join((ctx.command_path, *(name for name, _ in files), "[OPTIONS]"))
        lists = ("Arguments", files), ("Options", _rows(self.get_params(ctx), "option"))
        _write(formatter, usage, self.help or "", lists)


class Group(TyperGroup):
    """The program, whose help lists its commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of their table, whichever was loaded first."""
        return [name for name in COMMANDS if name in self.commands]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the screen."""
        commands = [
            (name, _first_line(self.commands[name].help or "")) for name in self.list_commands(ctx)
        ]
        lists = ("Commands", commands), ("Options", _rows(self.get_params(ctx), "option"))
        end = f"'{ctx.command_path} COMMAND --help' lists what a command takes."
        _write(formatter, f"{ctx.command_path} COMMAND ...", self.help or "", lists, end)


def _filled(args: Sequence[str], free: Collection[str]) -> Iterable[str]:
    """The arguments with a "-" after each of these options that no value follows.

    Examples
    --------
    >>> list(_filled(["--latex", "--json"], {"--latex"})), list(_filled(["--latex"], {"--latex"}))
    (['--latex', '-', '--json'], ['--latex', '-'])
    """
    for arg, following in zip_longest(args, args[1:], fillvalue="--"):
        yield arg
        if arg in free and following.startswith("--"):
            yield "-"


def _first_line(text: str, most: int = _LINE) -> str:
    r"""The sentences that fit a line of the list; the first one at least.

    Examples
    --------
    >>> _first_line("Is it good? For whom? Everything.\n\nAnd more.", 25)
    'Is it good? For whom?'
    """
    first = text.partition("\n")[0]
    ends = [sentence.end() for sentence in re.finditer(r"[.?](?= |$)", first)]
    return first[: max((end for end in ends if end <= most), default=min(ends, default=None))]


def _rows(params: Iterable[Any], kind: str) -> list[Entry]:
    shown = (param for param in params if param.param_type_name == kind and not param.hidden)
    return [(_name(param), _text(param)) for param in shown]


def _text(param: Any) -> str:
    live = LIVE.get(param.help)  # the name stands for a line that is made
    return str(param.help) if live is None else live()


def _name(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar)
    names = ", ".join(sorted(param.opts, key=len))
    return names if param.is_flag else f"{names} {param.metavar}"


def _write(
    formatter: Any,
    usage: str,
    text: str,
    lists: Iterable[tuple[str, Sequence[Entry]]],
    end: str = "",
) -> None:
    from anonymatch.cli.console import as_text

    formatter.write(as_text(*_screen(usage, text, lists, end)))


def _screen(
    usage: str, text: str, lists: Iterable[tuple[str, Sequence[Entry]]], end: str
) -> Iterable[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    yield Text.assemble(("Usage: ", "bold"), usage)
    yield Text(f"\n{text}")
    for title, rows in lists:
        if rows:
            grid = Table.grid(padding=(0, 2))
            grid.add_column(no_wrap=True, style="cyan")
            grid.add_column()
            for row in rows:
                grid.add_row(*(Text(part) for part in row))
            yield Text(f"\n{title}", style="bold")
            yield Padding(grid, (0, 0, 0, 2))
    if end:
        yield Text(f"\n{end}")
