"""Charts that answer back: Vega-Altair made from plain numbers, for pages, notebooks and files.

Altair is imported when a chart is made, so that importing this room costs nothing.
"""

from anonymatch.reporting.charts.bars import (
    bar_chart as bar_chart,
    interval_bars as interval_bars,
)
from anonymatch.reporting.charts.calibration import (
    Kept as Kept,
    calibration_chart as calibration_chart,
)
from anonymatch.reporting.charts.embedding import (
    EmbeddedChart as EmbeddedChart,
    chart_attributes as chart_attributes,
    chart_script as chart_script,
    chart_style as chart_style,
    embedded as embedded,
)
from anonymatch.reporting.charts.files import (
    SUFFIXES as SUFFIXES,
    chart_svg as chart_svg,
    save_chart as save_chart,
    save_charts as save_charts,
)
from anonymatch.reporting.charts.front import (
    Chosen as Chosen,
    FrontLine as FrontLine,
    front_chart as front_chart,
)
from anonymatch.reporting.charts.histogram import (
    Mark as Mark,
    histogram_chart as histogram_chart,
)
from anonymatch.reporting.charts.lines import (
    Line as Line,
    Rule as Rule,
    line_chart as line_chart,
    zoom as zoom,
)
from anonymatch.reporting.charts.matrix import (
    CELLS as CELLS,
    matrix_over_time as matrix_over_time,
)
from anonymatch.reporting.charts.named import (
    named_chart as named_chart,
)
from anonymatch.reporting.charts.over_time import (
    Inside as Inside,
    TimedLine as TimedLine,
    inside_in_words as inside_in_words,
    inside_over_time as inside_over_time,
    stretch_ends as stretch_ends,
    time_chart as time_chart,
)
from anonymatch.reporting.charts.palette import (
    DARK as DARK,
    GROUPS as GROUPS,
    LIGHT as LIGHT,
)
from anonymatch.reporting.charts.points import (
    Difference as Difference,
    SystemPoint as SystemPoint,
    difference_chart as difference_chart,
    point_chart as point_chart,
)
from anonymatch.reporting.charts.scatter import (
    Point as Point,
    scatter_chart as scatter_chart,
)
from anonymatch.reporting.charts.theme import (
    AnyChart as AnyChart,
    CATEGORIES as CATEGORIES,
    HEIGHT as HEIGHT,
    WIDTH as WIDTH,
    inline as inline,
    themed as themed,
)
