"""Files of edges: who may have done what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.graph import FORMATS, read
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.observation import Observation

if TYPE_CHECKING:
    from anonymatch.mixes.laws import Law
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.running import Budget

__all__ = ["FORMAT"]


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return Observation(graph=read(path), source=f"edges of {path.name}")


FORMAT: SourceFormat = SourceFormat(text=f"who may have done what: {' '.join(FORMATS)}", open=_open)
