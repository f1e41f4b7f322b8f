"""Rounds in words: the only place that turns a disclosure into a report."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.base.text import label, name, several
from anonymatch.disclosure.charts import (
    disclosure_charts,
    profile_matrix,
    true_profiles,
    true_shares,
)
from anonymatch.disclosure.closed_forms import intersection_candidates, sda_rounds
from anonymatch.disclosure.decay import OPEN_GAP
from anonymatch.disclosure.disclosing import METHODS
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.result import Disclosure
from anonymatch.disclosure.wording import (
    bits_about,
    calibration_in_words,
    half_life_ends,
    half_life_in_words,
    left_in_words,
    log_size,
    method_words,
    rounds_seen,
    rounds_text,
)
from anonymatch.reporting.report import (
    AMOUNT,
    BITS,
    COUNT,
    PLACES,
    SHARE,
    Better,
    Cell,
    Chart,
    Column,
    Figure,
    Note,
    Prominence,
    Provenance,
    Report,
    Section,
    Table,
    Unit,
)

__all__ = [
    "ROUND_GATES",
    "half_life_figure",
    "rounds_report",
]

_ROUNDS = Unit(write=rounds_text)
_DETAIL = Prominence.DETAIL

ROUND_GATES = {
    "half_life": Better.HIGHER,
    "bits": Better.HIGHER,
    "right": Better.LOWER,
    "believed": Better.LOWER,
}
"""Figures that may be thresholds."""

_ROWS = 200  # of each table
_POINTS = 12  # of a curve that the terminal shows
_BELIEVE = ("gibbs", "exact", "presence")  # methods that give probabilities
_LARGER = (1, 2, 4)  # multiples of the number of messages per round
_ACTS = (1, 2, 5, 10, 20)
_ALL = "--top 0 shows all"

_SENDING = (
    "The attacker sees who sends and who receives in every round. The model assumes that users "
    "write to the same behaviours all the time, as often as before, whatever others do."
)
_ONLINE = (
    "The attacker sees who is online in every round, and which pseudonym acts. The model assumes "
    "that the owner is online whenever the pseudonym acts, and that all others come and go at "
    "rates of their own."
)
_THREAT = (
    "Within a round no order, content or size distinguishes messages.",
    (
        "The attacker assumes that the messages out of a round are its messages in, each to a "
        "contact of its sender. They learn these contacts from all rounds together."
    ),
    (
        "An attacker who knows more, such as some contacts of a user, learns more than this report "
        "shows."
    ),
)
_PRESENCE_THREAT = ("The attacker knows nothing about the rates at which users are online.",)
_HELP = (
    (
        "Cover traffic: users who also send dummy messages hide when they write. Dummy messages "
        "out of the mix hide who receives."
    ),
    (
        "Larger batches: a round with more messages has more possible matchings, so that each "
        "round reveals less about one user."
    ),
    (
        "More senders per round: the attacker compares rounds with a user and rounds without the "
        "user. The more users send in every round, the less the two differ."
    ),
)
_PRESENCE_HELP = (
    "Stay online: a user who is online in most rounds is no suspect for having been online.",
    "More users online in every round: each time the pseudonym acts, fewer are ruled out.",
    "Shorter lives: a pseudonym that is given up after few rounds reveals no more.",
)
_USER_COLUMNS = (
    "Half-life: rounds until half of this user's bits are left, if the log is long enough. "
    "Friends: the number of equally likely behaviours that the user writes to. Why: what "
    "distinguishes the user from most."
)
_CAVEATS = (
    (
        "Profiles that change make old rounds misleading. An attacker who assumes that profiles "
        "are constant is wrong then, and an attacker who models the change does better than this."
    ),
    (
        "Messages of a user are assumed to be independent, given the user's profile. Answers and "
        "conversations of many messages reveal more."
    ),
    "Bits and the believed share are averages over messages: look at the first users to be known.",
)


def rounds_report(
    disclosure: Disclosure, *, learnt: bool = True, most: int | None = _ROWS
) -> Report:
    """Return everything that a disclosure says.

    Parameters
    ----------
    disclosure : Disclosure
    learnt : bool, default True
        Whether the prior was learnt from the log.
    most : int or None, default 200
        Rows of each table; None for all.

    Examples
    --------
    >>> import anonymatch as am
    >>> from anonymatch.reporting import judge
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy"), (2, "ab", "xy")])
    >>> for gate in judge(rounds_report(am.rounds(log)), {"half_life": 2, "bits": 1.5}):
    ...     print(gate.text)
    half_life=2 is reached: more than 2 rounds, all that the log has
    bits=1.5 is missed: 1 bit
    """
    words, presence = method_words(disclosure), disclosure.method == "presence"
    only = "" if disclosure.target is None else f", only {name(disclosure.target)}"
    tables = (
        _curve(disclosure),
        _users(disclosure),
        _pairs(disclosure, most),
        _sets(disclosure, most),
        _help_table(disclosure),
    )
    return Report(
        title=f"Rounds: {words.title}",
        subject=f"{log_size(disclosure.log)}{only}",
        attacker=_ONLINE if presence else _SENDING,
        headline=(half_life_in_words(disclosure), left_in_words(disclosure)),
        figures=(
            half_life_figure(disclosure),
            *(_last(disclosure, key) for key in ("bits", "right", "believed")),
        ),
        tables=tuple(table for table in tables if table is not None),
        charts=_charts(disclosure),
        notes=_notes(disclosure),
        sections=(
            Section("decay", "Anonymity by rounds seen"),
            Section("users", "Least anonymous users"),
            Section("pairs", f"{words.title[:1].upper()}{words.title[1:]}"),
            Section("truth", "Compared with the ground truth"),
            Section("threat", "What the attacker has"),
            Section("help", "What a designer can do"),
        ),
        provenance=_provenance(disclosure, learnt),
    )


# ---- figures


def half_life_figure(disclosure: Disclosure) -> Figure:
    """Return the rounds between which the half-life is; open above if the log is too short."""
    value, text = _half_life(disclosure)
    gap, seen = disclosure.gap or 0.0, several(rounds_seen(disclosure), "round")
    return Figure(
        key="half_life",
        title="Half-life",
        value=value,
        meaning=f"rounds until half of the bits about {bits_about(disclosure)} are gone",
        better=Better.HIGHER,
        prominence=Prominence.HEADLINE,
        shown=text,
        doubt=_doubt(gap),
        short=(
            f"the log has only {seen}, after which more than half of the bits is left; record at "
            "least {threshold}"
        ),
    )


def _doubt(gap: float) -> str:
    if gap <= OPEN_GAP:
        return ""
    return f"chains from opposite starts differ by {gap:.2g} bits, allow more with --budget"


def _half_life(disclosure: Disclosure) -> tuple[Interval | None, str]:
    first = disclosure.curve[0].bits if disclosure.curve else None
    if first is None:
        return None, f"{disclosure.method} tells no bits; choose gibbs"
    if first.value <= 0.0:
        return Interval(0.0, 0.0, 0.0), "nobody hides even in one round"
    between, seen = disclosure.half_life_between, rounds_seen(disclosure)
    if between is None or between.low >= seen:
        text = f"more than {several(seen, 'round')}, all that the log has"
        return Interval(math.inf, float(seen), math.inf), text
    if disclosure.half_life is None:
        return between, half_life_ends(between)
    return between, f"about {PLACES.text(between.value)} rounds, {half_life_ends(between)}"


_MEANINGS = {
    "bits": ("Bits left", "after all rounds, about {about}"),
    "right": ("Right guesses", "share of best guesses that are right after all rounds"),
    "believed": ("Believed", "the attacker's own estimate of the share of right guesses"),
}


def _last(disclosure: Disclosure, key: str) -> Figure:
    """Return a figure after all rounds."""
    value: Interval | None = getattr(disclosure.curve[-1], key) if disclosure.curve else None
    title, meaning = _MEANINGS[key]
    unknown = f"{disclosure.method} does not tell it; choose gibbs"
    if key == "right" and disclosure.log.truth is None:
        unknown = "the log does not tell which message is which"
    unit = BITS if key == "bits" else SHARE
    return Figure(
        key=key,
        title=title,
        value=value,
        unit=unit,
        meaning=meaning.format(about=bits_about(disclosure)),
        better=ROUND_GATES[key],
        prominence=Prominence.HEADLINE,
        shown="1 bit" if value is not None and unit.span(value) == "1 bits" else "",
        unknown=unknown,
        doubt=_doubt(disclosure.end_gap or 0.0),
    )


# ---- tables


def _curve(disclosure: Disclosure) -> Table | None:
    curve = disclosure.curve
    if not curve:
        return None
    brief = range(len(curve))
    chosen = {k * 10**e for e in range(10) for k in (1, 2, 5)} | {curve[0].rounds, curve[-1].rounds}
    half = disclosure.half_life_between
    if half is not None:
        chosen |= {int(end) for end in (half.low, half.high) if math.isfinite(end)}
    return Table(
        key="curve",
        title="By rounds seen",
        section="decay",
        columns=(
            Column("rounds seen", COUNT),
            Column("bits", PLACES),
            Column("right", SHARE),
            Column("believed", SHARE),
        ),
        rows=[(point.rounds, point.bits, point.right, point.believed) for point in curve],
        brief=[k for k in brief if len(curve) <= _POINTS or curve[k].rounds in chosen],
        prominence=Prominence.MAIN if len(curve) > 1 else _DETAIL,
    )


def _users(disclosure: Disclosure) -> Table | None:
    users = disclosure.users
    if not users:
        return None
    known = any(one.right is not None for one in users)
    columns = [
        Column("user"),
        Column("half-life", _ROUNDS),
        Column("messages", COUNT),
        Column("bits left", PLACES),
        Column("believed", SHARE, detail=True),
        *([Column("right", SHARE)] if known else []),
        Column("friends", Unit(write=lambda value: f"{value:.1f}"), detail=True),
        Column("why"),
    ]
    rows: list[list[Cell]] = [
        [
            name(one.user),
            one.half_life,
            one.messages,
            one.bits,
            one.believed,
            *([one.right] if known else []),
            one.friends,
            one.why or "similar to others",
        ]
        for one in users
    ]
    several_rounds = disclosure.log.n_rounds > 1
    return Table(
        key="users",
        title="The target" if disclosure.target is not None else "Shortest half-life first",
        section="users",
        columns=columns,
        rows=rows,
        noun="user",
        advice=_ALL,
        prominence=Prominence.MAIN if several_rounds else _DETAIL,
    )


def _pairs(disclosure: Disclosure, most: int | None) -> Table | None:
    """Return the likeliest pairs with their errors and, if known, the true shares."""
    pairs, log = disclosure.pairs, disclosure.log
    if not len(pairs.user):
        return None
    order = np.lexsort((pairs.behaviour, pairs.user, -pairs.probability.round(12)))[:most]
    true = true_profiles(disclosure)
    shares = None if true is None else true_shares(true, pairs, order, len(log.behaviours))
    error = pairs.error if pairs.error is not None and pairs.error.any() else None
    rows = []
    for at, k in enumerate(order.tolist()):
        cells: list[Cell] = [
            label(log.users[pairs.user[k]], 60),
            label(log.behaviours[pairs.behaviour[k]], 60),
            min(float(pairs.probability[k]), 1.0),
        ]
        cells += [] if error is None else [float(error[k])]
        cells += [] if shares is None else [float(shares[at])]
        rows.append(cells)
    probability = "probability" if disclosure.method in _BELIEVE else "share"
    return Table(
        key="pairs",
        title="The likeliest pairs",
        section="pairs",
        columns=(
            Column("user"),
            Column("behaviour"),
            Column(probability, SHARE),
            *(() if error is None else (Column("error", SHARE),)),
            *(() if shares is None else (Column("true share", SHARE, detail=True),)),
        ),
        rows=rows,
        noun="pair",
        total=len(pairs.user),
        advice=f"{_ALL}; --csv FILE saves all",
    )


def _sets(disclosure: Disclosure, most: int | None) -> Table | None:
    """Return the sets of friends that explain all rounds, of the exact method."""
    sets = disclosure.friend_sets
    if sets is None or disclosure.sets is None:
        return None
    explain = "explains" if disclosure.sets == 1 else "explain"
    return Table(
        key="sets",
        title=f"{plural(disclosure.sets, 'set')} of friends {explain} all rounds",
        section="pairs",
        columns=(Column("friends"), Column("weight", AMOUNT)),
        rows=[(", ".join(map(name, friends)), shown(weight)) for friends, weight in sets[:most]],
        noun="set",
        total=disclosure.sets,
        advice=_ALL,
    )


def _help_table(disclosure: Disclosure) -> Table | None:
    """Return what larger batches buy against averages, or the candidate owners, by formula."""
    log = disclosure.log
    if disclosure.method == "presence":
        heads = ("rounds in which it acts", "users who may own it")
        online = _online(log)
        rows = [(n, intersection_candidates(len(log.users), online, n)) for n in _ACTS]
        title = "Remaining candidates"
    else:
        friends, batch = _median_friends(disclosure), _batch(log)
        if friends is None or batch < 1.5 or len(log.behaviours) < 2:
            return None
        heads = ("messages per round", "rounds of a user until averages know its friends")
        rows = [
            (size, round(sda_rounds(len(log.behaviours), friends, size), 1))
            for size in (round(times * batch) for times in _LARGER)
        ]
        title = "Effect of larger batches"
    columns = (Column(heads[0], COUNT), Column(heads[1], AMOUNT))
    return Table(
        key="help", title=title, section="help", columns=columns, rows=rows, prominence=_DETAIL
    )


def _batch(log: RoundLog) -> float:
    return log.n_messages / max(int((np.diff(log.sent) > 0).sum()), 1)


def _online(log: RoundLog) -> float:
    rounds = np.repeat(np.arange(log.n_rounds), np.diff(log.sent))
    there = len(np.unique(rounds * len(log.users) + log.sender))
    return there / (log.n_rounds * len(log.users))


def _median_friends(disclosure: Disclosure) -> int | None:
    if not disclosure.users:
        return None
    return max(1, round(float(np.median([one.friends for one in disclosure.users]))))


# ---- notes, charts, provenance


def _notes(disclosure: Disclosure) -> list[Note]:
    notes = [Note(text=text) for text in disclosure.notes]
    notes.append(Note(text=_pair_words(disclosure), section="pairs"))
    presence = disclosure.method == "presence"
    sections = {
        "users": [_USER_COLUMNS] if disclosure.users else [],
        "threat": _PRESENCE_THREAT if presence else _THREAT,
        "help": [*(_PRESENCE_HELP if presence else _HELP), _formula(disclosure)],
    }
    for key, texts in sections.items():
        notes += [Note(text=text, section=key, prominence=_DETAIL) for text in texts if text]
    scored = calibration_in_words(disclosure)
    if disclosure.calibrated is False:
        scored += " Profiles may have changed, or differ from what the prior expects."
    if scored:
        return [*notes, Note(text=scored, section="truth")]
    return [*notes, Note(text=_unscored(disclosure), section="truth", prominence=_DETAIL)]


def _pair_words(disclosure: Disclosure) -> str:
    if disclosure.pairs.error is None:
        return (
            f"{disclosure.method} gives shares without errors. They are no calibrated "
            "probabilities; pairs with larger shares are likelier."
        )
    text = f"Each probability is {method_words(disclosure).pair}, after all rounds."
    if disclosure.method == "gibbs":
        text += " Error: one standard error of the chains."
    return text


def _formula(disclosure: Disclosure) -> str:
    """Return the sentence above the table of formulas."""
    log = disclosure.log
    if disclosure.method == "presence":
        return (
            f"By formula: the mean number of users who were online every time, if each of "
            f"{plural(len(log.users), 'user')} is online in {percent(_online(log))} of rounds, as "
            "in this log on average."
        )
    if _help_table(disclosure) is None:
        return ""
    return (
        f"By formula, for a user with {plural(_median_friends(disclosure) or 1, 'friend')} among "
        f"{plural(len(log.behaviours), 'behaviour')} that receive equally often: rounds in which "
        "the user sends until the friends exceed the average by two standard deviations (SDA). "
        "Better attacks need fewer."
    )


def _unscored(disclosure: Disclosure) -> str:
    if disclosure.right is not None:
        return (
            f"{percent(disclosure.right)} of best guesses are right. The method "
            f"{disclosure.method} gives no probabilities to compare with."
        )
    if disclosure.method in ("presence", "exact"):
        return f"The method {disclosure.method} is not compared with a ground truth."
    return "The log has no ground truth, so the attacker's probabilities cannot be checked."


def _charts(disclosure: Disclosure) -> list[Chart]:
    words, drawings = method_words(disclosure), disclosure_charts(disclosure)
    marked = "" if disclosure.half_life is None else " Half of the first value is left at the mark."
    captions = {
        "bits": (
            f"Uncertainty about {bits_about(disclosure)}, by {words.each} that were seen. Lower "
            f"is worse.{marked} The band is the 95 % interval of the estimate; other logs of such "
            "users differ by more."
        ),
        "guesses": (
            f"How often {words.guess}: the attacker's belief and, if the ground truth is known, "
            "the share of right guesses. Higher is worse; the two should agree."
        ),
    }
    section = "decay" if len(disclosure.curve) > 1 else "files"
    charts = [
        Chart(key=key, draw=draw, caption=captions[key], section=section)
        for key, draw in drawings.items()
    ]
    matrix = profile_matrix(disclosure)
    if matrix is not None:
        ringed = "" if matrix.marked is None else " True pairs are marked in orange."
        caption = (
            "One row per user, one column per behaviour. The fuller the colour, the likelier the "
            f"pair. Columns are ordered so that likely pairs are near the diagonal.{ringed}"
        )
        charts.append(
            Chart(key="pairs", draw=lambda: matrix, caption=caption, section="pairs", file=False)
        )
    return charts


def _provenance(disclosure: Disclosure, learnt: bool) -> Provenance:
    method = f"{disclosure.method}: {METHODS[disclosure.method]}"
    line, facts = f"Method {method}.", [("method", method)]
    if disclosure.sweeps is not None and disclosure.rhat is not None:
        line += f" {disclosure.sweeps:,} sweeps of all chains count, R-hat {disclosure.rhat:.3f}."
        facts.append(("R-hat", f"{disclosure.rhat:.3f}"))
        facts.append(("sweeps that count", shown(disclosure.sweeps)))
    if disclosure.strength is not None:
        alpha = disclosure.strength / max(len(disclosure.log.behaviours), 1)
        how = "learnt from the log" if learnt else "set with --alpha"
        line += f" Prior of profiles: Dirichlet, alpha {alpha:.3g} per behaviour, {how}."
        facts.append(("strength of the prior", f"{amount(disclosure.strength)} messages"))
    if disclosure.bits is not None:
        facts.append(("bits of all friends", f"{disclosure.bits:.2f}"))
    if disclosure.sweeps is not None:
        line += f" Seed {disclosure.seed}."
    facts.append(("seed", str(disclosure.seed)))
    return Provenance(sentences=(line,), facts=facts, caveats=_CAVEATS)
