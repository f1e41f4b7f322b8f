"""How every chart looks: colours, fonts, axes, and its width on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymatch.reporting.charts.palette import GROUPS, LIGHT

if TYPE_CHECKING:
    import altair as alt

__all__ = ["CATEGORIES", "HEIGHT", "WIDTH", "AnyChart", "inline", "selected", "themed"]

WIDTH, HEIGHT = 640, 260
CATEGORIES = [LIGHT[f"c{number}"] for number in range(GROUPS)]
"""Colours of series in their order."""

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'

if TYPE_CHECKING:
    AnyChart = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.FacetChart
else:
    AnyChart = Any


def themed(chart: AnyChart, *, title: str, words: str) -> AnyChart:
    """A chart in the looks of all charts; ``words`` say what it shows to those who do not see it.

    Examples
    --------
    >>> import altair as alt
    >>> points = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> themed(points, title="One", words="One point.").to_dict()["description"]
    'One. One point.'
    """
    said = f"{title}. {words}" if words else title
    dressed: AnyChart = chart.properties(description=said, background=LIGHT["paper"])
    dressed.config = _config()
    return dressed


def inline(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as the data of a chart, inside of it."""
    import altair as alt

    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def selected(name: str, then: float, otherwise: float, *, empty: bool = True) -> Any:
    """A value of what a selection holds, and of the rest; ``empty``: none holds everything.

    Examples
    --------
    >>> selected("shown", 1.0, 0.1)
    {'condition': {'param': 'shown', 'value': 1.0, 'empty': True}, 'value': 0.1}
    """
    return {"condition": {"param": name, "value": then, "empty": empty}, "value": otherwise}


def _config() -> Any:
    import altair as alt

    axis = {
        "labelColor": LIGHT["soft"],
        "titleColor": LIGHT["soft"],
        "titleFontWeight": "normal",
        "gridColor": LIGHT["faint"],
        "gridOpacity": 0.6,
        "domainColor": LIGHT["soft"],
        "tickColor": LIGHT["soft"],
        "labelFontSize": 11,
        "titleFontSize": 12,
        "labelOverlap": True,
    }
    legend = {
        "labelColor": LIGHT["ink"],
        "titleColor": LIGHT["soft"],
        "orient": "top",
        "title": None,
        "labelLimit": 260,
        "columns": 3,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    }
    return alt.Config.from_dict(
        {
            "font": _FONT,
            "axis": axis,
            "legend": legend,
            "view": {"stroke": None},
            "range": {"category": CATEGORIES},
            "mark": {"color": LIGHT["c0"]},
            "text": {"color": LIGHT["ink"], "fontSize": 11},
            "rule": {"color": LIGHT["soft"]},
            "title": {"color": LIGHT["ink"], "fontSize": 13, "anchor": "start"},
        }
    )
