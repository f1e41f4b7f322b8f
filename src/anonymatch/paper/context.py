"""What the claims of one run share: all small graphs, searched once, and best play on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from anonymatch.paper.play import Play, play, play_seconds
from anonymatch.paper.small_graphs import LARGEST, Survey, survey, survey_seconds
from anonymatch.running import Execution

__all__ = ["ClaimContext"]

_QUICK = 5  # users up to whom all graphs are searched unless more is asked for


class ClaimContext:
    """One run over claims.

    Attributes
    ----------
    thorough : bool
    largest : int
        Users up to whom all graphs are searched.
    """

    def __init__(
        self, *, thorough: bool = False, folder: Path | None = None, effort: Execution | None = None
    ) -> None:
        self.thorough = thorough
        self.largest = LARGEST if thorough else _QUICK
        self._folder = folder
        self._effort = Execution() if effort is None else effort
        self._surveys: dict[int, Survey] = {}
        self._plays: dict[int, Play] = {}

    def predicted(self, needs: str) -> float:
        """Seconds that what is needed takes."""
        sizes = range(1, self.largest + 1)
        seconds = 0.0
        if needs:
            seconds += sum(survey_seconds(n) for n in sizes)
        if needs == "play":
            seconds += sum(play_seconds(n) for n in sizes)
        return seconds

    def survey(self, n: int) -> Survey:
        """All graphs with n users, searched on the first call."""
        if n not in self._surveys:
            self._surveys[n] = survey(n, folder=self._folder, effort=self._effort)
        return self._surveys[n]

    def surveys(self) -> Iterator[Survey]:
        """All graphs with 1, 2, ... users."""
        return (self.survey(n) for n in range(1, self.largest + 1))

    def play(self, n: int) -> Play:
        """Attacks on all graphs with n users, a multiple of n edges and a matching."""
        if n not in self._plays:
            survey = self.survey(n)
            graphs = np.flatnonzero((survey.edges % n == 0) & (survey.matchings > 0))
            self._plays[n] = play(survey, graphs, self._effort)
        return self._plays[n]

    def prepare(self, needs: str) -> None:
        """Search, and play, what is needed."""
        for n in range(1, self.largest + 1):
            if needs:
                self.survey(n)
            if needs == "play":
                self.play(n)

    @property
    def scope(self) -> str:
        """What is searched, in words."""
        number = sum(len(survey.keys) for survey in self.surveys())
        return f"every graph of up to {self.largest} users ({number} up to order)"
