"""Charts on pages: a still picture that a script, where it may run, brings to life.

The page needs nothing else: the script is Vega's own, as vl-convert ships it, with Vega's
interpreter of expressions, so that a policy without ``unsafe-eval`` holds. Colours are names of the
page's own (``var(--c0)``), so a chart follows light and dark like everything around it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anonymatch.base.atomic_files import unfinished
from anonymatch.base.text import plain
from anonymatch.reporting.charts.files import static_svg
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import WIDTH, AnyChart

__all__ = ["EmbeddedChart", "chart_attributes", "chart_script", "chart_style", "embedded"]

_SMALL, _AXIS = 400, 70  # units of a plot that is not stretched, and of an axis beside it
_EXPRESSIONS = frozenset({"expr", "labelExpr", "calculate", "filter", "test", "on", "zoom"})
_CONCATENATED = ("vconcat", "hconcat", "concat", "facet")


@dataclass(frozen=True, slots=True)
class EmbeddedChart:
    """A chart as HTML, the width that it would like, and what it shows in words."""

    html: str
    width: float
    words: str

    def __html__(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.html


def embedded(chart: AnyChart, name: str) -> EmbeddedChart:
    """A chart for a page that has :func:`chart_style` and :func:`chart_script`.

    ``name`` is what its saved pictures are called. Without scripts the still picture stays.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}]), width=300).mark_point().encode(x="x:Q")
    >>> embedded(chart, "one").html[:29]
    '<div class="chart" data-name='
    """
    spec = _on_page(chart.to_dict(validate=False))
    still = static_svg(spec, prefix=f"v{_digest(_json(spec))[:10]}-")
    attributes = "".join(
        f" {key}='{_quoted(value)}'" for key, value in _attributes(spec, name).items()
    )
    width = spec.get("width", WIDTH)
    if isinstance(width, int) and width < _SMALL:  # one that is as wide as high stays so
        attributes += f" style='max-width:{width + _AXIS}px'"
    return EmbeddedChart(
        f'<div class="chart"{attributes}><div class="still">{still}</div></div>',
        float(spec.get("width", WIDTH)),
        str(spec.get("description", "")),
    )


def chart_attributes(chart: AnyChart, name: str) -> dict[str, str]:
    """For an element of class ``chart`` on a page that is always alive; no still picture is drawn.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> sorted(chart_attributes(chart, "one"))
    ['data-name', 'data-spec']
    """
    return _attributes(_on_page(chart.to_dict(validate=False)), name)


def _attributes(spec: dict[str, Any], name: str) -> dict[str, str]:
    return {"data-name": name, "data-spec": _json(_shared(_flexible(spec)))}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


@cache
def chart_script() -> str:
    """What brings charts to life: Vega, and how a page uses it.

    Examples
    --------
    >>> "vegaEmbed" in chart_script(), "</script" in chart_script(), "]]>" in chart_script()
    (True, False, False)
    """
    own = Path(__file__).with_name("charts.js").read_text("utf-8")
    # A page is XML, too, where three characters end what a script is wrapped in.
    return f'(() => {{"use strict";{_vega()}\n}})();\n{own}'.replace("]]>", "]] >")


@cache
def chart_style() -> str:
    """Rules for charts on a page."""
    return Path(__file__).with_name("charts.css").read_text("utf-8")


def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script.

    Putting them together takes vl-convert seconds, so the result is remembered beside what other
    programs remember; where that cannot be written, it is made each time.
    """
    import vl_convert

    version = f"{vl_convert.get_vega_version()}-{vl_convert.get_vegalite_versions()[-1]}"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "anonymatch")
    path = folder / f"vega-{version}.js"
    try:
        digest, _, remembered = path.read_text("utf-8").partition("\n")
        if digest == _digest(remembered):
            return remembered
    except (OSError, UnicodeDecodeError):
        pass
    made: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its types forget a default
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished(path) as beside:
            beside.write_text(f"{_digest(made)}\n{made}", "utf-8")
    except Exception:  # a cache that cannot be written is none
        pass
    return made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _on_page(spec: dict[str, Any]) -> dict[str, Any]:
    """Colours by the page's names for them, and no text that a page cannot hold."""
    names = {value: f"var(--{name})" for name, value in LIGHT.items()}

    def walked(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: inside if key in _EXPRESSIONS and isinstance(inside, str) else walked(inside)
                for key, inside in value.items()
            }
        if isinstance(value, list):
            return [walked(inside) for inside in value]
        if isinstance(value, str):
            # Vega takes backslashes in titles for its own, and makes control characters of them.
            return names.get(value) or plain(value).replace("\\", "\N{SET MINUS}")
        return value

    walked_spec: dict[str, Any] = walked(spec)
    return walked_spec


def _flexible(spec: dict[str, Any]) -> dict[str, Any]:
    """As wide as its place; charts of several parts are fitted by the page's script."""
    if any(part in spec for part in _CONCATENATED):
        return spec
    return {**spec, "width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


def _shared(spec: dict[str, Any]) -> dict[str, Any]:
    """Data that several layers have, once."""
    sets: dict[str, list[Any]] = {}
    names: dict[str, str] = {}

    def walked(value: Any) -> Any:
        if isinstance(value, list):
            return [walked(inside) for inside in value]
        if not isinstance(value, dict):
            return value
        if list(value) == ["values"] and isinstance(value["values"], list):
            name = names.setdefault(_json(value["values"]), f"data{len(names)}")
            sets[name] = value["values"]
            return {"name": name}
        return {key: walked(inside) for key, inside in value.items()}

    lean = {key: value if key == "datasets" else walked(value) for key, value in spec.items()}
    return {**lean, "datasets": {**sets, **spec.get("datasets", {})}}


def _quoted(text: str) -> str:
    """As the value of an attribute between single quotes, in HTML and in XML: JSON has few."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;")):
        text = text.replace(character, entity)
    return text
