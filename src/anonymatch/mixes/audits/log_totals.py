"""totals(): one mix and a log of any length, in constant memory: all messages together, no names.

The log is read twice in stretches: forwards to know how many are inside where each begins, and
backwards for what is open for those who are inside where it ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes import LAWS, Exponential, FlushLaw, FlushTotals, Law, law_name, parse_law
from anonymatch.running import Progress, check_work

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LogTotals", "totals"]

_ROWS = 2_000_000  # at a time: some 200 MiB
_FLAGS = ("cover", "dummy", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTotals:
    """Figures of all messages of a log together; see :func:`totals`.

    Examples
    --------
    >>> import tempfile, os, anonymatch as am
    >>> path = os.path.join(tempfile.mkdtemp(), "log.parquet")
    >>> am.mixes.write_messages(am.mixes.synthesize("threshold:8", messages=800), path)
    >>> figures = am.totals(path, law="threshold")
    >>> figures.messages, figures.entropy, figures.identified
    (800, 3.0, 0)

    Attributes
    ----------
    messages : int
    entropy, worst_5, worst_1 : float
        Shannon entropy of the posterior about one message in bits: the mean, and what the worst 5 %
        and 1 % do not exceed (down to a thousandth).
    min_entropy : float
        The mean of -log2 of the best guess's probability.
    identified : int
        Messages that are known for certain.
    joint_bits : float
        log2 of the matchings, per message.
    ceiling : float
        Mean entropy that nothing exceeds with as many messages inside.
    inside : float
        Messages in the mix before a departure, on average.
    mean_delay : float
        Seconds.
    inside_at_end : int
        Messages that had not come out. They are taken to be inside, which is one more outcome for
        those who may be; if they were lost, messages hide among fewer.
    """

    messages: int
    entropy: float
    worst_5: float
    worst_1: float
    min_entropy: float
    identified: int
    joint_bits: float
    ceiling: float
    inside: float
    mean_delay: float
    inside_at_end: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys."""
        return asdict(self)


def totals(
    path: str | os.PathLike[str],
    *,
    law: Law | str,
    rows: int = _ROWS,
    progress: Progress | None = None,
) -> LogTotals:
    """Figures of a log of any length through one mix, in constant memory.

    Parameters
    ----------
    path : path
        A .parquet file in order of time with the columns ``time`` (seconds) and ``direction`` (in
        or out). Nothing is lost: who has not come out is inside.
    law : Law or str
        A mix that chooses uniformly among those inside: exponential, threshold, timed, pool,
        timed-pool, binomial or cottrell. Its numbers do not matter, and whether the log fits them
        is not looked at.
    rows : int
        So many are in memory at a time.
    progress : callable, optional
        Called with the rows read and the rows in all.

    Examples
    --------
    >>> import tempfile, os, anonymatch as am
    >>> path = os.path.join(tempfile.mkdtemp(), "log.parquet")
    >>> am.mixes.write_messages(am.mixes.synthesize("exponential:5", messages=2000), path)
    >>> 3 < am.totals(path, law="exponential", rows=100).entropy < 4
    True
    """
    _check_law(law)
    log = _Log(Path(path), whole(rows, "rows", least=1))
    inside, delays, done, origin, last = 0, 0.0, 0.0, math.nan, math.nan
    stretches: list[tuple[int, int, int]] = []  # begin, end, messages inside at the beginning
    for begin, end, time, comes in log.forwards():
        stretches.append((begin, end, inside))
        inside += 2 * int(comes.sum()) - len(comes)
        origin, last = float(time[0]) if math.isnan(origin) else origin, float(time[-1])
        delays += float(np.where(comes, origin - time, time - origin).sum())
        done += end - begin
        _tell(progress, done, 2 * log.number)
    if inside < 0:
        more = several(-inside, "message")
        raise InputError(
            f"{log.path}: {more} more came out than in; leave out the start of a log that begins "
            "in mid traffic"
        )
    delays += inside * (last - origin)  # so far
    sums = FlushTotals()
    for begin, end, start in reversed(stretches):
        _, comes = log.stretch(begin, end)
        if not sums.add_before(comes, start):
            raise InputError(
                f"{log.path}: rows {begin + 1:,} to {end:,}: a message leaves an empty mix; check "
                "times and directions"
            )
        done += end - begin
        _tell(progress, done, 2 * log.number)
    if not sums.messages:
        raise InputError(f"{log.path}: no message came out after one had come in")
    return LogTotals(
        messages=sums.messages,
        entropy=sums.mean_bits,
        worst_5=sums.quantile(0.05),
        worst_1=sums.quantile(0.01),
        min_entropy=sums.mean_min_entropy,
        identified=sums.identified,
        joint_bits=sums.joint_bits / sums.messages,
        ceiling=sums.ceiling,
        inside=sums.inside_sum / sums.departures,
        mean_delay=delays / sums.messages,
        inside_at_end=inside,
    )


def _tell(progress: Progress | None, done: float, total: float) -> None:
    check_work()
    if progress is not None:
        progress(done, total)


def _check_law(law: Law | str) -> None:
    kind: object = LAWS.get(law_name(law)) if isinstance(law, str) and ":" not in law else None
    if kind is None:
        kind = type(parse_law(law) if isinstance(law, str) else law)
    if not (isinstance(kind, type) and issubclass(kind, Exponential | FlushLaw)):
        raise InputError(
            Argument("law"),
            " must be a mix that chooses uniformly among those inside: exponential, threshold, "
            "timed, pool, timed-pool, binomial or cottrell",
        )


class _Log:
    """A log in order of time, read in stretches between different times."""

    def __init__(self, path: Path, rows: int) -> None:
        import polars as pl

        from anonymatch.tabular import check_readable, reading

        self.path, self.rows = path, rows
        with reading(path):
            if path.suffix.lower() != ".parquet":
                raise InputError("give a .parquet file, which can be read in stretches")
        try:
            check_readable(path)
            self.frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            schema = self.frame.collect_schema()
            self.number = int(self.frame.select(pl.len()).collect(engine="streaming").item())
            self.flags = [name for name in _FLAGS if name in schema]
            used = [name for name in ("time", "direction", *self.flags) if name in schema]
            check_readable(path, used)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{path}: {str(error).splitlines()[0]}") from None
        except InputError as error:
            raise error.about(path) from None
        for name in ("time", "direction"):
            if name not in schema:
                raise InputError(f"{path}: there is no column {name}")
        if not schema["time"].is_numeric():
            raise InputError(f"{path}: column time must be seconds")
        if not self.number:
            raise InputError(f"{path}: there is no row")
        first = self.frame.select("time").head(1).collect().item()
        self.first = first if isinstance(first, int) and abs(first) < 2**62 else 0

    def forwards(self) -> Iterator[tuple[int, int, Floats, Bools]]:
        """Stretches in order, each as its first row, the row behind it, times and directions."""
        begin, last = 0, -math.inf
        while begin < self.number:
            end = min(begin + self.rows, self.number)
            time, comes = self._in_order(begin, end, last)
            while end < self.number and time[0] == time[-1]:  # one time fills all of it
                end = min(end + self.rows, self.number)
                time, comes = self._in_order(begin, end, last)
            if end < self.number:  # what shares its last time belongs to the next
                end = begin + int(np.searchsorted(time, time[-1], side="left"))
                time, comes = time[: end - begin], comes[: end - begin]
            last = float(time[-1])
            yield begin, end, time, comes
            begin = end

    def _in_order(self, begin: int, end: int, last: float) -> tuple[Floats, Bools]:
        time, comes = self._read(begin, end)
        if time[0] < last or (np.diff(time) < 0).any():
            raise InputError(
                f"{self.path}: rows {begin + 1:,} to {end:,} are not in order of time; sort the "
                "file by time"
            )
        return time, comes

    def stretch(self, begin: int, end: int) -> tuple[Floats, Bools]:
        """At equal times messages come in before others leave."""
        time, comes = self._read(begin, end)
        order = np.lexsort((~comes, time))
        return time[order], comes[order]

    def _read(self, begin: int, end: int) -> tuple[Floats, Bools]:
        import polars as pl

        columns = ["time", "direction", *self.flags]
        part: pl.DataFrame = self.frame.select(columns).slice(begin, end - begin).collect()
        for name in self.flags:
            if part[name].cast(pl.String).str.to_lowercase().is_in(["true", "1", "yes"]).any():
                raise InputError(
                    f"{self.path}: column {name} flags messages; these figures are for logs "
                    "without, so audit it as a whole"
                )
        words = part["direction"].cast(pl.String)
        comes = (words == "in").fill_null(value=False).to_numpy()
        odd = np.flatnonzero(~comes & ~(words == "out").fill_null(value=False).to_numpy())
        if len(odd):
            raise InputError(
                f"{self.path}: row {begin + int(odd[0]) + 1:,}: direction is in or out"
            )
        times = part["time"]
        if (
            times.dtype.is_integer()
        ):  # from the first on, as float64 cannot hold nanoseconds of 1970
            times = times.cast(pl.Int64, strict=False) - self.first
        time = times.cast(pl.Float64).fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(~np.isfinite(time))
        if len(wrong):
            raise InputError(f"{self.path}: row {begin + int(wrong[0]) + 1:,}: there is no time")
        return time, comes
