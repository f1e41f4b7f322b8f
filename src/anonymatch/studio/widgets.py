"""What pages are made of: plain elements of HTML with words, so that every browser knows them.

Inputs keep what the reader typed: they get their value once, as a default, and are built anew when
the page itself changes it.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from nicegui import background_tasks, ui

from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import label, plain
from anonymatch.reporting import Picture
from anonymatch.reporting import table as cells
from anonymatch.reporting.charts import LIGHT, WIDTH, AnyChart, chart_attributes, inline, themed
from anonymatch.reporting.report import Table
from anonymatch.studio.address import control_of
from anonymatch.tabular import plain_cell

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


def number_input(label: str, value: float, on_change: Handler) -> ui.element:
    """Show a number from 0 on to type; the handler is called when it is finished."""
    shown = f"{value:g}"
    return _input(
        "number", on_change, "typed", min=0, step="any", defaultValue=shown, aria_label=label
    )


def _input(
    kind: str, on_change: Handler, classes: str = "", throttle: float = 0.0, **attributes: object
) -> ui.element:
    """Show an input; the handler is called while a slider moves, and when typing is finished."""
    made = box("input", classes, type=kind, **attributes)
    event = "input" if kind == "range" else "change"
    made.on(event, lambda event: on_change(event.args), js_handler=_VALUE, throttle=throttle)
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
    """Show a line to type into; the handler is called when it is finished."""
    with box("label", "field"):
        text(name, "span", "name")
        made = _input(
            kind,
            on_change,
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
    """Show a number as a slider and to type; ``upper`` is the most that may be typed."""
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    same: dict[str, Any] = {"min": least, "step": step, "defaultValue": shown}
    with box("div", "field", role="group", aria_label=name):
        text(f"{name}{f' ({unit})' if unit else ''}", "span", "name")
        with box("div", "pair"):
            _input("range", on_change, "slider", 0.25, max=most, aria_label=name, **same)
            typed = f"{name}, typed"
            _input("number", on_change, "typed", max=upper or most, aria_label=typed, **same)
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
    """Show a slider over steps that have names; the handler gets the number of the step."""

    def moved(given: Any) -> Awaitable[None] | None:
        step = min(max(int(given), 0), len(steps) - 1)
        shown.set_content(escape(steps[step]))
        made.props["aria-valuetext"] = steps[step]
        return on_change(step)

    with box("label", "field steps"):
        with box("span", "name"):
            text(f"{name}: ", "span")
            shown = text(steps[at], "span")
            shown.props["aria-hidden"] = "true"  # the slider says it itself
        with box("div", "pair"):
            made = _input(
                "range",
                moved,
                "slider",
                0.1,
                min=0,
                max=len(steps) - 1,
                step=1,
                defaultValue=str(at),
                aria_label=name,
                aria_valuetext=steps[at],
            )


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
                for kind, saving in (
                    ("SVG", partial(save, standalone, f"{name}.svg", "image/svg+xml")),
                    ("PNG", partial(_save_png, standalone, picture, name)),
                ):
                    button(kind, saving, "quiet", aria_label=f"Save {name} as {kind}")
    return made


class ChartPlace:
    """A chart on a page. It is made in a thread, because that takes tenths of a second."""

    def __init__(self, element: ui.element, name: str) -> None:
        self._element, self._name = element, name

    def draw(self, make: Callable[[], AnyChart | None]) -> None:
        """Show a chart as soon as it is made; nothing if there is none."""
        self._latest = make
        background_tasks.create(self._draw(make), name="studio chart")

    async def _draw(self, make: Callable[[], AnyChart | None]) -> None:
        made = await asyncio.to_thread(self._attributes, make)
        element = self._element
        if make is not self._latest or element.is_deleted:
            return
        with element.client:
            if made is None:
                element.classes(add="hidden")
            else:
                element.props.update(made)
                element.update()

    def _attributes(self, make: Callable[[], AnyChart | None]) -> dict[str, str] | None:
        made = make()
        return None if made is None else chart_attributes(made, self._name)


def chart(
    make: Callable[[], AnyChart | None],
    name: str,
    caption: str = "",
    *,
    on_pick: Handler | None = None,
) -> ChartPlace:
    """Show a chart that answers the pointer and can be saved as SVG and PNG under ``name``.

    ``on_pick`` gets the name of the mark that is clicked on, or "".
    """
    with box("figure", "shown charted"):
        shown = box("div", "chart")
        if on_pick is not None:
            shown.on(
                "chart-pick",
                lambda event: on_pick(event.args),
                js_handler="(event) => emit(studio.chosen(event.detail))",
            )
        if caption:
            with box("figcaption"):
                text(caption, "span")
    place = ChartPlace(shown, name)
    place.draw(make)
    return place


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
        saving = partial(save, _csv(columns, given), f"{name}.csv", "text/csv")
        button("Save as CSV", saving, "quiet")


def report_table(shown: Table, most: int | None = None) -> None:
    """Show a table of a report, or its first rows, with a file of all rows."""
    rows = [
        [column.text(cell) for column, cell in zip(shown.columns, row, strict=True)]
        for row in shown.rows
    ]
    heads = [column.title for column in shown.columns]
    table(heads, rows[:most], shown.key, title=shown.title, saved=rows)


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


def bar_chart(
    rows: Sequence[tuple[Hashable, float]], *, title: str, x_label: str, share: bool = False
) -> AnyChart:
    """A bar a name, in the order given; a bar that is clicked on is told as ``pick``."""
    import altair as alt

    known = [(label(name), float(value)) for name, value in rows]
    named = [{"name": name, "value": value} for name, value in known]
    order = [name for name, _ in known]
    pick = alt.selection_point(name="pick", fields=["name"], empty=False)
    base = alt.Chart(inline(named), width=WIDTH, height=20 * max(len(named), 2))
    form = ".3~%" if share else ",.4~g"
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    bars = base.mark_bar(height={"band": 0.7}, cursor="pointer").encode(
        x=alt.X("value:Q", title=x_label, axis=alt.Axis(format="%" if share else ",.6~g")),
        y=y,
        color=alt.condition(pick, alt.value(LIGHT["c1"]), alt.value(LIGHT["c0"])),
        tooltip=[
            alt.Tooltip("name:N", title="who"),
            alt.Tooltip("value:Q", title=x_label, format=form),
        ],
    )
    texts = base.mark_text(align="left", dx=4).encode(
        x="value:Q", y=y, text=alt.Text("value:Q", format=form)
    )
    chart = alt.layer(bars.add_params(pick), texts)
    few = "; ".join(
        f"{name}: {percent(value) if share else amount(value)}" for name, value in known[:5]
    )
    return themed(chart, title=title, words=f"{few}{' …' if len(named) > 5 else ''}.")
