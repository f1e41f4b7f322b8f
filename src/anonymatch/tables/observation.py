"""TableObservation: people of an original table and rows of a released one."""

from __future__ import annotations

from dataclasses import dataclass, field

from anonymatch.mixes import PEOPLE, Nouns, Observation
from anonymatch.tables.reading.release import Release

__all__ = ["TableObservation"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableObservation(Observation):
    """People and rows by classes; a large release has no graph.

    Attributes
    ----------
    release : Release
    """

    nouns: Nouns = PEOPLE
    release: Release = field(repr=False)
