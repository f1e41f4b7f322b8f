"""Files of edges: who may have done what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.graph import FORMATS, read
from anonymatch.sources.formats.source_format import SourceFormat
from anonymatch.sources.observation import Observation

if TYPE_CHECKING:
    from anonymatch.running import Budget
    from anonymatch.sources.laws import Law
    from anonymatch.sources.reading import ReadOptions

__all__ = ["FORMAT"]


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return Observation(graph=read(path), source=f"edges of {path.name}")


FORMAT = SourceFormat(text=f"who may have done what: {' '.join(FORMATS)}", open=_open)
