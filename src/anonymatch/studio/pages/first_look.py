"""What a file is before it is audited: its kind, load and delays, and a law that is tried on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.graph import Graph
from anonymatch.mixes import (
    Candidates,
    DensityLaw,
    FirstLook,
    Law,
    Linked,
    Messages,
    delay_log_density,
    on_clock_of,
)
from anonymatch.reporting.charts import (
    AnyChart,
    Line,
    histogram_chart,
    line_chart,
)
from anonymatch.studio import widgets as w
from anonymatch.studio.tuning import TUNING
from anonymatch.tables import TablesLook


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


def show_look(look: FirstLook) -> None:
    """Show what a file is."""
    w.text(f"{look.text[:1].upper()}{look.text[1:]}.", "p", "words")
    if look.messages is not None:
        w.tiles(_log_tiles(look.messages))
        for note in look.messages.notes:
            w.text(note, "p", "note")
    elif look.tables is not None:
        _show_tables(look.tables)
    elif look.graph is not None:
        w.tiles(_graph_tiles(look.graph, rings=look.rings is not None))
    if look.messages is not None and (look.messages.n_in or look.messages.n_out):
        told = (
            "Messages that came in and have not left yet, as the log tells."
            if look.messages.truth is not None
            else "Messages in and out; the log does not tell which is which."
        )
        w.chart(partial(load_chart, look.messages), "load", told)


def _show_tables(tables: TablesLook) -> None:
    with w.box("div", "trial"):
        for title, one in (("The release", tables.released), ("The original", tables.original)):
            with w.box("div"):
                w.text(title, "h3")
                more = one.n_rows - len(one.rows)
                w.table(
                    list(one.columns),
                    [[cell or "–" for cell in row] for row in one.rows],
                    title.removeprefix("The "),
                    title=f"First rows of {title.lower()}",
                    saves=False,
                )
                if more > 0:
                    w.text(f"and {plural(more, 'more row', 'more rows')}", "p", "soft")


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


def show_trial(trial: LawTrial, messages: Messages) -> None:
    """Show what a law makes of a log."""
    w.text(trial.words(), "p", "words" if trial.fits else "words misfit")
    delays = messages.true_delays()
    with w.box("div", "trial"):
        if _longest(delays, trial.law) is not None:
            told = "One line is the delays of the log, the other is the law."
            alone = "The density of the law; the log does not tell delays."
            w.chart(
                partial(delays_chart, delays, trial.law), "delays", told if len(delays) else alone
            )
        if len(trial.candidates):
            w.chart(
                partial(candidates_chart, trial.candidates),
                "candidates",
                "Compatible messages out under the law, for each message alone. The audit narrows "
                "them down, because all messages must be matched together.",
            )


_UNITS = ((2 * 86400.0, 86400.0, "days"), (7200.0, 3600.0, "hours"), (300.0, 60.0, "minutes"))


def time_unit(seconds: float) -> tuple[float, str]:
    """A unit for a span of time, in seconds, and its name.

    Examples
    --------
    >>> time_unit(90.0), time_unit(8000.0)
    ((1.0, 's'), (3600.0, 'hours'))
    """
    return next(((unit, name) for least, unit, name in _UNITS if seconds >= least), (1.0, "s"))


def span_words(messages: Messages) -> tuple[str, str]:
    """How long a log is, and from when to when."""
    first, last = _ends(messages)
    unit, name = time_unit(last - first)
    ends = f"from {messages.moment(first).removesuffix(' s')} to {messages.moment(last)}"
    return f"{amount((last - first) / unit)} {name}", ends


def _ends(messages: Messages) -> tuple[float, float]:
    times = [
        float(times[at])
        for times in (messages.arrivals, messages.departures)
        if len(times)
        for at in (0, -1)
    ]
    return min(times, default=0.0), max(times, default=0.0)


def load(messages: Messages) -> tuple[list[Line], str, str]:
    """The load over time as lines, with names of both axes.

    Messages inside, where the log tells which came out; else arrivals and departures.

    Examples
    --------
    >>> log = Messages(
    ...     arrivals=[0, 1], departures=[2, 4], senders="ab", receivers="xy", truth=[0, 1]
    ... )
    >>> lines, x, y = load(log)
    >>> x, y, max(lines[0].y), lines[0].y[-1]
    ('s from the first', 'messages inside', 2, 0)
    """
    first, last = _ends(messages)
    unit, name = time_unit(last - first)
    x_label = f"{name} from the first"
    if messages.truth is not None:
        known = messages.truth >= 0
        came = messages.arrivals[known]
        left = np.sort(messages.departures[messages.truth[known]])
        times = np.linspace(first, last, TUNING.load_points)
        inside = np.searchsorted(came, times, "right") - np.searchsorted(left, times, "right")
        xs = ((times - first) / unit).tolist()
        return [Line("inside", xs, inside.tolist())], x_label, "messages inside"
    ends = np.linspace(first, last, TUNING.load_bins + 1)
    width = max((last - first) / TUNING.load_bins, 1e-300)
    middles = (((ends[1:] + ends[:-1]) / 2 - first) / unit).tolist()
    lines = [
        Line(name, middles, (np.histogram(times, ends)[0] / width).tolist())
        for name, times in (("in", messages.arrivals), ("out", messages.departures))
    ]
    return lines, x_label, "messages a second"


@dataclass(frozen=True, kw_only=True, eq=False)
class LawTrial:
    """What a law makes of a log, message by message, before anything is counted.

    ``candidates`` has the effective number of compatible messages out, for some messages; it is
    empty for laws without a graph of candidates. ``nothing`` counts messages without a candidate,
    and ``orphans`` messages out without a possible sender.
    """

    law: Law
    candidates: Floats
    nothing: int = 0
    orphans: int = 0

    @property
    def fits(self) -> bool:
        """Whether everything that was seen can have happened, as far as this look says."""
        return not self.nothing and not self.orphans

    def words(self) -> str:
        """The same in a sentence or two."""
        if not len(self.candidates):
            return (
                "Who may be who follows from how many are inside at each sending: the audit tells."
            )
        low, middle = float(self.candidates.min()), float(np.median(self.candidates))
        typical = "1 message out fits" if middle < 1.05 else f"{middle:,.3g} messages out fit"
        text = (
            f"Under this law {typical} a typical message, and {low:,.3g} the one that fits fewest, "
            "each seen alone."
        )
        misfits = []
        if self.nothing:
            verb = "fits" if self.nothing == 1 else "fit"
            misfits.append(f"{plural(self.nothing, 'message')} {verb} nothing that came out")
        if self.orphans:
            misfits.append(f"{plural(self.orphans, 'message')} out can be nobody's")
        if misfits:
            text += f" But {' and '.join(misfits)}: the law, or the unit of times, is another one."
        return text


def try_law(messages: Messages, law: Law) -> LawTrial:
    """Candidates of messages under a law; those that are known to be lost or cover are left out.

    Examples
    --------
    >>> from anonymatch.mixes import parse_law, synthesize
    >>> trial = try_law(synthesize("window:1,5", messages=200, seed=1), parse_law("window:1,5"))
    >>> trial.fits, round(float(trial.candidates.mean()), 1)
    (True, 4.6)
    """
    messages = on_clock_of(law, messages)
    users = np.flatnonzero(_real(messages.lost, messages.n_in))
    behaviours = np.flatnonzero(_real(messages.cover, messages.n_out))
    end = _ends(messages)[1]
    if not len(users):
        return LawTrial(law=law, candidates=np.empty(0))
    try:
        runs = law.candidates(
            messages.arrivals, messages.departures, users=users, behaviours=behaviours, end=end
        )
    except InputError:  # laws that follow how many are inside
        return LawTrial(law=law, candidates=np.empty(0))
    lengths = np.maximum(runs.end - runs.first, 0)
    nothing = int(np.count_nonzero((lengths == 0) & ~runs.late))
    orphans = len(runs.orphans(len(behaviours)))
    counts = lengths[lengths > 0].astype(np.float64)
    if runs.weigh is not None:
        some = np.flatnonzero(lengths > 0)
        some = some[np.linspace(0, len(some) - 1, min(TUNING.tried, len(some))).astype(np.int64)]
        counts = np.array([_effective(runs, i) for i in some.tolist()])
    return LawTrial(law=law, candidates=counts, nothing=nothing, orphans=orphans)


def _real(flags: Bools | None, size: int) -> Bools:
    return np.ones(size, dtype=np.bool_) if flags is None else ~flags


def _effective(runs: Candidates, row: int) -> float:
    """As many equally likely candidates as leave the same doubt about one message, seen alone."""
    begin, end = int(runs.first[row]), int(runs.end[row])
    columns = np.arange(begin, min(end, begin + TUNING.weighed))
    assert runs.weigh is not None
    logs = runs.weigh(np.full(len(columns), row), columns)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    some = shares[shares > 0]
    return math.exp(-float((some * np.log(some)).sum()))


def load_chart(messages: Messages) -> AnyChart:
    """Draw the messages inside over time, or arrivals and departures."""
    lines, x_label, y_label = load(messages)
    return line_chart(lines, title="Load over time", x_label=x_label, y_label=y_label, zero=True)


def delays_chart(delays: Floats, law: Law | None = None) -> AnyChart | None:
    """Draw the delays of a log and the density of a law; None if there is neither."""
    longest = _longest(delays, law)
    if longest is None:
        return None
    lines = []
    if len(delays):
        counts, ends = np.histogram(delays, bins=TUNING.delay_bins, range=(0.0, longest))
        heights = counts / (len(delays) * longest / TUNING.delay_bins)
        lines.append(Line("log", ((ends[1:] + ends[:-1]) / 2).tolist(), heights.tolist()))
    if law is not None and _has_density(law):
        times = np.linspace(longest / TUNING.curve_points / 100, longest, TUNING.curve_points)
        with np.errstate(over="ignore"):
            density = np.exp(delay_log_density(law, times)).tolist()
        lines.append(Line(str(law), times.tolist(), density))
    if not lines:
        return None
    return line_chart(
        lines, title="Delays", x_label="delay, s", y_label="density, per second", zero=True
    )


def _has_density(law: Law) -> bool:
    inner = law.law if isinstance(law, Linked) else law
    return isinstance(inner, DensityLaw) and inner.spread_out


def _longest(delays: Floats, law: Law | None) -> float | None:
    ends = [float(np.quantile(delays, TUNING.tail))] if len(delays) else []
    if law is not None and _has_density(law):
        reach = law.end_delay(None)
        ends += [] if reach is None or not math.isfinite(reach) else [1.02 * reach]
    if not ends:
        return None
    # The axis shows both the delays and a law that is far off.
    longest = min(max(ends), 4 * min(ends))
    return longest if longest > 0 else None


def candidates_chart(candidates: Floats) -> AnyChart | None:
    """Draw the number of compatible departures per message; None if that is not known."""
    if not len(candidates):
        return None
    return histogram_chart(
        candidates,
        title="Candidates of a message",
        x_label="compatible messages out",
        noun="message",
    )
