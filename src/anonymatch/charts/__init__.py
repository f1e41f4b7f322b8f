"""Charts that answer back: Vega-Altair made from plain numbers, for pages, notebooks and files.

Altair is imported when a chart is made, so that importing this room costs nothing.
"""

from anonymatch.charts.embedding import EmbeddedChart, chart_script, chart_style, embedded
from anonymatch.charts.files import SUFFIXES, chart_svg, save_chart
from anonymatch.charts.lines import Line, Rule, line_chart, zoom
from anonymatch.charts.palette import DARK, GROUPS, LIGHT
from anonymatch.charts.theme import CATEGORIES, HEIGHT, WIDTH, AnyChart, inline, themed

__all__ = [
    "CATEGORIES",
    "DARK",
    "GROUPS",
    "HEIGHT",
    "LIGHT",
    "SUFFIXES",
    "WIDTH",
    "AnyChart",
    "EmbeddedChart",
    "Line",
    "Rule",
    "chart_script",
    "chart_style",
    "chart_svg",
    "embedded",
    "inline",
    "line_chart",
    "save_chart",
    "themed",
    "zoom",
]
