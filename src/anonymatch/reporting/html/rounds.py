"""Rounds as a page: after how many of them half of the anonymity is gone, for whom first, and what
can be done.
"""

from __future__ import annotations

import os

import numpy as np

from anonymatch._native import version
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.disclosure import (
    METHODS,
    Disclosure,
    Profiles,
    calibration_in_words,
    half_life_in_words,
    intersection_candidates,
    left_in_words,
    rounds_text,
    sda_rounds,
)
from anonymatch.reporting.html.audit import script, style
from anonymatch.reporting.html.decay import decay_section, numbers_table
from anonymatch.reporting.html.document import Section, document, panel_section, render, write_html
from anonymatch.reporting.html.round_pictures import (
    TrueProfiles,
    method_words,
    profile_picture,
    true_profiles,
)
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import name_cell, number_cell
from anonymatch.reporting.paper_panels import Panel

__all__ = ["rounds_html", "write_rounds_html"]

_PAIRS = 60  # pairs of a table
_SETS = 20  # sets of friends of a table
_LARGER = (1, 2, 4)  # times as many messages a round
_THREAT = (
    (
        "The attacker sees who sends and who receives in every round, and nothing else: within a "
        "round no order, no content and no size tells messages apart."
    ),
    (
        "He takes a round's messages out to be its messages in, each to somebody whom its sender "
        "writes to, and learns from all rounds together whom that is."
    ),
    (
        "He takes these profiles to stay as they are; who knows more, such as some contacts of a "
        "user, learns more than is told here."
    ),
)
_PRESENCE = (
    "The attacker sees who is online in every round, and which pseudonym acts.",
    "He takes the owner of a pseudonym to be online whenever it acts.",
    "He takes others to be there by chance, each at a rate of its own of which nothing is known.",
)
_HELP = (
    (
        "Cover: users who also send when they have nothing to say hide when they write, and "
        "messages out that nobody wrote hide who receives."
    ),
    (
        "Larger batches: a round with more messages has more explanations, so that each tells "
        "less of one user."
    ),
    (
        "More senders a round: a user is learnt from rounds with it and rounds without it; the "
        "more users send in every round, the less the two differ."
    ),
)
_PRESENCE_HELP = (
    "Stay online: a user who is there in most rounds is no suspect for having been there.",
    "More users online in every round: each time the pseudonym acts, fewer are ruled out.",
    "Shorter lives: a pseudonym that is given up after few rounds tells no more.",
)
_ACTS = (1, 2, 5, 10, 20)
_CAVEATS = (
    (
        "Profiles that change make old rounds mislead: an attacker who takes them to be the same "
        "believes wrong things, and one who knows better does better than this."
    ),
    (
        "Messages of a user are taken to be independent, given whom it writes to. Answers, and "
        "talks of many messages, tell more."
    ),
    "Bits, and the share that is believed, are averages over messages: look at who falls first.",
)


def write_rounds_html(
    disclosure: Disclosure, path: str | os.PathLike[str], *, command: str | None = None
) -> None:
    """Write what rounds tell as one page that needs nothing else.

    ``command``: what was run, so that it can be run again.
    """
    write_html(rounds_html(disclosure, command=command), path)


def rounds_html(disclosure: Disclosure, *, command: str | None = None) -> str:
    """The text of that page.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.synthesize_rounds(3, friends=1, users=4, batch=2)
    >>> "<h1>Rounds: who writes to whom</h1>" in rounds_html(am.rounds(log))
    True
    """
    sections = (
        _verdict(disclosure),
        decay_section(disclosure),
        _falls(disclosure),
        _pairs(disclosure),
        _truth(disclosure),
        _threat(disclosure),
        _help(disclosure),
        _method(disclosure, command),
    )
    log = disclosure.log
    seen = (
        f"{plural(log.n_rounds, 'round')} with {plural(log.n_messages, 'message')} of "
        f"{plural(len(log.users), 'user')} to {plural(len(log.behaviours), 'behaviour')}"
    )
    only = "" if disclosure.target is None else f" Only {disclosure.target} is looked at."
    return document(
        f"Rounds: {method_words(disclosure).title}",
        lead=f"{seen}.{only}",
        sections=tuple(section for section in sections if section is not None),
        script=script(),
    )


def _digits(bits: float) -> str:
    return f"{bits:.2f}"


def _verdict(disclosure: Disclosure) -> Section:
    first = render("audit_verdict.html", verdict=half_life_in_words(disclosure), gates=())
    rest = panel_section("", "", before=[left_in_words(disclosure)])
    return Section("verdict", "How long anonymity lasts", first + rest.body, style=style())


def _falls(disclosure: Disclosure) -> Section | None:
    if not disclosure.users:
        return None
    heads = ("user", "half-life", "messages", "bits", "believed", "right", "friends", "why")
    users = disclosure.users
    known = any(one.right is not None for one in users)
    rows = [
        (
            name_cell(one.user, ""),
            number_cell("–" if one.half_life is None else rounds_text(one.half_life)),
            number_cell(shown(one.messages)),
            number_cell(_digits(one.bits)),
            number_cell(percent(one.believed)),
            *([number_cell(percent(one.right))] if known else []),
            number_cell(f"{one.friends:.1f}"),
            name_cell(one.why or "as others do", ""),
        )
        for one in users[:200]
    ]
    names = [name for name in heads if known or name != "right"]
    more = len(users) - len(rows)
    made = HtmlTable(
        tuple(
            name_cell(name, "") if name in ("user", "why") else number_cell(name) for name in names
        ),
        tuple(rows),
        f"and {plural(more, 'more user')}" if more else "",
    )
    before = (
        "Who falls first comes first. Half-life: rounds until half of this user's bits are left; "
        "none if this log is too short for that. Friends: as many equally likely behaviours as the "
        "user writes to. Why: what sets the user apart from most."
    )
    return panel_section("users", "Who falls first", before=[before], tables=[("Users", made)])


def _pairs(disclosure: Disclosure) -> Section:
    words = method_words(disclosure)
    drawn = profile_picture(disclosure)
    panels = []
    if drawn is not None:
        ringed = "" if true_profiles(disclosure) is None else " What is true is marked in orange."
        panels.append(
            Panel(
                drawn,
                "A row a user, a column a behaviour: the fuller its colour, the likelier the pair. "
                f"Columns are in an order that puts the likeliest near the diagonal.{ringed}",
            )
        )
    before = [f"Each probability is {words.pair}, after all rounds."]
    if disclosure.method == "gibbs":
        before = [
            (
                f"{before[0]} The error of chains is how far more sweeps would move it (one "
                "standard error)."
            )
        ]
    if disclosure.pairs.error is None:
        before = [
            (
                f"{disclosure.method} gives shares without errors. They are no probabilities that "
                "can be trusted; what it puts first is likelier than the rest."
            )
        ]
    tables = [("The likeliest pairs", _pair_table(disclosure))]
    if disclosure.friend_sets is not None:
        tables.append(("Sets of friends that explain all rounds", _set_table(disclosure)))
    return panel_section(
        "pairs",
        f"{words.title[:1].upper()}{words.title[1:]}",
        panels,
        before=before,
        tables=tables,
    )


def _pair_table(disclosure: Disclosure) -> HtmlTable:
    """The likeliest pairs with their errors and, if it is known, what is true."""
    pairs, log = disclosure.pairs, disclosure.log
    order = np.lexsort((pairs.behaviour, pairs.user, -pairs.probability))[:_PAIRS]
    true = true_profiles(disclosure)
    shares = None if true is None else _true_shares(true, pairs, order, len(log.behaviours))
    rough = pairs.error is not None and bool(pairs.error.any())
    rows = []
    for at, k in enumerate(order.tolist()):
        user, behaviour = int(pairs.user[k]), int(pairs.behaviour[k])
        cells = [
            name_cell(log.users[user]),
            name_cell(log.behaviours[behaviour]),
            number_cell(percent(min(float(pairs.probability[k]), 1.0))),
        ]
        if rough:
            assert pairs.error is not None
            cells.append(number_cell(percent(float(pairs.error[k]))))
        if shares is not None:
            cells.append(number_cell(percent(float(shares[at]))))
        rows.append(tuple(cells))
    heads = [name_cell("user"), name_cell("behaviour"), number_cell("probability")]
    heads += [number_cell("error of chains")] if rough else []
    heads += [] if true is None else [number_cell("true share")]
    more = len(pairs.user) - len(rows)
    return HtmlTable(tuple(heads), tuple(rows), _left_out(more, "pair"))


def _true_shares(true: TrueProfiles, pairs: Profiles, chosen: Ints, behaviours: int) -> Floats:
    """The true share of each chosen pair; 0 where nothing was written."""
    known = true.user * behaviours + true.behaviour  # in order
    asked = pairs.user[chosen].astype(np.int64) * behaviours + pairs.behaviour[chosen]
    at = np.searchsorted(known, asked).clip(max=len(known) - 1)
    return np.where(known[at] == asked, true.share[at], 0.0)


def _left_out(more: int, noun: str) -> str:
    return f"and {plural(more, f'more {noun}')}" if more > 0 else ""


def _set_table(disclosure: Disclosure) -> HtmlTable:
    assert disclosure.friend_sets is not None
    told = disclosure.friend_sets[:_SETS]
    rows = tuple(
        (name_cell(", ".join(str(name) for name in members)), number_cell(shown(weight)))
        for members, weight in told
    )
    more = (disclosure.sets or len(told)) - len(told)
    heads: tuple[Cell, ...] = (name_cell("friends"), number_cell("weight"))
    return HtmlTable(heads, rows, _left_out(more, "set"))


# Threat, truth, help and method.


def _threat(disclosure: Disclosure) -> Section:
    before = _PRESENCE if disclosure.method == "presence" else _THREAT
    return panel_section("threat", "What the attacker has", before=before)


def _truth(disclosure: Disclosure) -> Section:
    """Whether what is believed is what is right."""
    right, believed = disclosure.right, disclosure.believed
    if right is None:
        text = "The log knows no truth, so that what is believed cannot be checked."
        if disclosure.method in ("presence", "exact"):
            text = f"The method {disclosure.method} is not held against a truth."
    elif believed is None:
        text = (
            f"{percent(right)} of best guesses are right. The method {disclosure.method} says "
            "nothing of how sure it is."
        )
    else:
        text = calibration_in_words(disclosure)
        if disclosure.calibrated is False:
            text += " Profiles may have changed, or be unlike what the prior expects."
    return panel_section("truth", "Against the truth", before=[text])


def _help(disclosure: Disclosure) -> Section:
    """What a designer can do, and what larger batches would buy against averages."""
    if disclosure.method == "presence":
        return _presence_help(disclosure)
    tables = []
    friends = _median_friends(disclosure)
    log = disclosure.log
    batch = log.n_messages / max(int((np.diff(log.sent) > 0).sum()), 1)
    before = list(_HELP)
    if friends is not None and batch >= 1.5 and len(log.behaviours) > 1:
        rows = []
        for times in _LARGER:
            size = round(times * batch)
            needed = sda_rounds(len(log.behaviours), friends, size)
            rows.append((shown(size), amount(round(needed, 1))))
        heads = ("messages a round", "rounds of a user until averages know its friends")
        tables = [("What larger batches buy", numbers_table(heads, rows))]
        before.append(
            f"By formula, for a user with {plural(friends, 'friend')} among "
            f"{plural(len(log.behaviours), 'behaviour')} that receive alike: rounds in which it "
            "sends until its friends stand out by two standard deviations in averages (SDA). "
            "Better attacks need fewer."
        )
    return panel_section("help", "What a designer can do", before=before, tables=tables)


def _presence_help(disclosure: Disclosure) -> Section:
    """What keeps owners among others, and how many are left by formula."""
    log = disclosure.log
    rounds = np.repeat(np.arange(log.n_rounds), np.diff(log.sent))
    there = len(np.unique(rounds * len(log.users) + log.sender))
    online = there / (log.n_rounds * len(log.users))
    rows = [
        (shown(acts), amount(intersection_candidates(len(log.users), online, acts)))
        for acts in _ACTS
    ]
    formula = (
        f"By formula, users who were there every time, on average, if each of "
        f"{plural(len(log.users), 'user')} is online in {percent(online)} of rounds, as here on "
        "average:"
    )
    heads = ("rounds in which it acts", "users who may own it")
    tables = [("Who is left", numbers_table(heads, rows))]
    return panel_section(
        "help", "What a designer can do", before=[*_PRESENCE_HELP, formula], tables=tables
    )


def _median_friends(disclosure: Disclosure) -> int | None:
    """As many as a usual user has, if the method says so."""
    if not disclosure.users:
        return None
    return max(1, round(float(np.median([one.friends for one in disclosure.users]))))


def _method(disclosure: Disclosure, command: str | None) -> Section:
    facts = [
        ("method", f"{disclosure.method}: {METHODS[disclosure.method]}"),
        *([] if disclosure.rhat is None else [("R-hat", f"{disclosure.rhat:.3f}")]),
        *([] if disclosure.sweeps is None else [("sweeps that count", shown(disclosure.sweeps))]),
        *(
            []
            if disclosure.strength is None
            else [("strength of the prior", f"{amount(disclosure.strength)} messages")]
        ),
        *([] if disclosure.bits is None else [("bits of all friends", _digits(disclosure.bits))]),
        ("seed", str(disclosure.seed)),
        ("made by", f"anonymatch {version}"),
    ]
    body = render(
        "audit_method.html",
        caveats=_CAVEATS,
        notes=disclosure.notes,
        facts=facts,
        command=command,
    )
    return Section("about", "Caveats and method", body)
