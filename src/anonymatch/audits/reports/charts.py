"""The charts of an audit, in one table: what each is called, what draws it, and why it may be none.

`Audit.chart`, reports and ``--figures`` read this table. To add a chart is to add an entry to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from anonymatch.audits.alternatives import has_designs, rivals
from anonymatch.audits.answers import links_of
from anonymatch.audits.result import Audit, ExposedAudit, ScoredAudit
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, in_bits, percent, seconds
from anonymatch.base.text import did_you_mean
from anonymatch.counting.measures import Range, averages
from anonymatch.mixes import MessageAudit, MessageObservation, MixAudit, network_of, passage_of
from anonymatch.reporting.charts import (
    CELLS,
    AnyChart,
    Inside,
    Kept,
    Line,
    Mark,
    Point,
    TimedLine,
    calibration_chart,
    histogram_chart,
    inside_over_time,
    line_chart,
    matrix_over_time,
    scatter_chart,
    stretch_ends,
    time_chart,
)

__all__ = ["CHARTS", "AuditChart", "audit_charts", "chart_of", "load_of"]

Indices = npt.NDArray[np.int32]

_WORST = 0.01
_MANY = 100  # users of whom one is 1 %
_NARROW = 1e-6  # relative; closer ends are one number to a reader
_WIDE = 0.2  # relative; the middle of ends further apart says little
_FAR = 20.0  # the most over the least, from which a logarithmic axis reads better
_SEEN = 0.05  # share of the bits that must go for a curve of what is left to show it
_EDGES = 1 << 22  # pairs of which cells are counted at once
_OBJECTIVES = {
    "matchings": "most explanations",
    "after_attack": "most left after an exposure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditChart:
    """A chart: its name, what it shows, what draws it, and why an audit has none ("" if it has)."""

    name: str
    meaning: str
    draw: Callable[[Audit], AnyChart]
    missing: Callable[[Audit], str]


def chart_of(audit: Audit, name: str) -> AnyChart:
    """The chart of that name.

    Examples
    --------
    >>> import anonymatch as am
    >>> chart_of(am.audit(am.complete(4)), "delay")
    Traceback (most recent call last):
    anonymatch.InputError: this audit has no chart 'delay': the log knows no delays
    """
    chart = CHARTS.get(name)
    if chart is None:
        known = ", ".join(CHARTS)
        near = did_you_mean(name, CHARTS)
        raise InputError(f"there is no chart {name!r}; known are {known}{near}")
    reason = chart.missing(audit)
    if reason:
        raise InputError(f"this audit has no chart {name!r}: {reason}")
    return chart.draw(audit)


def audit_charts(audit: Audit) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this audit has, by name.

    Examples
    --------
    >>> import anonymatch as am
    >>> list(audit_charts(am.audit(am.complete(4))))
    ['entropy', 'set_size', 'probability', 'exposures', 'cost']
    """

    def made(chart: AuditChart) -> Callable[[], AnyChart]:
        return lambda: chart.draw(audit)

    return {name: made(chart) for name, chart in CHARTS.items() if not chart.missing(audit)}


def load_of(audit: Audit) -> Inside | None:
    """How many are inside over time: expected where losses or cover are open; None of no log."""
    observation, links = audit.observation, links_of(audit.answers)
    if not isinstance(observation, MessageObservation):
        return None
    came, left = observation.arrivals, observation.departures
    if came is None or left is None:
        return None
    network = network_of(observation)
    if network is not None:  # with those that are cover, looked at or not
        return inside_over_time(network.came, left)
    if links is not None:
        return inside_over_time(came, left, 1.0 - links.lost, links.real)
    if observation.graph is None or (not observation.lost and len(came) == len(left)):
        return inside_over_time(came, left)
    return inside_over_time(came, left, *_expected(audit, len(came), len(left)))


def _expected(audit: Audit, came: int, left: int) -> tuple[Floats, Floats]:
    """Probabilities to come out, and to be somebody's, of a graph with places for lost users."""
    graph, posterior = audit.observation.graph, audit.answers.probabilities
    assert graph is not None
    if posterior is None:
        out = came - audit.observation.lost
        return np.full(came, out / max(came, 1)), np.full(left, out / max(left, 1))
    real = graph.indices < left
    shares = np.where(real, posterior.probabilities, 0.0)
    staying: Floats = np.bincount(graph.rows(), shares, minlength=came).astype(np.float64)
    used: Floats = np.bincount(graph.indices, shares, minlength=left).astype(np.float64)
    return staying, used[:left]


def _spread(
    audit: Audit,
    figures: Range,
    *,
    worse: str,
    title: str,
    x_label: str,
    marks: list[Mark],
    log: bool | None = False,
    share: bool = False,
    brush: bool = False,
) -> AnyChart:
    """Figures of the counted users, the worse end where only ends are known, and who they are."""
    users, words = audit.answers.users, audit.observation.nouns
    end = figures.low if worse == "low" else figures.high
    return histogram_chart(
        np.where(np.isnan(figures.value), end, figures.value)[users.counted],
        title=title,
        x_label=x_label,
        noun=words.user,
        nouns=words.users,
        names=[users.users[k] for k in np.flatnonzero(users.counted).tolist()],
        weights=None if users.weights is None else users.weights[users.counted],
        marks=marks,
        log=log,
        share=share,
        brush=brush,
    )


def _mark(name: str, figure: Interval, write: Callable[[float], str], worse: str = "low") -> Mark:
    """A line at a figure; one that is known as a wide interval stands at its worse end."""
    width, size = figure.high - figure.low, max(abs(figure.high), 1e-9)
    if width > _WIDE * size or math.isnan(figure.value):
        at = figure.low if worse == "low" else figure.high
        both = f"{figure.low:.3g}" if write is _bits else write(figure.low).removesuffix(" %")
        return Mark(f"{name} {both} to {write(figure.high)}", at, figure.low, figure.high)
    ends = (figure.low, figure.high) if width > _NARROW * size else (None, None)
    return Mark(f"{name} {write(figure.value)}", figure.value, *ends)


def _quantiles(audit: Audit, figures: Range, write: Callable[[float], str]) -> list[Mark]:
    users = audit.answers.users
    shares = [("worst 1 %:", _WORST)] if audit.n_counted >= _MANY else [("worst:", 0.0)]
    marks = []
    for name, share in (*shares, ("median", 0.5)):
        figure = averages.quantile(users, figures, share)
        if figure is not None:
            marks.append(_mark(name, figure, write))
    return marks


def _bits(value: float) -> str:
    return in_bits(f"{value:.3g}")


def _entropy(audit: Audit) -> AnyChart:
    bits = audit.answers.users.shannon
    marks = _quantiles(audit, bits, _bits)
    if audit.threshold_given and audit.threshold > 0:
        least = math.log2(audit.threshold)
        marks.append(Mark(f"threshold {_bits(least)}", least))
    return _spread(
        audit,
        bits,
        worse="low",
        title=f"Entropy of {audit.observation.nouns.users}",
        x_label="entropy, bits",
        marks=marks,
        brush=True,
    )


def _set_size(audit: Audit) -> AnyChart:
    sizes = audit.answers.users.effective
    marks = _quantiles(audit, sizes, amount)
    if audit.threshold_given:
        marks.append(Mark(f"threshold {amount(audit.threshold)}", audit.threshold))
    return _spread(
        audit,
        sizes,
        worse="low",
        title=f"How many others {audit.observation.nouns.users} hide among",
        x_label="effective set size",
        marks=marks,
        log=None,
    )


def _probability(audit: Audit) -> AnyChart:
    return _spread(
        audit,
        audit.answers.users.surest,
        worse="high",
        title="How sure the attacker's best guesses are",
        x_label="probability that the best guess is right",
        marks=[_mark("surest:", audit.surest, percent, "high")],
        share=True,
    )


def _delay(audit: Audit) -> AnyChart:
    observation = _messages(audit)
    delays = observation.true_delays
    assert delays is not None
    assert observation.truth is not None
    known = np.flatnonzero(observation.truth >= 0).tolist()
    words = observation.nouns
    late = float(np.quantile(delays, 1 - _WORST))
    marks = [Mark(f"mean {seconds(float(delays.mean()))}", float(delays.mean()))]
    if len(delays) >= _MANY:
        marks.append(Mark(f"99 % within {seconds(late)}", late))
    return histogram_chart(
        delays,
        title=f"How long {words.users} are held back",
        x_label="delay, seconds",
        noun=words.user,
        nouns=words.users,
        names=[audit.answers.users.users[k] for k in known],
        marks=marks,
    )


def _messages(audit: Audit) -> MessageObservation:
    assert isinstance(audit, MessageAudit)
    return audit.observation


def _time(audit: Audit) -> AnyChart:
    users, observation = audit.answers.users, _messages(audit)
    assert observation.arrivals is not None
    came = _since(audit)
    ends = stretch_ends(came[users.counted])
    group: Ints = np.clip(np.searchsorted(ends, came, side="right") - 1, 0, len(ends) - 2)
    stretches = averages.in_groups(users, users.shannon, group, len(ends) - 1, _WORST)
    means = [None if each is None else each[0] for each in stretches]
    tails = [None if each is None else each[1] for each in stretches]
    words = observation.nouns
    many = np.median([each[2] for each in stretches if each is not None]) >= _MANY
    return time_chart(
        ends,
        [_timed("mean", means), _timed("worst 1 %" if many else "worst", tails)],
        title=f"Entropy of {words.users} over time",
        y_label="entropy, bits",
        noun=words.user,
        nouns=words.users,
        numbers=[0 if each is None else each[2] for each in stretches],
        inside=load_of(audit),
    )


def _since(audit: Audit) -> Floats:
    """Seconds from the first event of the log to each user's arrival."""
    observation = _messages(audit)
    assert observation.arrivals is not None
    assert observation.departures is not None
    network = network_of(observation)
    came = observation.arrivals if network is None else network.came
    events = (came, observation.departures)
    first = min(float(times.min()) for times in events if len(times))
    since: Floats = observation.arrivals - first
    return since


def _timed(name: str, figures: list[Interval | None]) -> TimedLine:
    """A line of figures; with their ends where they are intervals."""
    middle = [
        None
        if each is None
        else (each.low + each.high) / 2
        if math.isnan(each.value)
        else each.value
        for each in figures
    ]
    known = [each for each in figures if each is not None]
    if all(each.high - each.low <= _NARROW * max(each.high, 1e-9) for each in known):
        return TimedLine(name, middle)
    low, high = (
        [None if each is None else getattr(each, end) for each in figures]
        for end in ("low", "high")
    )
    return TimedLine(name, middle, low, high)


def _matrix(audit: Audit) -> AnyChart:
    observation, graph = _messages(audit), audit.observation.graph
    assert graph is not None
    assert observation.arrivals is not None
    assert observation.departures is not None
    came, left = _since(audit), observation.departures
    lasted = float(came.max()) or 1.0
    first = float(observation.arrivals[0] - came[0])
    # Two looks: where delays begin and end, and how many candidates are in each cell.
    ends = [math.inf, -math.inf]
    for rows, columns in _pairs(audit):
        delays = left[columns] - first - came[rows]
        ends = [min(ends[0], float(delays.min())), max(ends[1], float(delays.max()))]
    low, high = ends if ends[0] < ends[1] else (ends[0], ends[0] + 1.0)
    across, up = min(CELLS[0], max(len(came) // 8, 1)), CELLS[1]
    stretch = np.minimum((came / lasted * across).astype(np.int64), across - 1)
    cells = np.zeros(across * up)
    for rows, columns in _pairs(audit):
        delays = left[columns] - first - came[rows]
        level = np.minimum(((delays - low) / (high - low) * up).astype(np.int64), up - 1)
        cells += np.bincount(stretch[rows] * up + level, minlength=across * up)
    each = np.maximum(np.bincount(stretch, minlength=across), 1)
    words = observation.nouns
    return matrix_over_time(
        cells.reshape(across, up) / each[:, None],
        lasted=lasted,
        delays=(max(low, 0.0), high),
        title="Who may have done what, over time",
        noun=words.user,
        behaviours=words.behaviours,
    )


def _pairs(audit: Audit) -> Iterator[tuple[Indices, Indices]]:
    """Users and behaviours that fit, without places for lost users, in pieces."""
    graph, departures = audit.observation.graph, _messages(audit).departures
    assert graph is not None
    assert departures is not None
    rows, columns = graph.rows(), graph.indices
    for begin in range(0, len(columns), _EDGES):
        some = columns[begin : begin + _EDGES]
        real = some < len(departures)
        if real.any():
            yield rows[begin : begin + _EDGES][real], some[real]


def _exposures(audit: Audit) -> AnyChart:
    assert isinstance(audit, ExposedAudit)
    steps, total = audit.campaign.steps, audit.bits.value * audit.n_users
    numbers = [0, *(step.number for step in steps)]
    left = [total, *(step.bits_left for step in steps)]
    visible = total - left[-1] >= _SEEN * total
    name = "bits left" if visible else "bits lost"
    return line_chart(
        [Line(name, numbers, left if visible else [total - bits for bits in left])],
        title="Exposures one after another",
        x_label="exposed so far",
        y_label=f"{name}, whole system",
    )


def _calibration(audit: Audit) -> AnyChart:
    assert isinstance(audit, ScoredAudit)
    assert audit.score is not None
    groups = [Kept(each.guesses, each.promised, each.right) for each in audit.score.bins]
    return calibration_chart(groups, title="Promised and come true")


def _cost(audit: Audit) -> AnyChart:
    assert isinstance(audit, ExposedAudit)
    words = audit.observation.nouns
    across, up = zip(*audit.front, strict=True)
    far = min(across) > 0 and max(across) >= _FAR * min(across)
    own = Point(
        "this system", audit.cost.candidates, audit.bits.value, audit.bits.low, audit.bits.high
    )
    best = [
        Point(
            _OBJECTIVES.get(design.objective, design.objective),
            audit.cost.candidates,
            design.log2 / max(design.users, 1),
        )
        for design in audit.designs
    ]
    return scatter_chart(
        [own, *_apart(best), Point("bound of its own candidates", own.x, audit.bound, side="left")],
        [Line("partition graphs", across, up)],
        title="Cost against anonymity",
        x_label=f"candidates a {words.user}" + (" (logarithmic)" if far else ""),
        y_label=f"joint bits per {words.user}",
        log_x=far,
    )


def _apart(points: list[Point]) -> list[Point]:
    """One point of those that would lie on each other."""
    first: dict[float, Point] = {}
    for point in points:
        first.setdefault(round(point.y, 2), point)
    return list(first.values())


def _latency(audit: Audit) -> AnyChart:
    assert isinstance(audit, MessageAudit)
    assert audit.cost.mean_delay is not None
    delay, entropy = audit.cost.mean_delay, audit.entropy
    points = [Point("this system", delay, entropy.value, entropy.low, entropy.high)]
    if audit.ceiling is not None:
        points.append(Point("ceiling of this log", delay, audit.ceiling.value, side="left"))
    return scatter_chart(
        points,
        [
            Line(name, [x for x, _ in line], [y for _, y in line])
            for name, line in rivals(audit.observation, audit.cost.packets).items()
        ],
        title="Delay against anonymity",
        x_label="mean delay, seconds (logarithmic)",
        y_label=f"entropy per {audit.observation.nouns.user}, bits",
        log_x=True,
    )


def _nobody(audit: Audit) -> str:
    words = audit.observation.nouns
    return "" if audit.n_counted else f"there are no {words.users} to draw"


def _no_truth(audit: Audit) -> str:
    delays = audit.observation.true_delays if isinstance(audit, MessageAudit) else None
    if delays is None:
        return "the log knows no delays"
    return "" if len(delays) else "of no message the truth is known"


def _no_times(audit: Audit) -> str:
    if not isinstance(audit, MessageAudit) or audit.observation.arrivals is None:
        return "its source has no times"
    return _nobody(audit)


def _no_matrix(audit: Audit) -> str:
    observation = audit.observation
    if observation.graph is None:
        return "whoever is inside fits what leaves, so that no graph is made; see 'time'"
    if not isinstance(observation, MessageObservation) or observation.arrivals is None:
        return "its source has no times"
    return "" if observation.graph.n_edges and len(observation.arrivals) else "nothing fits"


def _no_exposures(audit: Audit) -> str:
    if not isinstance(audit, ExposedAudit):
        return "exposures are followed in one graph or through one mix"
    return "" if audit.campaign.steps else audit.campaign.reason or "nobody is exposed"


def _no_score(audit: Audit) -> str:
    if not isinstance(audit, ScoredAudit) or audit.observation.truth is None:
        return "the log knows no truth"
    return "" if audit.score is not None else "probabilities are known as intervals only"


def _of_rounds(audit: Audit, name: str) -> AnyChart:
    from anonymatch.disclosure import disclosure_charts

    assert isinstance(audit, MixAudit)
    assert audit.disclosure is not None
    return disclosure_charts(audit.disclosure)[name]()


def _no_rounds(audit: Audit, name: str) -> str:
    if not isinstance(audit, MixAudit) or audit.disclosure is None:
        return "the log has no rounds"
    from anonymatch.disclosure import disclosure_charts

    return "" if name in disclosure_charts(audit.disclosure) else "rounds tell nothing of it"


def _no_designs(audit: Audit) -> str:
    if isinstance(audit, ExposedAudit) and has_designs(audit.observation, audit.answers):
        return ""
    if passage_of(audit.observation) is not None:
        return "whoever came before is a candidate, and what is paid is delay; see 'latency'"
    words = audit.observation.nouns
    return f"designs are for as many {words.behaviours} as {words.users}, none of them lost"


def _no_rivals(audit: Audit) -> str:
    if isinstance(audit, MessageAudit) and audit.n_counted and audit.same_delay:
        return ""
    return "delay or traffic are not known"


_TABLE = (
    AuditChart(
        name="entropy",
        meaning="how entropy is spread, with the worst 1 %, the median and a threshold that is set",
        draw=_entropy,
        missing=_nobody,
    ),
    AuditChart(
        name="set_size",
        meaning="the same as effective set sizes",
        draw=_set_size,
        missing=_nobody,
    ),
    AuditChart(
        name="probability",
        meaning="how sure the attacker's best guesses are",
        draw=_probability,
        missing=_nobody,
    ),
    AuditChart(
        name="time",
        meaning="entropy over time, its mean and the worst 1 %, over the load of the mix",
        draw=_time,
        missing=_no_times,
    ),
    AuditChart(
        name="matrix",
        meaning="candidates by the time of arrival and their delay",
        draw=_matrix,
        missing=_no_matrix,
    ),
    AuditChart(
        name="delay",
        meaning="how long messages are held back, where the truth is known",
        draw=_delay,
        missing=_no_truth,
    ),
    AuditChart(
        name="exposures",
        meaning="what is left when users are exposed one after another",
        draw=_exposures,
        missing=_no_exposures,
    ),
    AuditChart(
        name="decay",
        meaning="bits by rounds seen",
        draw=lambda audit: _of_rounds(audit, "bits"),
        missing=lambda audit: _no_rounds(audit, "bits"),
    ),
    AuditChart(
        name="decay_guesses",
        meaning="guesses that are right by rounds seen",
        draw=lambda audit: _of_rounds(audit, "guesses"),
        missing=lambda audit: _no_rounds(audit, "guesses"),
    ),
    AuditChart(
        name="cost",
        meaning="candidates against joint bits: this system, the best designs and the bound",
        draw=_cost,
        missing=_no_designs,
    ),
    AuditChart(
        name="latency",
        meaning="delay against entropy: this system, other mixes and the ceiling",
        draw=_latency,
        missing=_no_rivals,
    ),
    AuditChart(
        name="calibration",
        meaning="promised probabilities against what came true",
        draw=_calibration,
        missing=_no_score,
    ),
)

CHARTS: Mapping[str, AuditChart] = MappingProxyType({each.name: each for each in _TABLE})
"""All of them by name, in the order of a report."""
