"""What rounds tell: profiles, the curve of decay, its half-life, and who falls first."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, span
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import label, several
from anonymatch.disclosure.decay import OPEN_GAP, CurvePoint

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.disclosure.logs.round_log import RoundLog
    from anonymatch.disclosure.methods.posterior import Profiles
    from anonymatch.reporting.charts import AnyChart

__all__ = ["DISAGREE", "Disclosure", "UserFall"]


DISAGREE = 1.5
"""R-hat of the log posterior above which there is a note. A limit of 1.2 would ask for more work
where the half-life is right already: 200 users in rounds of 20 reach 78 rounds at R-hat 1.21."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFall:
    """How one user stands after all rounds."""

    user: Hashable
    messages: int
    bits: float  # about the receiver of a message of theirs
    believed: float
    right: float | None
    half_life: float | None  # rounds until half their bits are left; None: not in this log
    friends: float  # behaviours that they write to, as many equally likely ones
    why: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Disclosure(Summarised):
    """What an attacker learns from users who stay the same over rounds.

    Attributes
    ----------
    method : str
    log : RoundLog
    curve : tuple of CurvePoint
        Bits about a message's receiver, share of best guesses that are right (if the truth is
        known) and what the attacker believes it is, by rounds seen.
    half_life : float or None
        Rounds until half the bits of one round are left; None if this log is too short for that, or
        chains from opposite starts differ by more than 0.1 bits there.
    half_life_between : Interval or None
        From where chains that began at likely matchings put it to where those that began at
        random put it, with their 95 % intervals. An end that the log is too short for is infinite.
    half_life_error : float or None
        One standard error by how stretches of the log differ: what another log of such users would
        change.
    gap, end_gap : float or None
        Bits by which chains from opposite starts differ, at the half-life and after all rounds.
    users : tuple of UserFall
        Who falls first comes first.
    calibrated : bool or None
        Whether the share that is right is what is believed, and the log score what bits are, within
        three standard errors each; None if the truth is not known, the method believes nothing, or
        chains disagree.
    log_score : float or None
        Mean of -log2 of the probability of the true receiver after all rounds, to be compared with
        bits.
    profiles_at : dict of int to Profiles
        Who writes to whom by the first rounds alone, by how many of them were seen, for `gibbs`;
        users who have not sent yet are not in it.
    drift : float or None
        How far profiles of the first and the last rounds differ, as a multiple of what chance
        does; from 2 on users do not stay the same.
    rhat : float or None
        How far chains agree, of those that the half-life and the end of the curve rest on: 1 if
        they do.
    notes : tuple of str

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.rounds(am.disclosure.synthesize_rounds(40, users=12, friends=2, batch=4, seed=1))
    >>> found.users[0].why, 1 < found.half_life < 40, found.calibrated
    ('has few friends', True, True)
    """

    method: str
    log: RoundLog = field(repr=False)
    seed: int
    target: Hashable | None = None
    curve: tuple[CurvePoint, ...] = field(default=(), repr=False)
    half_life_between: Interval | None = None
    users: tuple[UserFall, ...] = field(default=(), repr=False)
    pairs: Profiles = field(repr=False)
    profiles_at: Mapping[int, Profiles] = field(default_factory=dict, repr=False)
    half_life_error: float | None = None
    gap: float | None = None
    end_gap: float | None = None
    calibrated: bool | None = None
    log_score: float | None = None
    drift: float | None = None
    rhat: float | None = None
    sweeps: int | None = None
    strength: float | None = None
    bits: float | None = None
    friend_sets: tuple[tuple[tuple[Hashable, ...], int], ...] | None = field(
        default=None, repr=False
    )
    sets: int | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def half_life(self) -> float | None:
        between = self.half_life_between
        if between is None or math.isinf(between.value) or (self.gap or 0.0) > OPEN_GAP:
            return None
        return between.value

    def chart(self, name: str = "bits") -> AnyChart:
        """A chart for notebooks and files.

        Parameters
        ----------
        name : {"bits", "guesses"}
            Bits, or best guesses that are right and what is believed of them, by rounds seen.
        """
        from anonymatch.disclosure.charts import disclosure_charts
        from anonymatch.reporting.charts import named_chart

        return named_chart(disclosure_charts(self), name, "this disclosure")

    @property
    def right(self) -> float | None:
        """Share of best guesses that are right after all rounds."""
        last = self.curve[-1].right if self.curve else None
        return None if last is None else last.value

    @property
    def believed(self) -> float | None:
        """What the attacker believes that share to be."""
        last = self.curve[-1].believed if self.curve else None
        return None if last is None else last.value

    @property
    def profiles(self) -> pl.DataFrame:
        """Frame of user, behaviour, probability and its error, by user; likeliest first."""
        import polars as pl

        from anonymatch.base.frames import Frame

        order = np.lexsort((self.pairs.behaviour, -self.pairs.probability, self.pairs.user))
        user, behaviour = self.pairs.user[order], self.pairs.behaviour[order]
        error = self.pairs.error
        return Frame(
            {
                "user": [self.log.users[k] for k in user.tolist()],
                "behaviour": [self.log.behaviours[k] for k in behaviour.tolist()],
                "probability": self.pairs.probability[order],
                "error": pl.Series([None] * len(order), dtype=pl.Float64)
                if error is None
                else error[order],
            },
            strict=False,
        )

    @property
    def decay(self) -> pl.DataFrame:
        """Frame of the curve: rounds, bits, right, believed, and the ends of their intervals."""
        import polars as pl

        from anonymatch.base.frames import Frame

        columns: dict[str, Any] = {"rounds": [one.rounds for one in self.curve]}
        for end in ("value", "low", "high"):
            for name in ("bits", "right", "believed"):
                title = name if end == "value" else f"{name}_{end}"
                columns[title] = pl.Series(
                    [_end(getattr(one, name), end) for one in self.curve], dtype=pl.Float64
                )
        return Frame(columns)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write it as one HTML page that needs nothing else."""
        # A step up in the layers, as for audits: a reader looks for the report here.
        from anonymatch.disclosure.report import rounds_report
        from anonymatch.reporting import write_report_html

        write_report_html(rounds_report(self), path)

    def __str__(self) -> str:
        from anonymatch.disclosure.wording import half_life_ends

        lasts = f"half-life above {several(self.log.n_rounds, 'round')}"
        if self.half_life is not None:
            lasts = f"half-life {amount(self.half_life)} rounds"
        elif self.half_life_between is not None:
            lasts = f"half-life {half_life_ends(self.half_life_between)} rounds"
        return f"{self.method}, {self.log!r}, {lasts}"

    def _figures(self) -> Figures:
        from anonymatch.disclosure.wording import half_life_ends

        between = self.half_life_between
        if between is not None:
            lasts = half_life_ends(between)
            if self.half_life is not None:
                lasts = span(between.value, between.low, between.high)
            yield ("half-life", f"{lasts} rounds", "until half the bits about receivers are gone")
        if self.bits is not None:
            yield ("bits", amount(self.bits), "left about the receivers of a message")
        if self.right is not None:
            yield ("right", percent(self.right), "of best guesses after all rounds")
        if self.believed is not None:
            yield ("believed", percent(self.believed), "what the attacker takes that share to be")
        if self.users:
            first = self.users[0]
            yield ("falls first", label(first.user), first.why)
        yield ("method", self.method, "")


def _end(interval: Interval | None, end: str) -> float | None:
    return None if interval is None else float(getattr(interval, end))
