"""The command that checks the paper, claim by claim."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from anonymatch.base.errors import InputError
from anonymatch.cli import json_output
from anonymatch.cli.app import app
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, command, option

if TYPE_CHECKING:
    from anonymatch.theory.claims import Checks

__all__: list[str] = []

_PRINTED = Path("-")


@command(app, acts=("json", "budget", "threads", "cluster", "resume"))
def paper(
    *,
    claim: Annotated[
        list[str] | None, option("--claim", "Only this claim; may be repeated.", metavar="ID")
    ] = None,
    thorough: Annotated[
        bool, option("--thorough", "Search all graphs of up to 6 users (some minutes).")
    ] = False,
    folder: Annotated[
        Path | None,
        option("--folder", "Keep what the search finished here, to go on later.", metavar="FOLDER"),
    ] = None,
    html: Annotated[
        Path | None, option("--html", "Also write a page with the figures.", metavar="FILE")
    ] = None,
    latex: Annotated[
        Path | None,
        option(
            "--latex",
            "Write the errata as a LaTeX list; without FILE print it and nothing else.",
            metavar="[FILE]",
        ),
    ] = None,
    options: Options,
) -> None:
    """Does the paper hold? Every theorem, lemma, figure and formula."""
    from anonymatch.theory import claims

    if latex == _PRINTED and options.json:
        raise InputError("--latex without a file prints LaTeX; give it a file, or leave out --json")
    checks = watch(
        "checking",
        lambda tell: claims.check(
            claim or None,
            thorough=thorough,
            folder=folder,
            budget=options.effort(),
            executor=options.executor(),
            progress=tell,
        ),
    )
    if html is not None:
        from anonymatch.reporting import paper_html, write_html

        write_html(paper_html(checks), html)
    if latex is not None:
        _write_errata(checks, latex)
    if latex == _PRINTED:
        return
    if options.json:
        json_output.print_json(json_output.plain(checks.to_dict()))
        return
    from anonymatch.cli.screens import paper

    show(*paper.checks_screen(checks, alone=bool(claim)))
    for path in (html, latex):
        if path is not None:
            note(f"wrote {path}")


def _write_errata(checks: Checks, path: Path) -> None:
    from anonymatch.reporting import errata_latex, write_html

    text = errata_latex(checks)
    if path == _PRINTED:
        sys.stdout.write(text)  # not by rich, which would wrap its lines
    else:
        write_html(text, path)
