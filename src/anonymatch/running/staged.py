"""One bar for work in stages that know nothing of each other."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["StagedProgress"]

Progress = Callable[[float, float], None]


class StagedProgress:
    """Tells how far all stages together are: its share never falls.

    Parameters
    ----------
    progress : callable or None
        Called with the work done and the work in all, in predicted seconds.
    seconds : float
        That all stages together are expected to take; 0 if nobody knows.

    Examples
    --------
    >>> bar = StagedProgress(lambda done, total: print(done, total), 10.0)
    0.0 10.0
    >>> first = bar.stage()
    >>> first(2.0, 4.0)
    2.0 10.0
    >>> second = bar.stage()
    >>> second(1.0, 5.0)
    3.0 10.0
    >>> bar.finish()
    10.0 10.0
    """

    def __init__(self, progress: Progress | None, seconds: float) -> None:
        self._progress, self._foreseen = progress, seconds
        self._before = self._done = self._share = 0.0
        if seconds > 0.0:
            self._tell(0.0, seconds)

    def stage(self) -> Progress | None:
        """What the next stage is to tell, from 0 on; those before it have ended."""
        if self._progress is None:
            return None
        self._before += self._done
        self._done = 0.0
        return self._of_stage

    def finish(self) -> None:
        """All is done, whatever was expected besides."""
        if self._foreseen > 0.0:
            self._tell(self._foreseen, self._foreseen)

    def _of_stage(self, done: float, total: float) -> None:
        self._done = max(self._done, done)
        # Stages to come may need what this one leaves, so that the whole never shrinks.
        self._foreseen = max(self._foreseen, self._before + total)
        self._tell(self._before + self._done, self._foreseen)

    def _tell(self, done: float, total: float) -> None:
        self._share = min(max(self._share, done / total if total > 0.0 else 0.0), 1.0)
        if self._progress is not None:
            self._progress(self._share * total, total)
