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
from anonymatch.reporting.charts import chart_script, chart_style
from anonymatch.reporting.drawings.svg import STYLE

if TYPE_CHECKING:
    from anonymatch.graph import Graph
    from anonymatch.reporting.charts import EmbeddedChart
    from anonymatch.reporting.drawings.svg import Picture

__all__ = [
    "Panel",
    "Section",
    "document",
    "render",
    "script",
    "style",
    "with_hint",
    "write_html",
]


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture or chart with a line below it; ``graph`` is what was counted for that line."""

    picture: Picture | EmbeddedChart
    caption: str
    graph: Graph | None = None


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
    >>> values = dict.fromkeys(["lead", "version", "style", "scripts", "charts", "allowed"], "")
    >>> print(render("document.html", title="<b>", sections=(), **values).splitlines()[7])
    <title>&lt;b&gt;</title>
    """
    return Markup(_environment().get_template(template).render(**values))


@cache
def script() -> str:
    """What sorts and searches tables, in the reader's browser."""
    return Path(__file__).with_name("templates").joinpath("table.js").read_text("utf-8")


@cache
def style() -> str:
    """Rules of audits beside those of every page."""
    return Path(__file__).with_name("templates").joinpath("audit.css").read_text("utf-8")


def with_hint(caption: str, hint: str) -> Markup:
    """A caption with a sentence on what can be done with a chart, shown where scripts run.

    Examples
    --------
    >>> with_hint("A & B.", "Drag to move.")
    Markup('A &amp; B. <span class="hint">Drag to move.</span>')
    """
    return Markup('{} <span class="hint">{}</span>').format(caption, hint)


def document(
    title: str, *, lead: str = "", sections: tuple[Section, ...] = (), script: str = ""
) -> str:
    """A whole page with a table of contents.

    It loads nothing and runs nothing but ``script`` and what brings its charts to life, follows the
    reader's choice of light or dark, and prints in light. The same values give the same bytes. The
    page is well-formed XML too; whatever else should get into the page as a script, browsers refuse
    to run.

    Examples
    --------
    >>> text = document("A & B", sections=(Section("one", "First", Markup("<p>here</p>")),))
    >>> "<h1>A &amp; B</h1>" in text, '<a href="#one">First</a>' in text
    (True, True)
    """
    charts = any('class="chart"' in section.body for section in sections)
    scripts = [f"{text}\n" for text in (script, chart_script() if charts else "") if text]
    if any(end in text for text in scripts for end in ("]]>", "</script")):
        raise InputError("a script of a page must do without ]]> and </script")
    wrapped = [f"//<![CDATA[\n{text}//]]>" for text in scripts]
    styles = [STYLE, chart_style() if charts else "", *(section.style for section in sections)]
    return render(
        "document.html",
        title=title,
        lead=lead,
        scripts=[Markup(text) for text in wrapped],
        charts=charts,
        allowed=_allowed(wrapped),
        sections=sections,
        version=version,
        style=Markup("\n".join(filter(None, styles))),
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


def _allowed(scripts: Sequence[str]) -> Markup:
    """The policy for scripts: these by their digests, or none; charts are saved as images."""
    if not scripts:
        return Markup("")
    digests = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts
    )
    listed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return Markup(f"; script-src {listed}; img-src blob: data:")


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
