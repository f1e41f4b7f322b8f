"""The frame of every page: where one is, where one can go, and the colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from anonymatch._native import version
from anonymatch.reporting import STYLE, render
from anonymatch.reporting import style as audit_style
from anonymatch.reporting.charts import DARK, LIGHT, chart_style
from anonymatch.studio import widgets as w

PAGES = {
    "/": "Start",
    "/design": "Design",
    "/plan": "Plan",
    "/audit": "Audit",
    "/compare": "Compare",
    "/rounds": "Rounds",
    "/attack": "Attack",
    "/paper": "Paper",
}
"""From address to name, in the order of the bar."""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#1666c1"/>'
    '<path d="M9 9L23 23M9 23L23 9" stroke="#fff" stroke-width="2.4"/>'
    '<g fill="#fff"><circle cx="9" cy="9" r="3.4"/><circle cx="9" cy="23" r="3.4"/>'
    '<circle cx="23" cy="9" r="3.4"/><circle cx="23" cy="23" r="3.4"/></g></svg>'
)

HEAD = (
    '<link rel="stylesheet" href="/studio/look.css"/><script src="/studio/studio.js"></script>'
    '<script defer src="/studio/charts.js"></script>\n'
)

_THEME = (
    '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6.2" fill="none" '
    'stroke="currentColor" stroke-width="1.6"/><path d="M8 1.8A6.2 6.2 0 0 1 8 14.2Z" '
    'fill="currentColor"/></svg>'
)


def style(own: str) -> str:
    """All rules of the studio: those of pictures and reports, both themes, and its own."""
    chosen = "".join(
        f':root[data-theme="{name}"]{{color-scheme:{name};{_variables(colours)}}}\n'
        for name, colours in (("light", LIGHT), ("dark", DARK))
    )
    return "\n".join((str(render("page.css")), audit_style(), STYLE, chart_style(), chosen, own))


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


@contextmanager
def frame(here: str, title: str, lead: str) -> Iterator[None]:
    """The bar, a title and a line below it, and a place for everything else."""
    with w.box("div", "studio"):
        w.link("To the content", "#content", "skip")
        with w.box("header", "bar"):
            w.link("anonymatch studio", "/", "home")
            with w.box("nav", aria_label="Pages"), w.box("ul"):
                for route, name in PAGES.items():
                    with w.box("li"):
                        w.link(name, route, aria_current="page" if route == here else None)
            w.html(_THEME, "button", "theme").props["type"] = "button"
        with w.box("main", id="content"):
            w.text(title, "h1")
            w.text(lead, "p", "lead")
            yield
        with w.box("footer", "foot"):
            w.text(
                f"anonymatch {version}. Everything is computed on this machine and stays on it.",
                "p",
            )
