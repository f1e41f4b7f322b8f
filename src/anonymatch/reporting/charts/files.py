"""Charts as pictures: SVG, PNG and PDF, without a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from anonymatch.base.atomic_files import as_path, check_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.reporting.charts.theme import AnyChart

__all__ = ["SUFFIXES", "chart_svg", "save_chart", "save_charts", "static_svg"]

_SCALE = 2.0  # pixels of a PNG a unit, for print
_PLACES = re.compile(r' (?:d|transform|x|y|x1|y1|x2|y2|width|height)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{3,}")
_ALIKE = re.compile(r'<path d="[^"]*"([^>]*)/>(?:<path d="[^"]*"\1/>)+')
_PATH = re.compile(r'<path d="([^"]*)"')


def _svg(spec: dict[str, Any]) -> bytes:
    return static_svg(spec).encode()


def _png(spec: dict[str, Any]) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_png(without_selections(spec), scale=_SCALE)


def _pdf(spec: dict[str, Any]) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_pdf(without_selections(spec))


_WRITERS: dict[str, Callable[[dict[str, Any]], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf}

SUFFIXES = tuple(_WRITERS)
"""What a chart can be written as."""


def save_chart(chart: AnyChart, path: str | os.PathLike[str]) -> None:
    """Write a chart under ``path``, as its suffix says: all of it, or nothing and an InputError.

    Examples
    --------
    >>> import altair as alt, pathlib, tempfile
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(chart, f"{folder}/one.svg")
    ...     pathlib.Path(folder, "one.svg").read_text()[:4]
    '<svg'
    """
    target = as_path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{target}: charts are written as {known}, not {target.suffix!r}")
    written = writer(chart.to_dict(validate=False))
    with unfinished(target) as beside:
        beside.write_bytes(written)


def save_charts(
    makers: Mapping[str, Callable[[], AnyChart]], folder: str | os.PathLike[str], kind: str = "svg"
) -> list[Path]:
    """Write charts into ``folder`` under their names, and return where they are.

    All are drawn and written beside before the first has its name, and what cannot be replaced is
    found before any is drawn. The folder is made if it is not there.

    Examples
    --------
    >>> import altair as alt, pathlib, tempfile
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_charts({"one": lambda: chart}, folder)]
    ['one.svg']
    """
    writer = _WRITERS.get(f".{kind}")
    if writer is None:
        known = ", ".join(suffix[1:] for suffix in SUFFIXES)
        raise InputError(f"charts are written as {known}, not {kind!r}")
    target = as_path(folder)
    paths = {
        target / f"{re.sub(r'[^A-Za-z0-9_-]', '', name)}.{kind}": make
        for name, make in makers.items()
    }
    if os.path.isdir(target):
        for path in paths:
            check_path(path)
    drawn = {path: writer(make().to_dict(validate=False)) for path, make in paths.items()}
    if drawn:
        try:
            target.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{target}: cannot make this folder ({error.strerror})") from None
    with ExitStack() as files:
        for path, content in drawn.items():
            files.enter_context(unfinished(path)).write_bytes(content)
    return list(drawn)


def chart_svg(chart: AnyChart) -> str:
    """A chart as SVG.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> chart_svg(chart).startswith("<svg")
    True
    """
    return static_svg(chart.to_dict(validate=False))


def static_svg(spec: dict[str, Any], *, prefix: str = "v") -> str:
    """A specification as SVG; names inside of it begin with ``prefix``, as a page may hold many."""
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(without_selections(spec))
    names = {
        name: f"{prefix}{number}" for number, name in enumerate(re.findall(r'id="(\w+)"', drawn))
    }
    named = re.sub(r'(id="|url\(#)(\w+)', lambda found: found[1] + names[found[2]], drawn)
    return _joined(_rounded(named))


def _rounded(drawn: str) -> str:
    """Places to a hundredth of a unit: Vega writes seventeen digits."""

    def short(attribute: re.Match[str]) -> str:
        return _LONG.sub(
            lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), attribute[0]
        )

    return _PLACES.sub(short, drawn)


def _joined(drawn: str) -> str:
    """Paths that follow each other and look alike, and that no reader is told of, as one."""

    def one(run: re.Match[str]) -> str:
        return f'<path d="{"".join(_PATH.findall(run[0]))}"{run[1]}/>'

    return _ALIKE.sub(one, drawn)


def without_selections(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart as it is before anybody points at it, without what a pointer would need.

    Vega draws areas around points that can be pointed at, and marks that wait unseen: in a picture
    they only take room.

    Examples
    --------
    >>> pale = {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0}
    >>> layers = [{"mark": "line"}, {"mark": "rule", "encoding": {"opacity": pale}}]
    >>> without_selections({"layer": layers, "params": [{"name": "near"}]})
    {'layer': [{'mark': 'line'}]}
    """
    names = [re.escape(param["name"]) for param in _params(spec)]
    still: dict[str, Any] = _unselected(spec, re.compile(rf"\b({'|'.join(names)})\b"))
    return still


def _params(value: Any) -> list[dict[str, Any]]:
    """All parameters of a chart and of its parts."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = value.get("params", []) if isinstance(value, dict) else []
    return [*own, *(param for part in parts if part is not own for param in _params(part))]


def _unselected(value: Any, names: re.Pattern[str]) -> Any:
    if isinstance(value, list):
        return [_unselected(inside, names) for inside in value if not _unseen(inside, names)]
    if not isinstance(value, dict):
        return value
    condition = value.get("condition")
    if isinstance(condition, dict) and _selects(condition, names):
        return {"value": (condition if condition.get("empty", True) else value)["value"]}
    return {
        key: inside if key in ("data", "datasets") else _unselected(inside, names)
        for key, inside in value.items()
        if key != "params"
    }


def _selects(condition: dict[str, Any], names: re.Pattern[str]) -> bool:
    """Whether a condition is about a selection; before one is made, it holds unless it says so."""
    test = condition.get("test")
    return "param" in condition or (isinstance(test, str) and names.search(test) is not None)


def _unseen(layer: Any, names: re.Pattern[str]) -> bool:
    """Whether a layer is there for a pointer alone."""
    if not isinstance(layer, dict) or "mark" not in layer:
        return False
    opacity = _unselected(layer.get("encoding", {}).get("opacity"), names)
    return isinstance(opacity, dict) and opacity.get("value") == 0
