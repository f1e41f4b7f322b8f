"""Charts that answer back: Vega-Altair made from plain numbers, for pages, notebooks and files.

Altair is imported when a chart is made, so that importing this room costs nothing.
"""

from anonymatch.charts.bars import bar_chart, interval_bars
from anonymatch.charts.calibration import Kept, calibration_chart
from anonymatch.charts.embedding import (
    EmbeddedChart,
    chart_attributes,
    chart_script,
    chart_style,
    embedded,
)
from anonymatch.charts.files import SUFFIXES, chart_svg, save_chart, save_charts
from anonymatch.charts.front import Chosen, FrontLine, front_chart
from anonymatch.charts.histogram import Mark, histogram_chart
from anonymatch.charts.lines import Line, Rule, line_chart, zoom
from anonymatch.charts.matrix import CELLS, matrix_over_time
from anonymatch.charts.named import named_chart
from anonymatch.charts.over_time import (
    Inside,
    TimedLine,
    inside_in_words,
    inside_over_time,
    stretch_ends,
    time_chart,
)
from anonymatch.charts.palette import DARK, GROUPS, LIGHT
from anonymatch.charts.points import Difference, SystemPoint, difference_chart, point_chart
from anonymatch.charts.scatter import Point, scatter_chart
from anonymatch.charts.theme import CATEGORIES, HEIGHT, WIDTH, AnyChart, inline, themed

__all__ = [
    "CATEGORIES",
    "CELLS",
    "DARK",
    "GROUPS",
    "HEIGHT",
    "LIGHT",
    "SUFFIXES",
    "WIDTH",
    "AnyChart",
    "Chosen",
    "Difference",
    "EmbeddedChart",
    "FrontLine",
    "Inside",
    "Kept",
    "Line",
    "Mark",
    "Point",
    "Rule",
    "SystemPoint",
    "TimedLine",
    "bar_chart",
    "calibration_chart",
    "chart_attributes",
    "chart_script",
    "chart_style",
    "chart_svg",
    "difference_chart",
    "embedded",
    "front_chart",
    "histogram_chart",
    "inline",
    "inside_in_words",
    "inside_over_time",
    "interval_bars",
    "line_chart",
    "matrix_over_time",
    "named_chart",
    "point_chart",
    "save_chart",
    "save_charts",
    "scatter_chart",
    "stretch_ends",
    "themed",
    "time_chart",
    "zoom",
]
