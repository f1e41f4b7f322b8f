"""Pages: a frame of plain HTML that holds everything it needs, written complete or not at all."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from anonymatch._native import version
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.base.text import plain
from anonymatch.report.drawings.colours import STYLE

if TYPE_CHECKING:
    from anonymatch.report.html.tables import HtmlTable
    from anonymatch.report.paper_panels import Panel

__all__ = ["Section", "document", "panel_section", "render", "write_html"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: where links find it, what it is called, and its HTML.

    ``entries`` are places inside of it, as pairs of anchor and name, for the table of contents, and
    ``style`` are rules that it needs beside those of every page.
    """

    anchor: str
    title: str
    body: Markup
    entries: tuple[tuple[str, str], ...] = ()
    style: str = ""


def render(template: str, **values: object) -> Markup:
    """A template of this package filled with values; text in them is escaped.

    Examples
    --------
    >>> values = dict.fromkeys(["lead", "version", "style", "script", "allowed"], "")
    >>> print(render("document.html", title="<b>", sections=(), **values).splitlines()[7])
    <title>&lt;b&gt;</title>
    """
    return Markup(_environment().get_template(template).render(**values))


def panel_section(
    anchor: str,
    title: str,
    panels: Sequence[Panel] = (),
    *,
    before: Sequence[str] = (),
    tables: Sequence[tuple[str, HtmlTable]] = (),
    after: Sequence[str] = (),
    style: str = "",
) -> Section:
    """Sentences, then pictures with captions, then tables with names, then what it all means.

    Examples
    --------
    >>> panel_section("one", "First", before=["A & B."]).body.strip()
    Markup('<p>A &amp; B.</p>')
    """
    body = render("audit_panels.html", before=before, items=panels, tables=tables, after=after)
    return Section(anchor, title, body, style=style)


def document(
    title: str, *, lead: str = "", sections: tuple[Section, ...] = (), script: str = ""
) -> str:
    """A whole page with a table of contents.

    It loads nothing and runs nothing but ``script``, follows the reader's choice of light or dark,
    and prints in light. The same values give the same bytes. A script must do without ``<`` and
    ``&``, so that the page is well-formed XML too; whatever else should get into the page as a
    script, browsers refuse to run.

    Examples
    --------
    >>> text = document("A & B", sections=(Section("one", "First", Markup("<p>here</p>")),))
    >>> "<h1>A &amp; B</h1>" in text, '<a href="#one">First</a>' in text
    (True, True)
    """
    if set(script) & set("<&"):
        raise InputError("a script of a page must do without < and &")
    return render(
        "document.html",
        title=title,
        lead=lead,
        script=Markup(script),
        allowed=_allowed(script),
        sections=sections,
        version=version,
        style=Markup("\n".join([STYLE, *(section.style for section in sections if section.style)])),
    ).__str__()


def write_html(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page under ``path``: all of it, or nothing and an InputError.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_html(document("Empty"), Path(folder, "empty.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['empty.html']
    """
    with unfinished(as_path(path)) as beside:
        beside.write_bytes(text.encode())


def _allowed(script: str) -> Markup:
    """The policy for scripts: this one by its digest, or none."""
    if not script:
        return Markup("")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Markup(f"; script-src 'sha256-{digest}'")


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _printable(value: object) -> object:
    """Text without what a page cannot hold; what is HTML already stays as it is."""
    return plain(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
