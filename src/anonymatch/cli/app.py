"""The program: its commands in groups, loaded when they are asked for, and its errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from anonymatch import __version__
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.cli.command import Command, write_list
from anonymatch.cli.commands import COMMANDS, GROUPS

__all__ = ["load_command", "option_names", "parse", "program"]

_LINE = 60  # letters of a summary beside the longest name of a command


def load_command(name: str) -> Command:
    """Return a command; only its own module is imported."""
    module = import_module(f"anonymatch.cli.commands.{COMMANDS[name]}")
    made: Command = getattr(module, name.split()[-1])
    return made


class Commands(click.Group):
    """The program, or its commands for one problem: those whose name has two words."""

    def __init__(self, name: str, prefix: str = "", **more: Any) -> None:
        self.prefix = prefix
        super().__init__(
            name,
            invoke_without_command=True,
            callback=_show_help,
            context_settings={"help_option_names": ["-h", "--help"]},
            subcommand_metavar="COMMAND ...",
            options_metavar="",
            **more,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the first words of the commands' names."""
        rest = [name.removeprefix(self.prefix) for name in COMMANDS if name.startswith(self.prefix)]
        return list(dict.fromkeys(name.partition(" ")[0] for name in rest))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or the commands of a problem."""
        full = f"{self.prefix}{cmd_name}"
        if full in COMMANDS:
            return load_command(full)
        deeper = any(name.startswith(f"{full} ") for name in COMMANDS)
        return Commands(cmd_name, f"{full} ") if deeper else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command if there is none of this name."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by group, then the options."""
        names = [name for name in COMMANDS if name.startswith(self.prefix)]
        for title, commands in GROUPS.items():
            rows = [
                (name, _summary(load_command(name).help or ""))
                for name in commands
                if name in names
            ]
            write_list(formatter, title, rows, max(map(len, names)))
        click.Command.format_options(self, ctx, formatter)
        formatter.write(f"\n'{ctx.command_path} COMMAND --help' lists what a command takes.\n")


@click.pass_context
def _show_help(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help().rstrip())


program = Commands(
    "anonymatch",
    help=(
        "Measure anonymity: count the ways users can be matched to what an attacker saw.\n\n"
        "FILE is a message log, or a graph: a table user,behaviour[,weight] as .csv, .tsv or "
        ".parquet, or .mtx, .npz, .json or .jsonl. Start with 'anonymatch demo'."
    ),
)
click.version_option(__version__, message="%(prog)s %(version)s", help="Print the version.")(
    program
)


def _summary(text: str, most: int = _LINE) -> str:
    r"""Return the sentences that fit a line of the list; the first one at least.

    Examples
    --------
    >>> _summary("Is it good? For whom? Everything.\n\nAnd more.", 25)
    'Is it good? For whom?'
    """
    first = text.partition("\n\n")[0].replace("\n", " ")
    ends = [sentence.end() for sentence in re.finditer(r"[.?](?= |$)", first)]
    return first[: max((end for end in ends if end <= most), default=min(ends, default=None))]


def option_names() -> set[str]:
    """Return every option of every command."""
    every = map(load_command, COMMANDS)
    return {name for command in every for param in command.params for name in param.opts}


def parse(arguments: list[str]) -> Callable[[], int | None] | None:
    """Return the work that the arguments ask for; None if the answer was given (help, version)."""
    try:
        work = program.main(args=arguments, prog_name="anonymatch", standalone_mode=False)
    except click.UsageError as error:
        text, where = _message(error), error.ctx.command_path if error.ctx else "anonymatch"
        see = " See" if text.endswith("?") else "; see"
        raise InputError(f"{text[:1].lower()}{text[1:]}{see} '{where} --help'") from None
    except click.Abort:
        raise KeyboardInterrupt from None
    return work if callable(work) else None


def _message(error: click.UsageError) -> str:
    if not isinstance(error, click.NoSuchOption):
        return error.format_message().strip().rstrip(".")
    near = f"; did you mean {', '.join(error.possibilities)}?" if error.possibilities else ""
    return f"no such option: {error.option_name}{near}"
