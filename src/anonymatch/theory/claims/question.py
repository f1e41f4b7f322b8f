"""How claims are asked: trials on instances, verdicts, evidence, and the small graphs they share.

A function decorated with the id of a claim tries the paper's statement, and the corrected one, on
instances. The verdict follows from what the trials gave, by :func:`judge` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.graph import Graph
from anonymatch.running import Execution
from anonymatch.theory.claims.claim import Evidence, Verdict
from anonymatch.theory.claims.small_graphs import (
    SEARCH,
    Keys,
    Survey,
    survey,
    survey_seconds,
    unpack,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A statement tried on instances: how many, and those for which it is false."""

    tested: int
    failed: tuple[Any, ...]

    @property
    def holds(self) -> bool:
        """True on every instance, of which there was at least one."""
        return self.tested > 0 and not self.failed

    def __str__(self) -> str:
        return f"{self.tested - len(self.failed)} of {self.tested}"


def trial(cases: Iterable[tuple[Any, ...]], holds: Callable[..., bool]) -> Trial:
    """Try a statement on every case; a case has its arguments.

    Examples
    --------
    >>> print(trial([(1, 1), (2, 4), (3, 8)], lambda n, square: n * n == square))
    2 of 3
    """
    tested, failed = 0, []
    for case in cases:
        tested += 1
        if not holds(*case):
            failed.append(case)
    return Trial(tested, tuple(failed))


def judge(as_written: bool, *, corrected: bool = False, conditional: bool = False) -> Verdict:
    """The verdict: on the statement as written, else on its corrected form, else on a part of it.

    Each says that it is true on every instance; ``conditional``, on those that meet a condition.

    Examples
    --------
    >>> judge(False, corrected=True), judge(False)
    (<Verdict.MISPRINT: 'misprint'>, <Verdict.FAILS: 'fails'>)
    """
    if as_written:
        return Verdict.HOLDS
    if corrected:
        return Verdict.MISPRINT
    return Verdict.CONDITION if conditional else Verdict.FAILS


class Finding:
    """What a check computed: its verdict, the evidence for it, and a sentence.

    Sentences that are None are those of the claim's row in ``claims.toml``. ``corrected`` is shown
    unless the claim holds; ``brief`` is the same in a few words. Both may have formulas as TeX.
    """

    def __init__(
        self,
        verdict: Verdict,
        *evidence: Evidence,
        finding: str,
        searched: str | None = None,
        corrected: str | None = None,
        brief: str | None = None,
        counterexample: tuple[str, ...] | None = None,
        partition: tuple[str, ...] | None = None,
    ) -> None:
        self.verdict, self.evidence, self.finding = verdict, evidence, finding
        self.searched, self.corrected, self.brief = searched, corrected, brief
        self.counterexample, self.partition = counterexample, partition


Check = Callable[["ClaimContext"], Finding]

ASKED: dict[str, Check] = {}
"""The function that computes each claim, by id."""


def question(claim_id: str) -> Callable[[Check], Check]:
    """Let a function compute the claim with this id."""

    def register(check: Check) -> Check:
        ASKED[claim_id] = check
        return check

    return register


# ---- evidence


def plain(value: Any) -> Any:
    """The value as JSON holds it: fractions and huge integers as texts, infinity as nothing.

    Examples
    --------
    >>> plain(Fraction(25, 7)), plain(2**64), plain(math.inf), plain((1, True))
    ('25/7', '18446744073709551616', None, [1, True])
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) <= 2**53 else str(int(value))  # safe in JSON
    if isinstance(value, Fraction):
        return plain(value.numerator) if value.denominator == 1 else str(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Iterable):
        return [plain(entry) for entry in value]
    return str(value)


def table(text: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Evidence:
    """Rows of numbers under names."""
    return Evidence(text, {"columns": list(columns), "rows": plain(rows)})


def curves(
    text: str, x: str, y: str, xs: Sequence[int], series: Mapping[str, Sequence[float]]
) -> Evidence:
    """Curves for a figure over the same values of x, with what the axes mean."""
    lines = [{"name": k, "x": plain(xs[: len(ys)]), "y": plain(ys)} for k, ys in series.items()]
    return Evidence(text, {"x": x, "y": y, "series": lines})


def values(text: str, **named: Any) -> Evidence:
    """Single values by name."""
    return Evidence(text, plain(named))


def drawn(text: str, graph: Graph, **named: Any) -> Evidence:
    """A graph, and values that belong to it."""
    return Evidence(text, {"graph": graph.to_rows(), **plain(named)})


# ---- attacks of several exposures on every small graph at once, exactly

# For a set of users S and a set of behaviours T that are left, let M be their matchings and V(t)
# the matchings that the best attacker expects to be left after t more exposures. The products
# M V(t) are integers: the one for S and T is the least, over users x of S, of the sum over
# behaviours y of x in T of those without x and y for t - 1. The attacker who thinks one exposure
# ahead takes the user who is best for t = 1; where several are, the one that serves best later on.

Ints = npt.NDArray[np.int64]
Layer = dict[tuple[int, int], Ints]
"""By users and behaviours that are left, as bits: M V(t) for every t and graph."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Play:
    """Best and greedy attacks on some graphs with n users, given by their places in the survey.

    ``optimal`` and ``greedy`` have a row for each t = 0 to n - 1 exposures: matchings times the
    expected number of matchings left.
    """

    n: int
    graphs: Ints
    edges: Ints
    matchings: Ints
    optimal: Ints
    greedy: Ints

    def left(self, graph: int) -> tuple[list[Fraction], list[Fraction]]:
        """Matchings left after 0, 1, ... exposures of one graph, by the best and by the greedy."""
        total = int(self.matchings[graph])
        best, greedy = (
            [Fraction(int(value), total) for value in values[:, graph]]
            for values in (self.optimal, self.greedy)
        )
        return best, greedy


def play_seconds(n: int) -> float:
    """What :func:`play` takes for all graphs with a multiple of n edges, predicted."""
    return SEARCH.play_seconds[n - 1]


def play(survey: Survey, graphs: Ints, effort: Execution) -> Play:
    """Attacks on those graphs of a survey that are given by their places in it.

    The effort expects :func:`play_seconds`.

    Examples
    --------
    >>> from anonymatch.theory.claims.small_graphs import survey
    >>> finding = survey(4)
    >>> crown = [k for k in range(len(finding.keys)) if finding.matchings[k] == 9][0]
    >>> [str(left) for left in play(finding, np.array([crown]), Execution()).left(0)[0]]
    ['9', '3', '1', '1']
    """
    n, keys = survey.n, survey.keys[graphs]
    starts = range(0, len(keys), SEARCH.play_chunk)
    calls = (partial(_attacks, keys[start : start + SEARCH.play_chunk], n) for start in starts)
    each = play_seconds(n) / max(len(starts), 1)
    parts = list(effort.chunks(calls, each=each, number=len(starts)))
    none = np.empty((n, 0), dtype=np.int64)
    optimal, greedy = (np.hstack([none, *(part[k] for part in parts)]) for k in (0, 1))
    return Play(
        n=n,
        graphs=graphs,
        edges=survey.edges[graphs],
        matchings=survey.matchings[graphs],
        optimal=optimal,
        greedy=greedy,
    )


def _attacks(keys: Keys, n: int) -> tuple[Ints, Ints]:
    """M V(t) of each graph for t = 0 to n - 1, by the best attacker and by the greedy one."""
    lines = unpack(keys, n, n)
    has = [[(line >> (n - 1 - j) & 1).astype(np.int64) for j in range(n)] for line in lines]
    nobody: Layer = {(0, 0): np.ones((1, len(keys)), dtype=np.int64)}
    matchings, best, greedy = nobody, nobody, nobody
    for size in range(1, n + 1):
        fewer = matchings
        matchings = {pair: _matchings(pair, fewer, has) for pair in _pairs(n, size)}
        best, greedy = (
            {
                pair: _position(pair, size, matchings[pair], before, has, ahead)
                for pair in _pairs(n, size)
            }
            for before, ahead in ((best, False), (greedy, True))
        )
    everybody = ((1 << n) - 1,) * 2
    return best[everybody], greedy[everybody]


def _matchings(pair: tuple[int, int], fewer: Layer, has: list[list[Ints]]) -> Ints:
    users, behaviours = pair
    user = users.bit_length() - 1
    total = np.zeros_like(fewer[next(iter(fewer))])
    for j in _members(behaviours):
        total += has[user][j] * fewer[users ^ 1 << user, behaviours ^ 1 << j]
    return total


def _position(
    pair: tuple[int, int],
    size: int,
    matchings: Ints,
    before: Layer,
    has: list[list[Ints]],
    ahead: bool,
) -> Ints:
    """M V(t) for t = 0 to size - 1; ``ahead``: only for users who are best for t = 1."""
    users, behaviours = pair
    now = matchings**2
    if size == 1:
        return now
    # With s users left nothing changes after s - 1 exposures: one matching is left.
    choices = np.stack(
        [
            sum(
                has[x][y] * before[users ^ 1 << x, behaviours ^ 1 << y]
                for y in _members(behaviours)
            )
            for x in _members(users)
        ]
    )
    if ahead:
        best_next = choices[:, :1] == choices[:, :1].min(axis=0)
        choices = np.where(best_next, choices, np.iinfo(np.int64).max)
    return np.vstack([now, choices.min(axis=0)])


def _pairs(n: int, size: int) -> Iterator[tuple[int, int]]:
    sets = [sum(1 << i for i in chosen) for chosen in combinations(range(n), size)]
    return product(sets, sets)


def _members(bits: int) -> list[int]:
    return [i for i in range(bits.bit_length()) if bits >> i & 1]


# ---- what the claims of one run share


class ClaimContext:
    """One run over claims; all graphs of up to ``largest`` users are searched."""

    def __init__(
        self, *, thorough: bool = False, folder: Path | None = None, effort: Execution | None = None
    ) -> None:
        self.thorough = thorough
        self.largest = SEARCH.largest if thorough else SEARCH.quick
        self.memory = SEARCH.memory[thorough]
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
