"""Plans in words: the only place that turns a plan into a report."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import several
from anonymatch.planning.charts import covers, front_by_delay, trade_chart
from anonymatch.planning.result import NetworkPlan, Setting
from anonymatch.planning.wording import cover_in_words, width_in_words
from anonymatch.reporting.report import (
    AMOUNT,
    SECONDS,
    SHARE,
    Basis,
    Better,
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

__all__ = ["plan_report", "plan_thresholds"]

_BITS = Unit("bits")
_PLACES = Unit(write=lambda value: f"{value:.2f}")
_BOUNDS = (
    "The ceiling is for Poisson traffic whose cover goes from end to end; cover created inside "
    "raises it. Threshold and pool mixes look best until traffic stops or an attacker sends "
    "messages: check the 99 % delay and the n-1 attack. Users who stay the same over many rounds "
    "lose more anonymity: see 'anonymatch rounds'."
)
_COLUMNS = (
    "The ceiling bounds the entropy at the delay and cover of a setting, for every attacker who "
    "sees at least both ends. The queue delay comes in addition if clients send at a steady pace."
)


def plan_thresholds(plan: NetworkPlan) -> dict[str, float]:
    """Return the targets of a plan as thresholds for `judge`.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2)
    >>> plan_thresholds(plan)
    {'mean_delay': 2.0}
    """
    targets = plan.request.targets
    asked = {
        "worst": targets.among,
        "mean_delay": targets.mean_delay,
        "delay_99": targets.delay_99,
        "packets": targets.packets,
        "identified": targets.identified,
    }
    return {name: float(value) for name, value in asked.items() if value is not None}


def plan_report(plan: NetworkPlan, *, half_life: bool = True) -> Report:
    """Return everything that a plan says; ``half_life`` takes a simulation, so it is optional.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2)
    >>> report = plan_report(plan, half_life=False)
    >>> [line[0] for line in report.lines()][:3], list(report.drawings())
    (['setting', 'cover', 'mean delay'], ['delay', 'delay_99', 'cover'])
    """
    setting = plan.best or plan.nearest
    return Report(
        title=f"Plan of {plan.network}",
        subject=f"{amount(plan.messages)} messages per second",
        attacker=(
            f"The attacker {plan.request.adversary.in_words}, and knows the mixes; hops are "
            "independent. An attacker who sees only both ends learns less."
        ),
        headline=(plan.verdict,),
        figures=() if setting is None else tuple(_figures(plan, setting, half_life)),
        tables=(_front(plan),),
        charts=tuple(_charts(plan)),
        notes=(
            Note(text=_front_words(plan), section="front"),
            Note(text=_BOUNDS, section="front"),
            Note(text=_COLUMNS, section="front", prominence=Prominence.DETAIL),
        ),
        sections=(
            Section("front", "The front"),
            Section("delays", "What delay buys"),
            Section("late", "The same by the delay of 99 %"),
            Section("trade", "Delay against cover"),
        ),
        provenance=Provenance(
            sentences=(f"Seed {plan.seed}.",),
            facts=(
                ("settings tried", str(_tried(plan))),
                ("confidence", percent(plan.confidence)),
                ("seed", str(plan.seed)),
            ),
        ),
    )


def _figures(plan: NetworkPlan, setting: Setting, half_life: bool) -> Iterator[Figure]:
    share = percent(plan.request.targets.worst)
    how = "simulated again with seeds of its own" if setting.confirmed else "of the sweep"
    eyes = f"attacker: {setting.attacker}"
    basis = Basis(confidence=plan.confidence, seed=plan.seed)
    stream = setting.client()
    delay = setting.mean_delay
    if setting.request.client and stream is not None:
        total = setting.network_delay + stream.queue_delay
        delay = Interval(total, total, total)
    yield Figure(
        key="setting",
        title="setting",
        shown=setting.law,
        meaning=f"{how}: {setting.targets:,} messages followed",
    )
    yield _exact("cover", setting.cover, "cover packets per message, from end to end")
    yield Figure(
        key="packets",
        title="packets",
        value=Interval(setting.packets, setting.packets, setting.packets),
        meaning="packets per message, cover included",
        better=Better.LOWER,
        prominence=Prominence.HEADLINE,
    )
    yield Figure(
        key="mean_delay",
        title="mean delay",
        value=delay,
        unit=SECONDS,
        shown=SECONDS.span(setting.mean_delay),
        meaning="of the network, links included",
        better=Better.LOWER,
        basis=basis,
    )
    yield Figure(
        key="delay_99",
        title="99 % delay",
        value=setting.delay_99,
        unit=SECONDS,
        meaning="99 % of messages leave the network by then",
        better=Better.LOWER,
        basis=basis,
    )
    if stream is not None:
        meaning = (
            f"mean wait in a client's queue, in addition, if clients send at a steady "
            f"{amount(stream.payload)} packets per second (LambdaP), see --emit"
        )
        yield _exact("queue delay", stream.queue_delay, meaning, SECONDS)
    yield Figure(
        key="entropy",
        title="entropy",
        value=setting.entropy,
        unit=_BITS,
        meaning=f"mean over messages; {eyes}",
        better=Better.HIGHER,
        basis=basis,
    )
    yield Figure(
        key="worst",
        title=f"worst {share}",
        value=setting.worst,
        shown=f"{amount(setting.worst.value)} messages",
        meaning=(
            f"effective anonymity set of the worst {share} of messages, at least "
            f"{amount(setting.worst.low)} with {percent(plan.confidence)}; {eyes}"
        ),
        better=Better.HIGHER,
        basis=basis,
    )
    yield Figure(
        key="identified",
        title="identified",
        value=setting.identified,
        shown=percent(setting.identified.value),
        meaning=f"of messages are identified; at most {percent(setting.identified.high)}; {eyes}",
        better=Better.LOWER,
        basis=basis,
    )
    yield Figure(
        key="n1_price",
        title="n-1 attack",
        shown=setting.n1_price,
        meaning="cost per mix for an attacker who can send and block messages",
    )
    if half_life and plan.half_life is not None:
        meaning = (
            "of a user with 3 contacts until the attacker's uncertainty about them has halved, "
            "see rounds; attacker: as for the entropy, in every round"
        )
        yield _exact("half-life", plan.half_life.value, meaning, Unit("messages"))
    if setting.ceiling is not None:
        meaning = (
            "upper bound of the entropy for every mix with this traffic and mean delay; attacker: "
            "sees at least both ends"
        )
        yield _exact("ceiling", setting.ceiling.value, meaning, Unit("bits", _PLACES.write))
    if setting.guessing is not None:
        meaning = f"until the right departure, the likeliest first (guessing entropy); {eyes}"
        yield _exact("guesses", setting.guessing.value, meaning)
    if plan.corrupt_path_share:
        meaning = "of messages pass only corrupt mixes: delay and cover do not help them"
        yield _exact("corrupt paths", plan.corrupt_path_share, meaning, SHARE)
    causes = sorted(setting.causes.items(), key=lambda item: -item[1])
    yield Figure(
        key="causes",
        title="who they are",
        shown=f"worst {share}",
        meaning="; ".join(f"{percent(part)} {name}" for name, part in causes),
    )


def _exact(title: str, value: float, meaning: str, unit: Unit = AMOUNT) -> Figure:
    key = title.replace(" ", "_").replace("-", "_")
    return Figure(
        key=key, title=title, value=Interval(value, value, value), unit=unit, meaning=meaning
    )


def _front(plan: NetworkPlan) -> Table:
    swept = bool(plan.request.widths)
    columns = (
        Column("network", detail=not swept),
        Column("law"),
        Column("cover", AMOUNT),
        Column("mean delay", SECONDS),
        Column("99 % delay", SECONDS),
        Column("queue delay", SECONDS, detail=True),
        Column("entropy", _PLACES),
        Column("ceiling", _PLACES, detail=True),
        Column(f"worst {percent(plan.request.targets.worst)}", AMOUNT),
        Column("low", AMOUNT),
        Column("identified", SHARE, detail=True),
        Column("n-1 attack", detail=True),
        Column("meets", AMOUNT),
    )
    rows = [
        (
            str(setting.request.network),
            setting.law,
            setting.cover,
            setting.mean_delay.value,
            setting.delay_99.value,
            setting.queue_delay,
            setting.entropy.value,
            None if setting.ceiling is None else setting.ceiling.value,
            setting.worst.value,
            setting.worst.low,
            setting.identified.value,
            setting.n1_price,
            "yes" if setting.meets else "no",
        )
        for setting in plan.front_settings
    ]
    return Table(
        key="front",
        title="Settings of the front",
        section="front",
        columns=columns,
        rows=rows,
        brief=range(len(rows)),
    )


def _tried(plan: NetworkPlan) -> int:
    return len({one.key for one in (*plan.tried, *plan.confirmations)})


def _front_words(plan: NetworkPlan) -> str:
    number = _tried(plan)
    were = f"{several(number, 'setting')} {'was' if number == 1 else 'were'}"
    words = [
        (
            f"The front: {were} tried, and no other beats these in the anonymity set of the worst, "
            "mean delay and packets. A target is met if the bound of its interval meets it."
        ),
        width_in_words(plan),
    ]
    if plan.request.network.shape == "free":
        words.append(
            "Routes end after each hop with the same probability: an attacker who knows how long "
            "routes are learns more."
        )
    if plan.request.traffic.hours:
        words.append("Each hour is assumed to be long compared with the delays.")
    return " ".join(filter(None, words))


def _charts(plan: NetworkPlan) -> Iterator[Chart]:
    """Yield one chart per level of cover by each delay; files are those of the chosen cover."""
    if not plan.tried:
        return
    levels = covers(plan)
    setting = plan.best or plan.nearest
    chosen = levels[0] if setting is None else setting.cover
    for key, section, late in (("delay", "delays", False), ("delay_99", "late", True)):
        for cover in levels:
            words = (
                "Mixes that wait for a number of messages keep the last ones for long."
                if late
                else "No mix and no network can exceed the ceiling."
            )
            yield Chart(
                key=key if cover == chosen else f"{key}-{amount(cover)}",
                draw=partial(front_by_delay, plan, cover, late=late),
                caption=f"With {cover_in_words(cover)}. Dashes: 95 % confidence interval. {words}",
                section=section,
                file=cover == chosen,
            )
    among = amount(plan.request.targets.among or 20.0)
    yield Chart(
        key="cover",
        draw=partial(trade_chart, plan),
        caption=(
            f"The shortest mean delay at which the worst messages have an effective anonymity set "
            f"of {among}, by packets per message. Left of the ceiling even the average message has "
            "a smaller set."
        ),
        section="trade",
    )
