"""Commands beside the measures: the paper's claims, recorded runs, and the studio."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.base.options import above_zero, argument, option, whole
from anonymatch.cli import json_output, saving
from anonymatch.cli.command import command
from anonymatch.cli.console import show, watch
from anonymatch.cli.options import Options, file_option, top_option

if TYPE_CHECKING:
    from anonymatch.theory.claims import Checks

__all__: list[str] = []

_PRINTED = Path("-")
_MOST_MEGABYTES = 1e6


@dataclass(frozen=True, kw_only=True)
class _Paper:
    claim: Sequence[str] | None = option(
        None, "Check only this claim; may be repeated.", metavar="ID", many=True
    )
    thorough: bool = option(False, "Search all graphs of up to 6 users (some minutes).")
    folder: Path | None = option(
        None, "Keep finished parts of the search here, to continue later.", metavar="FOLDER",
        read=Path,
    )  # fmt: skip
    html: Path | None = file_option("Also write a page with the figures.")
    latex: Path | None = option(
        None,
        "Write the errata as a LaTeX list; without FILE print it and nothing else.",
        metavar="[FILE]",
        read=Path,
        group="Output",
    )


@command(acts=("json", "budget", "threads", "cluster", "resume"))
def paper(*, asked: _Paper, options: Options) -> None:
    """Does the paper hold? Every theorem, lemma, figure and formula."""
    from anonymatch.theory import claims

    if asked.latex == _PRINTED and options.json:
        raise InputError("--latex without a file prints LaTeX; give it a file, or leave out --json")
    checks = watch(
        "checking",
        lambda tell: claims.check(
            asked.claim or None,
            thorough=asked.thorough,
            folder=asked.folder,
            budget=options.effort(),
            executor=options.executor(),
            progress=tell,
        ),
    )
    if asked.html is not None:
        from anonymatch.reporting import paper_html, write_html

        write_html(paper_html(checks), asked.html)
    if asked.latex is not None:
        _write_errata(checks, asked.latex)
    if asked.latex == _PRINTED:
        return
    if options.json:
        json_output.print_json(json_output.plain(checks.to_dict()))
        return
    from anonymatch.cli.screens import paper

    show(*paper.checks_screen(checks, alone=bool(asked.claim)))
    saving.note_written(asked.html, asked.latex)


def _write_errata(checks: Checks, path: Path) -> None:
    from anonymatch.reporting import errata_latex, write_html

    text = errata_latex(checks)
    if path == _PRINTED:
        sys.stdout.write(text)  # not by rich, which would wrap its lines
    else:
        write_html(text, path)


@dataclass(frozen=True, kw_only=True)
class _Run:
    file: Path = argument("RUN", "File that --resume wrote.")
    top: int = top_option("Jobs")


@command(acts=("json",))
def runs(*, asked: _Run, options: Options) -> None:
    """Show the progress of a run recorded with --resume."""
    from anonymatch.running import read_checkpoint

    saved = read_checkpoint(asked.file)
    if options.json:
        record = asdict(saved) | {"done": saved.done, "left": saved.left}
        json_output.print_json(json_output.plain(record))
        return
    from anonymatch.cli.screens import checkpoint

    show(*checkpoint.checkpoint_screen(asked.file.name, saved, top=asked.top))


@dataclass(frozen=True, kw_only=True)
class _Studio:
    port: int = option(8080, "Port on 127.0.0.1.", metavar="P", read=whole(1, 65535))
    upload_limit: float = option(
        200.0,
        "Largest file that may be dropped on a page, in megabytes.",
        metavar="MB",
        unit="MB",
        read=above_zero("megabytes", _MOST_MEGABYTES),
    )
    no_browser: bool = option(False, "Print the address, but do not open a browser.")


@command()
def studio(*, asked: _Studio, options: Options) -> None:
    """Open the studio: the same answers in a browser. On this machine only."""
    from anonymatch.studio.server import serve

    options.limit_readers()
    serve(asked.port, upload_limit=asked.upload_limit, show=not asked.no_browser)
