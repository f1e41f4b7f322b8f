"""How a function becomes a command: options from dataclasses, and help in groups.

A parameter of the function is a dataclass whose fields are options (``anonymatch.base.options``).
Every command also takes every option of :class:`~anonymatch.cli.options.Options`, so that scripts
can pass the same ones to all of them; its help lists those that act on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any, get_type_hints

import click

from anonymatch.base.errors import InputError
from anonymatch.base.options import Option, option_texts
from anonymatch.cli.console import note
from anonymatch.cli.options import Options
from anonymatch.cli.saving import check_targets

__all__ = ["Command", "command", "write_list"]

_READ = ("file", "files", "departures", "original", "truth")  # fields that are files
_NO_FILES = ("sampled", "-")  # which --truth takes instead of a file, and standard output
_STAGES = "*.npz"  # files of a search, in the folder that keeps them
_WRITTEN = ("out", "csv", "html", "latex")
_LAST = ("Output", "Computation")  # sections of a help page
_WIDTH = 80


def command(
    *,
    acts: Iterable[str] = (),
    hidden: Iterable[str] = (),
    without: Iterable[str] = (),
    sources: Iterable[str] = (),
) -> Callable[[Callable[..., int | None]], Command]:
    """Return a decorator that makes a command of a function.

    Parameters
    ----------
    acts : iterable of str
        Fields of Options that act on the command.
    hidden : iterable of str
        Options that the help does not list.
    without : iterable of str
        Fields of the function's dataclasses that the command does not take.
    sources : iterable of str
        Kinds of files whose options the help lists; ``--source KIND --help`` lists those of another
        kind. All are listed if empty.
    """

    def make(function: Callable[..., int | None]) -> Command:
        made = Command(function, frozenset(acts), frozenset(without))
        made.hidden_options, made.sources = frozenset(hidden), frozenset(sources)
        return made

    return make


def _reader(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Return what click calls to read a text; defaults are values already."""

    def convert(given: Any) -> Any:
        try:
            return read(given) if isinstance(given, str) else given
        except InputError as error:
            raise click.BadParameter(str(error)) from None

    return convert


class Command(click.Command):
    """A command that returns its work instead of doing it.

    Click would turn Ctrl-C and broken pipes into messages of its own.
    """

    hidden_options: frozenset[str]
    sources: frozenset[str]

    def __init__(
        self, function: Callable[..., int | None], acts: frozenset[str], without: frozenset[str]
    ) -> None:
        self.function, self.acts = function, acts
        hints = get_type_hints(function)
        self.groups: dict[str, Any] = {
            name: kind
            for name, kind in hints.items()
            if isinstance(kind, type) and is_dataclass(kind)
        }
        self.described: dict[str, Option] = {}
        self._fields: dict[str, list[str]] = {}
        params: list[click.Parameter] = []
        for parameter, kind in self.groups.items():
            texts = option_texts(kind)
            self._fields[parameter] = own = [
                each for each in texts if each not in self.described and each not in without
            ]
            defaults = {each.name: each.default for each in fields(kind)}
            params += [_parameter(name, texts[name], defaults[name]) for name in own]
            self.described |= {name: texts[name] for name in own}
        super().__init__(
            function.__name__,
            params=params,
            callback=self._parsed,
            help=inspect.getdoc(function),
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    def _parsed(self, **values: Any) -> Callable[[], int | None]:
        """Return the work that the options ask for."""
        for name, about in self.described.items():
            if about.many:
                values[name] = _joined(about, about.flags(name)[0], values[name])
        made = {
            parameter: kind(**{name: values[name] for name in self._fields[parameter]})
            for parameter, kind in reversed(self.groups.items())  # first how the command works
        }
        options: Options = made["options"]
        options.check(self.name or "", self.acts)
        _check_files(values, options)
        return partial(_work, partial(self.function, **made), options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Also remark on old names of options."""
        given = [part for arg in args for part in arg.split("=", 1)]
        ctx.meta["source"] = dict(pairwise(given)).get("--source")
        for name, about in self.described.items():
            new, *old = about.flags(name)
            for flag in set(old).intersection(given):
                note(f"{flag} is now {new}; the old name works until 0.3.0")
        return super().parse_args(ctx, args)

    def is_listed(self, name: str, source: str | None = None) -> bool:
        """Return whether the help lists an option."""
        about = self.described[name]
        if name in self._fields["options"] and name not in self.acts:
            return False
        if source is not None and self.sources:
            return about.listed and (not about.sources or source in about.sources)
        if self.sources and about.sources and not about.sources & self.sources:
            return False
        return about.listed and name not in self.hidden_options

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        files = [about.metavar for about in self.described.values() if about.positional]
        formatter.write_usage(ctx.command_path, " ".join((*files, "[OPTIONS]")))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, then options by group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.params:
            name = param.name or ""
            about = self.described[name]
            if about.positional:
                sections["Arguments"].append((about.metavar, about.help))
            elif self.is_listed(name, ctx.meta.get("source")):
                row = f"{about.flags(name)[0]} {about.metavar}".strip(), about.help
                sections.setdefault(about.group, []).append(row)
        sections.setdefault("Output", []).append(("-h, --help", "Show this message and exit."))
        for title in sorted(sections, key=_place):
            write_list(formatter, title, sections[title])


def _place(title: str) -> int:
    """Sections keep their order, but the same two end every page."""
    return _LAST.index(title) + 1 if title in _LAST else 0


def write_list(
    formatter: click.HelpFormatter, title: str, rows: Sequence[tuple[str, str]], first: int = 0
) -> None:
    """Write names and what they mean in two columns; click's own list breaks words at hyphens."""
    if not rows:
        return
    first = 2 + max(first, *(len(name) for name, _ in rows))
    formatter.write(f"\n{title}:\n")
    for name, text in rows:
        lines = wrap(text, _WIDTH - 2 - first, break_on_hyphens=False, break_long_words=False)
        for k, line in enumerate(lines):
            formatter.write(f"  {name if k == 0 else '':{first}}{line}\n")


def _parameter(name: str, about: Option, default: Any) -> click.Parameter:
    read = click.STRING if about.read is None else _reader(about.read)
    required = default is MISSING
    if about.positional:
        count = -1 if about.many else 1
        return click.Argument(
            [name], metavar=about.metavar, type=read, required=required, nargs=count
        )
    declared = [*about.flags(name), name]
    if not about.metavar:
        return click.Option(declared, is_flag=True, default=False)
    more: dict[str, Any] = {"flag_value": "-"} if about.metavar == "[FILE]" else {}
    if not required:  # to click 8.3 and later a default of None is a value
        more["default"] = None if about.many else default
    return click.Option(
        declared,
        metavar=about.metavar,
        type=read,
        required=required,
        multiple=about.many,
        is_flag=False,
        **more,
    )


def _joined(about: Option, flag: str, given: Sequence[Any]) -> Any:
    if not given or about.join is None:
        return list(given) or None
    try:
        return about.join(given)
    except InputError as error:
        raise InputError(f"{flag} {error}") from None


def _check_files(values: dict[str, Any], options: Options) -> None:
    """Refuse files to write that are read too, whatever the command."""
    read = [path for name in _READ for path in _places(values.get(name))]
    read += [stage for path in _places(values.get("folder")) for stage in path.glob(_STAGES)]
    written = [path for name in _WRITTEN for path in _places(values.get(name))]
    check_targets(read, [*written, *_places(options.resume)])


def _places(value: Path | str | list[Path] | None) -> list[Path]:
    if value is None or str(value) in _NO_FILES:
        return []
    return [Path(value)] if isinstance(value, Path | str) else list(value)


def _work(function: Callable[[], int | None], options: Options) -> int | None:
    """Do the work of a command and let go of what it opened; Ctrl-C waits for nothing."""
    try:
        code = function()
    except KeyboardInterrupt:
        raise
    except BaseException:
        options.close()
        raise
    options.close()
    return code
