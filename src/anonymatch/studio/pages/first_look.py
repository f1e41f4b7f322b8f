"""What a file is, before it is audited: its kind, its size, its load over time and its delays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.graph import Graph
from anonymatch.mixes import FirstLook, Law, Messages
from anonymatch.studio.charts import candidates_chart, delays_chart, load_chart
from anonymatch.studio.log_preview import LawTrial, span_words, try_law
from anonymatch.studio.widgets import DrawnChart, box, chart, drawn_chart, table, text, tiles
from anonymatch.tables import TablesLook

__all__ = ["Look", "Trial", "look_at", "look_words", "show_look", "show_trial", "trial_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """A first look, and the chart of its load."""

    look: FirstLook
    load: DrawnChart | None


def look_at(look: FirstLook) -> Look:
    """What is drawn of a first look; it takes some tenths of a second."""
    messages = look.messages
    if messages is None or not (messages.n_in or messages.n_out):
        return Look(look=look, load=None)
    return Look(look=look, load=drawn_chart(load_chart(messages), "load"))


def look_words(look: FirstLook) -> str:
    """What a file is in a few words."""
    if look.messages is not None:
        span, _ = span_words(look.messages)
        return f"{look.messages.n_in:,} messages in, {look.messages.n_out:,} out, {span}"
    if look.tables is not None:
        people = plural(look.tables.original.n_rows, "person", "people")
        return f"{people}, {plural(look.tables.released.n_rows, 'row')} released"
    if look.rings is not None and look.graph is not None:
        return f"{look.graph.n_users:,} inputs, {look.graph.n_behaviours:,} outputs"
    if look.graph is not None:
        return f"{look.graph.n_users:,} users, {look.graph.n_edges:,} edges"
    return look.kind


def show_look(drawn: Look) -> None:
    """Put it on the page."""
    look = drawn.look
    text(f"{look.text[:1].upper()}{look.text[1:]}.", "p", "words")
    if look.messages is not None:
        tiles(_log_tiles(look.messages))
        for note in look.messages.notes:
            text(note, "p", "note")
    elif look.tables is not None:
        _show_tables(look.tables)
    elif look.graph is not None:
        tiles(_graph_tiles(look.graph, rings=look.rings is not None))
    if drawn.load is not None and look.messages is not None:
        told = (
            "Messages that came in and have not left yet, as the log tells."
            if look.messages.truth is not None
            else "Messages in and out; the log does not tell which is which."
        )
        chart(drawn.load, told)


def _show_tables(tables: TablesLook) -> None:
    with box("div", "trial"):
        for title, one in (("The release", tables.released), ("The original", tables.original)):
            with box("div"):
                text(title, "h3")
                more = one.n_rows - len(one.rows)
                table(
                    list(one.columns),
                    [[cell or "–" for cell in row] for row in one.rows],
                    title.removeprefix("The "),
                    title=f"First rows of {title.lower()}",
                    saves=False,
                )
                if more > 0:
                    text(f"and {plural(more, 'more row', 'more rows')}", "p", "soft")


def _graph_tiles(graph: Graph, *, rings: bool) -> list[tuple[str, str, str]]:
    each = amount(graph.n_edges / max(graph.n_users, 1))
    if rings:
        return [
            ("Inputs", shown(graph.n_users), "each spends one output of its ring"),
            ("Outputs", shown(graph.n_behaviours), "that are in some ring"),
            ("Members of a ring", each, "on average"),
        ]
    return [
        ("Users", shown(graph.n_users), "everybody who may have done something"),
        ("Behaviours", shown(graph.n_behaviours), "what was seen"),
        ("Edges", shown(graph.n_edges), f"pairs that fit; {each} a user"),
    ]


def _log_tiles(messages: Messages) -> list[tuple[str, str, str]]:
    span, ends = span_words(messages)
    people = len(set(messages.senders)), len(set(messages.receivers))
    entries = [
        ("Messages", f"{messages.n_in:,} in, {messages.n_out:,} out", _people(*people)),
        ("Time", span, ends),
    ]
    if messages.truth is None:
        entries.append(("Truth", "not in the log", "so guesses cannot be scored"))
    else:
        known = int(np.count_nonzero(messages.truth >= 0))
        share = percent(known / max(messages.n_in, 1))
        entries.append(("Truth", f"{share} known", f"{known:,} messages whose way out is told"))
    for name, flags, meaning in (
        ("Cover", messages.cover, "of the messages out are known to be nobody's"),
        ("Lost or dummies", messages.lost, "of the messages in are known not to come out"),
    ):
        if flags is not None and flags.any():
            entries.append((name, percent(float(flags.mean())), meaning))
    return entries


def _people(senders: int, receivers: int) -> str:
    return f"{shown(senders)} senders, {shown(receivers)} receivers"


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """What a law makes of a log, and the charts of it."""

    trial: LawTrial
    delays: DrawnChart | None
    candidates: DrawnChart | None


def trial_of(messages: Messages, law: Law) -> Trial:
    """Try a law on a log, and draw that."""
    trial = try_law(messages, law)
    delays, candidates = (
        delays_chart(messages.true_delays(), law),
        candidates_chart(trial.candidates),
    )
    return Trial(
        trial=trial,
        delays=None if delays is None else drawn_chart(delays, "delays"),
        candidates=None if candidates is None else drawn_chart(candidates, "candidates"),
    )


def show_trial(drawn: Trial, messages: Messages) -> None:
    """Put it on the page."""
    trial = drawn.trial
    text(trial.words(), "p", "words" if trial.fits else "words misfit")
    with box("div", "trial"):
        if drawn.delays is not None:
            told = "Bars are the delays that the log tells, the line is the law."
            alone = "The density of the law; the log does not tell delays."
            chart(drawn.delays, told if len(messages.true_delays()) else alone)
        if drawn.candidates is not None:
            chart(
                drawn.candidates,
                "How many messages out fit a message under the law, each seen alone: what the "
                "audit then narrows down, as all must fit together.",
            )
