"""What pages are made of: plain elements of HTML with words, so that every browser knows them.

Inputs keep what the reader typed: they get their value once, as a default, and are built anew when
the page itself changes it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any

from nicegui import ui

from anonymatch.base.text import plain
from anonymatch.graph import plain_cell
from anonymatch.reporting import Picture
from anonymatch.reporting import table as cells
from anonymatch.reporting.charts import AnyChart, chart_attributes
from anonymatch.studio.address import control_of

__all__ = [
    "ChartPlace",
    "DrawnChart",
    "Step",
    "alert",
    "article",
    "box",
    "button",
    "chart",
    "check_box",
    "control_slider",
    "drawn_chart",
    "drop_zone",
    "field",
    "figure",
    "heading",
    "html",
    "link",
    "number_slider",
    "same_result",
    "save",
    "save_table",
    "select",
    "step_slider",
    "switch",
    "table",
    "text",
    "tiles",
]

Handler = Callable[[Any], Awaitable[None] | None]
Click = Callable[[], Awaitable[None] | None]

_VALUE = "(event) => emit(event.target.value)"


def box(tag: str = "div", classes: str = "", **attributes: object) -> ui.element:
    """An element that others are put into; ``aria_label`` is ``aria-label``."""
    made = ui.element(tag).classes(classes)
    for name, value in attributes.items():
        if value is not None:
            made.props[name.rstrip("_").replace("_", "-")] = value
    return made


def html(content: str, tag: str = "div", classes: str = "") -> ui.html:
    """HTML of our own making, in which every text is escaped already."""
    return ui.html(content, sanitize=False, tag=tag).classes(classes)


def text(content: str, tag: str = "p", classes: str = "") -> ui.html:
    """Words, whatever they hold."""
    return html(escape(plain(content)), tag, classes)


def heading(content: str, level: int = 2) -> ui.html:
    """A heading."""
    return text(content, f"h{level}")


def article(noun: str) -> str:
    """The article of a noun of ours.

    Examples
    --------
    >>> [f"{article(noun)} {noun}" for noun in ("input", "user", "person")]
    ['an input', 'a user', 'a person']
    """
    return "an" if noun[:1] in "aeio" else "a"


def alert(content: str) -> ui.element:
    """What went wrong, said at once to those who listen."""
    with box(classes="alert", role="alert") as made:
        text("Not possible", "strong")
        text(content)
    return made


def link(content: str, target: str, classes: str = "", **attributes: object) -> ui.element:
    """A link within the studio."""
    with box("a", classes, href=target, **attributes) as made:
        text(content, "span")
    return made


def button(content: str, on_click: Click, classes: str = "", **attributes: object) -> ui.element:
    """A button."""
    with box("button", f"button {classes}", type="button", **attributes) as made:
        text(content, "span")
    made.on("click", lambda _: on_click(), js_handler="() => emit()")
    return made


def select(
    name: str, options: Mapping[str, str], chosen: str, on_change: Handler, *, hint: str = ""
) -> ui.element:
    """A choice of one from several, with what each is called."""
    with box("label", "field"):
        text(name, "span", "name")
        with box("select", aria_label=name) as made:
            for value, words in options.items():
                made_option = text(words, "option")
                made_option.props["value"] = value
                if value == chosen:
                    made_option.props["selected"] = True
        if hint:
            text(hint, "small", "soft")
    made.on("change", lambda event: on_change(event.args), js_handler=_VALUE)
    return made


def field(
    name: str,
    value: str,
    on_change: Handler,
    *,
    hint: str = "",
    placeholder: str = "",
    suggestions: Sequence[str] = (),
    kind: str = "text",
) -> ui.element:
    """A line to type into; the handler is called when it is finished."""
    with box("label", "field"):
        text(name, "span", "name")
        made = box(
            "input",
            type=kind,
            aria_label=name,
            defaultValue=value,
            placeholder=placeholder or None,
            autocomplete="off",
            spellcheck="false",
        )
        if suggestions:
            with box("datalist") as known:
                for each in suggestions:
                    box("option", value=each)
            made.props["list"] = known.html_id
        if hint:
            text(hint, "small", "soft")
    made.on("change", lambda event: on_change(event.args), js_handler=_VALUE)
    return made


def number_slider(
    name: str,
    value: float,
    on_change: Handler,
    *,
    least: float,
    most: float,
    step: float = 1,
    unit: str = "",
    hint: str = "",
    upper: float | None = None,
) -> None:
    """A number by a slider and by typing; ``upper`` is the most that may be typed."""
    with box("div", "field", role="group", aria_label=name):
        text(f"{name}{f' ({unit})' if unit else ''}", "span", "name")
        with box("div", "pair"):
            for kind, top in (("range", most), ("number", upper or most)):
                made = box(
                    "input",
                    "slider" if kind == "range" else "typed",
                    type=kind,
                    min=least,
                    max=top,
                    step=step,
                    defaultValue=f"{value:.6g}" if isinstance(value, float) else str(value),
                    aria_label=name if kind == "range" else f"{name}, typed",
                )
                made.on(
                    "input" if kind == "range" else "change",
                    lambda event: on_change(event.args),
                    js_handler=_VALUE,
                    throttle=0.25 if kind == "range" else 0.0,
                )
        if hint:
            text(hint, "small", "soft")


def control_slider(owner: object, name: str, on_change: Handler, **changes: Any) -> None:
    """Show a number of a page that :func:`control` declares; ``changes`` are those of Control."""
    known = replace(control_of(owner, name), **changes)
    number_slider(
        known.name,
        getattr(owner, name),
        on_change,
        least=known.slider[0],
        most=known.slider[1],
        step=known.step,
        unit=known.unit,
        hint=known.hint,
        upper=known.most,
    )


def check_box(
    name: str,
    on: bool,
    on_change: Callable[[bool], Awaitable[None] | None],
    *,
    label: str | None = None,
) -> ui.element:
    """Something that is chosen or not; the handler gets whether it is."""
    with box("label", "check"):
        made = box("input", type="checkbox", checked=on, aria_label=label)
        text(name, "span")
    made.on(
        "change",
        lambda event: on_change(bool(event.args)),
        js_handler="(event) => emit(event.target.checked)",
    )
    return made


class Step:
    """A part of a page that folds to its heading; nothing is seen of it while it is hidden."""

    def __init__(self, title: str) -> None:
        self._title = title
        self.whole = box("details", "step hidden", open=True)
        with self.whole:
            with box("summary"):
                self._name = text(title, "h2")
            self.content = box("div")

    def show(self, said: str = "", *, folded: bool = False) -> None:
        """Show it, with a few words beside its heading; ``folded``: only these."""
        self.whole.classes(remove="hidden")
        more = f' <span class="soft">{escape(plain(said))}</span>' if said else ""
        self._name.set_content(f"{escape(self._title)}{more}")
        if folded:
            self.whole.props.pop("open", None)
        else:
            self.whole.props["open"] = True
        self.whole.update()

    def hide(self) -> None:
        self.whole.classes(add="hidden")


def drop_zone(
    target: str,
    slot: str,
    words: str,
    hint: str,
    *,
    limit: int,
    refusal: str,
    several: int = 1,
) -> None:
    """A place to drop a file, or to choose one; it is sent to ``target`` unless it is too large.

    ``several``: so many that are dropped together are sent, one after another.
    """
    given = (target, slot, {"bytes": limit, "words": refusal, "several": several})
    handler = f"studio.dropped({', '.join(map(json.dumps, given))})"
    over = "(event) => {{ event.preventDefault(); event.currentTarget.classList.{}('over') }}"
    with box("div", "drop"):
        with box("label", "dropzone") as zone:
            text(words, "strong")
            text(hint, "div", "soft")
            many = True if several > 1 else None
            chooser = box("input", type="file", aria_label=words, multiple=many)
        text("", "p", "said").props["role"] = "status"
    zone.on("drop", js_handler=handler)
    zone.on("dragover", js_handler=over.format("add"))
    zone.on("dragleave", js_handler=over.format("remove"))
    chooser.on("change", js_handler=handler)


def step_slider(name: str, steps: Sequence[str], at: int, on_change: Handler) -> None:
    """A slider over steps that have names; the handler gets the number of the step."""
    with box("label", "field steps"):
        with box("span", "name"):
            text(f"{name}: ", "span")
            shown = text(steps[at], "span")
            shown.props["aria-hidden"] = "true"  # the slider says it itself
        with box("div", "pair"):
            made = box(
                "input",
                "slider",
                type="range",
                min=0,
                max=len(steps) - 1,
                step=1,
                defaultValue=str(at),
                aria_label=name,
                aria_valuetext=steps[at],
            )

    def moved(event: Any) -> Awaitable[None] | None:
        step = min(max(int(event.args), 0), len(steps) - 1)
        shown.set_content(escape(steps[step]))
        made.props["aria-valuetext"] = steps[step]
        return on_change(step)

    made.on("input", moved, js_handler=_VALUE, throttle=0.1)


def tiles(entries: Iterable[tuple[str, str, str]]) -> None:
    """Scores: what each is called, its value, and one line of meaning."""
    with box("dl", "tiles"):
        for name, value, meaning in entries:
            with box("div", "tile"):
                text(name, "dt")
                text(value, "dd", "value")
                text(meaning, "dd", "soft")


def figure(
    picture: Picture,
    name: str,
    caption: str = "",
    *,
    on_pick: Handler | None = None,
) -> ui.element:
    """A picture that can be saved as SVG and PNG; ``on_pick`` gets the user who is clicked on."""
    with box("figure", "shown broad" if picture.width > 330 else "shown") as made:
        drawn = html(picture.inline(), classes="drawing" + (" pick" if on_pick else ""))
        if on_pick is not None:
            drawn.on("click", lambda event: on_pick(event.args), js_handler="studio.picked(emit)")
        with box("figcaption"):
            if caption:
                text(caption, "span")
            with box("span", "saves"):
                standalone = picture.standalone()
                button(
                    "SVG",
                    lambda: save(standalone, f"{name}.svg", "image/svg+xml"),
                    "quiet",
                    aria_label=f"Save {name} as SVG",
                )
                button(
                    "PNG",
                    lambda: _save_png(standalone, picture, name),
                    "quiet",
                    aria_label=f"Save {name} as PNG",
                )
    return made


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart as a page has it: what its element is told."""

    attributes: Mapping[str, str]


def drawn_chart(made: AnyChart, name: str) -> DrawnChart:
    """A chart for :func:`chart`, saved under ``name``; to make it takes a tenth of a second."""
    return DrawnChart(chart_attributes(made, name))


class ChartPlace:
    """A chart on a page, which is drawn anew when it changes."""

    def __init__(self, element: ui.element) -> None:
        self._element = element

    def draw(self, drawn: DrawnChart) -> None:
        """Another chart in its place."""
        if self._element.props.get("data-spec") != drawn.attributes["data-spec"]:
            self._element.props.update(drawn.attributes)
            self._element.update()


def chart(
    drawn: DrawnChart,
    caption: str = "",
    *,
    on_pick: Handler | None = None,
) -> ChartPlace:
    """A chart that answers the pointer and can be saved as SVG and PNG.

    ``on_pick`` gets the name of the mark that is clicked on, or "".
    """
    with box("figure", "shown charted"):
        shown = box("div", "chart")
        shown.props.update(drawn.attributes)
        if on_pick is not None:
            shown.on(
                "chart-pick",
                lambda event: on_pick(event.args),
                js_handler="(event) => emit(studio.chosen(event.detail))",
            )
        if caption:
            with box("figcaption"):
                text(caption, "span")
    return ChartPlace(shown)


def switch(name: str, on: bool, on_change: Click, classes: str = "") -> ui.element:
    """Something that is on or off."""
    made = box(
        "button", f"switch {classes}", type="button", role="switch", aria_checked=str(on).lower()
    )
    with made:
        box("span", "knob", aria_hidden="true")
        text(name, "span")
    made.on("click", lambda _: on_change(), js_handler="() => emit()")
    return made


def save_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> None:
    """Hand a table to the browser as CSV."""
    save(_csv(columns, rows), f"{name}.csv", "text/csv")


def save(content: str, name: str, kind: str) -> None:
    """Hand a file to the browser."""
    ui.download.content(content.encode(), name, kind)


def _save_png(standalone: str, picture: Picture, name: str) -> None:
    given = ", ".join(
        json.dumps(value) for value in (standalone, picture.width, picture.height, f"{name}.png")
    )
    ui.run_javascript(f"studio.png({given})")


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    name: str,
    *,
    title: str = "",
    saved: Sequence[Sequence[Any]] | None = None,
    saves: bool = True,
) -> None:
    """A table that can be saved as CSV; ``saved`` are the rows of the file, if there are more."""
    shown_cells = cells(columns, rows)
    head = "".join(_cell("th", cell.text, cell.style, ' scope="col"') for cell in shown_cells.heads)
    body = "".join(
        f"<tr>{''.join(_cell('td', cell.text, cell.style) for cell in row)}</tr>"
        for row in shown_cells.rows
    )
    left = f'<p class="soft">{escape(shown_cells.left_out)}</p>' if shown_cells.left_out else ""
    with box("div", "table"):
        scroll = html(
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}",
            classes="scroll",
        )
        scroll.props["tabindex"] = 0
        scroll.props["role"] = "region"
        scroll.props["aria-label"] = title or name
        given = [list(row) for row in (rows if saved is None else saved)]
        if not saves:
            return
        button(
            "Save as CSV",
            lambda: save_table(columns, given, name),
            "quiet",
        )


def _cell(tag: str, content: str, style: str, more: str = "") -> str:
    return f'<{tag} class="{style}"{more}>{escape(plain(content))}</{tag}>'


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        ["" if value is None else plain_cell(str(value)) for value in row] for row in rows
    )
    return text.getvalue()


def same_result(command: str, python: str) -> None:
    """The command line and the Python lines that give what the page shows."""
    with box("details", "same"):
        text("The same on the command line and in Python", "summary")
        for name, content in (("Command line", command), ("Python", python)):
            if content:
                text(name, "h4")
                html(f"<code>{escape(plain(content))}</code>", "pre").props["tabindex"] = 0
                button("Copy", partial(_copy, content), "quiet")


def _copy(content: str) -> None:
    ui.run_javascript(f"studio.copy({json.dumps(content)})")
