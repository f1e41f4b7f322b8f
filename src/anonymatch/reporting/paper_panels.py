"""Panel: a picture or chart with a line below it."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.graph import Graph
from anonymatch.reporting.charts import EmbeddedChart
from anonymatch.reporting.drawings.svg import Picture


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture or chart with a line below it; ``graph`` is what was counted for that line."""

    picture: Picture | EmbeddedChart
    caption: str
    graph: Graph | None = None
