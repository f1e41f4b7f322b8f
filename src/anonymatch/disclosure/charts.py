"""Charts of rounds: how anonymity falls, and how often guesses are right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.numbers import plural
from anonymatch.disclosure.methods.posterior import Profiles
from anonymatch.disclosure.result import Disclosure
from anonymatch.disclosure.wording import bits_about, method_words, rounds_text
from anonymatch.reporting.charts import AnyChart, Line, Rule, line_chart
from anonymatch.reporting.report import Matrix

__all__ = [
    "bits_chart",
    "disclosure_charts",
    "guess_chart",
    "profile_matrix",
    "true_profiles",
    "true_shares",
]

_MOST_DRAWN = 200  # users or behaviours that get a row or a column of the matrix


def disclosure_charts(disclosure: Disclosure) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this disclosure has, by name.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.rounds(am.disclosure.synthesize_rounds(40, users=12, friends=2, batch=4, seed=1))
    >>> list(disclosure_charts(found))
    ['bits', 'guesses']
    """
    charts: dict[str, Callable[[], AnyChart]] = {}
    if any(point.bits is not None for point in disclosure.curve):
        charts["bits"] = partial(bits_chart, disclosure)
    if any(point.right or point.believed for point in disclosure.curve):
        charts["guesses"] = partial(guess_chart, disclosure)
    return charts


def bits_chart(disclosure: Disclosure, *, chosen: int | None = None) -> AnyChart:
    """Bits by rounds seen with their interval; the half-life is marked, and ``chosen`` rounds."""
    return _decay(
        disclosure,
        [_line(disclosure, "bits")],
        title="Bits by rounds seen",
        y_label=f"bits about {bits_about(disclosure)}",
        chosen=chosen,
    )


def guess_chart(disclosure: Disclosure, *, chosen: int | None = None) -> AnyChart:
    """Share of best guesses that are right, and what the attacker believes it to be."""
    lines = [_line(disclosure, name) for name in ("right", "believed")]
    return _decay(
        disclosure,
        [line for line in lines if line.x],
        title="Guesses by rounds seen",
        y_label="best guesses",
        chosen=chosen,
        share=True,
    )


def _line(disclosure: Disclosure, figure: str) -> Line:
    known = [
        (point.rounds, value)
        for point in disclosure.curve
        if (value := getattr(point, figure)) is not None
    ]
    ends = ([getattr(value, end) for _, value in known] for end in ("value", "low", "high"))
    return Line(figure, [rounds for rounds, _ in known], *ends)


def _decay(
    disclosure: Disclosure,
    lines: list[Line],
    *,
    title: str,
    y_label: str,
    chosen: int | None,
    share: bool = False,
) -> AnyChart:
    rounds = [x for line in lines for x in line.x]
    rules = []
    half = disclosure.half_life
    if half is not None and min(rounds) <= half <= max(rounds):
        rules.append(Rule(f"half-life {rounds_text(half)}", x=half))
    if chosen is not None:
        rules.append(Rule(f"after {chosen}", x=chosen, plain=True))
    return line_chart(
        lines,
        title=title,
        x_label="rounds seen",
        y_label=y_label,
        log_x=min(rounds) > 0,
        zero=True,
        share=share,
        rules=rules,
    )


# ---- the matrix of who writes to whom


class TrueProfiles(NamedTuple):
    """Pairs that really write to each other, and the share of the user's messages."""

    user: Ints
    behaviour: Ints
    share: Floats


def true_profiles(disclosure: Disclosure) -> TrueProfiles | None:
    """Return who wrote to whom by the ground truth of the log; None without one.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy"), (2, "ab", "xz")], truth=[[0, 1], [0, 1]])
    >>> true = true_profiles(am.rounds(log, method="sda"))
    >>> true.user.tolist(), true.behaviour.tolist(), true.share.tolist()
    ([0, 1, 1], [0, 1, 2], [1.0, 0.5, 0.5])
    """
    log = disclosure.log
    receivers = None if disclosure.method == "presence" else log.true_receivers()
    if receivers is None or not (receivers >= 0).any():
        return None
    known = receivers >= 0
    keys = log.sender[known].astype(np.int64) * len(log.behaviours) + receivers[known]
    pairs, number = np.unique(keys, return_counts=True)
    user, behaviour = np.divmod(pairs, len(log.behaviours))
    sent = np.bincount(user, number, len(log.users))
    return TrueProfiles(user, behaviour, number / sent[user])


def true_shares(true: TrueProfiles, pairs: Profiles, chosen: Ints, behaviours: int) -> Floats:
    """Return the true share of each chosen pair; 0 if nothing was written."""
    known = true.user * behaviours + true.behaviour  # in order
    asked = pairs.user[chosen].astype(np.int64) * behaviours + pairs.behaviour[chosen]
    at = np.searchsorted(known, asked).clip(max=len(known) - 1)
    return np.where(known[at] == asked, true.share[at], 0.0)


def profile_matrix(disclosure: Disclosure, *, rounds: int | None = None) -> Matrix | None:
    """Return the matrix of who writes to whom; None for one user, or more than can be drawn.

    ``rounds``: after that number of rounds of `profiles_at` instead of all.
    """
    log = disclosure.log
    users, behaviours = len(log.users), len(log.behaviours)
    if disclosure.target is not None or users < 2 or max(users, behaviours) > _MOST_DRAWN:
        return None
    order = _order(disclosure.pairs, users, behaviours)
    pairs = disclosure.pairs if rounds is None else disclosure.profiles_at[rounds]
    seen = log.n_rounds if rounds is None else rounds
    true = true_profiles(disclosure)
    ringed: Bools | None = None
    if true is not None:
        ringed = np.zeros((users, behaviours), dtype=np.bool_)
        ringed[true.user, true.behaviour] = True
        ringed = ringed[:, order]
    return Matrix(
        title=f"{method_words(disclosure).title.capitalize()} after {plural(seen, 'round')}",
        values=_dense(pairs, users, behaviours)[:, order],
        rows=log.users,
        columns=[log.behaviours[k] for k in order.tolist()],
        marked=ringed,
    )


def _dense(pairs: Profiles, users: int, behaviours: int) -> Floats:
    """Return one row per user; NaN for users about whom nothing is known."""
    values = np.zeros((users, behaviours))
    values[np.setdiff1d(np.arange(users), pairs.user)] = np.nan
    values[pairs.user, pairs.behaviour] = pairs.probability.clip(0.0, 1.0)
    return values


def _order(pairs: Profiles, users: int, behaviours: int) -> Ints:
    """Return columns so that the likeliest pairs after all rounds lie along the diagonal."""
    values = np.nan_to_num(_dense(pairs, users, behaviours))
    taken: dict[int, None] = {}
    for row in values:
        free = (k for k in np.argsort(-row, kind="stable").tolist() if k not in taken)
        likeliest = next(free, None)
        if likeliest is not None and row[likeliest] > 0:
            taken[likeliest] = None
    rest = (k for k in range(behaviours) if k not in taken)
    return np.array([*taken, *rest], dtype=np.int64)
