"""Parts of the report of an audit: rings, exposures, costs, the ground truth, and people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from anonymatch.audits.figures import FIGURES, confidence_of
from anonymatch.audits.parts import Campaign, Score
from anonymatch.audits.reports.report_users import unless_exact, users_sure
from anonymatch.audits.result import Audit, ExposedAudit, ScoredAudit
from anonymatch.audits.wording import FigureText, figure_text
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, in_bits, percent, plural, shown
from anonymatch.base.text import label, name
from anonymatch.mixes import MessageAudit, MixAudit, network_of, passage_of
from anonymatch.reporting.charts import Line, line_chart
from anonymatch.reporting.report import (
    AMOUNT,
    COUNT,
    PLACES,
    SHARE,
    Cell,
    Chart,
    Column,
    Note,
    Prominence,
    Table,
)
from anonymatch.rings import RingAudit, RingFigures

if TYPE_CHECKING:
    from anonymatch.theory.designs import Design

__all__ = ["Part", "attack_part", "cost_part", "people_part", "rings_part", "truth_part"]

_DETAIL, _BRIEF = Prominence.DETAIL, Prominence.BRIEF
_LN2 = math.log(2.0)


class Part(NamedTuple):
    """What one section of a report has."""

    notes: Sequence[Note] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()


# ---- rings


def rings_part(audit: Audit) -> Part:
    """Return certain spends, and figures over time; nothing for other problems."""
    if not isinstance(audit, RingAudit):
        return Part()
    rings = audit.rings
    sure = len(rings.certain)
    if not sure:
        text = "No spend is certain, neither by chain reaction nor by closed sets."
    else:
        text = (
            f"{plural(sure, 'spend')} of {rings.inputs:,} {'is' if sure == 1 else 'are'} certain: "
            f"{rings.chain_reaction:,} by chain reaction ({rings.single:,} of them in rings of one "
            f"member), {rings.closed_sets:,} more by closed sets; {percent(rings.ruled_out)} of "
            "all members cannot be what was spent."
        )
    detail = (
        "Chain reaction: a ring with one member left rules that member out of all others. Closed "
        "sets: rings that together have as many members as they are, so that no other ring spends "
        f"one of them. The chain reaction alone rules out {percent(rings.ruled_out_by_chain)} of "
        "all members."
    )
    notes = [
        Note(text=text, section="rings"),
        Note(text=detail, section="rings", prominence=_DETAIL),
    ]
    tables = [_certain(rings)] if sure else []
    if rings.periods:
        tables.append(_periods(rings))
    return Part(notes, _ring_charts(rings), tables)


def _certain(rings: RingFigures) -> Table:
    return Table(
        key="certain",
        title="Certain spends",
        section="rings",
        columns=(Column("input"), Column("spends"), Column("known by"), Column("step", COUNT)),
        rows=[
            (name(one.input), name(one.output), one.how, one.step or None) for one in rings.certain
        ],
        noun="spend",
        advice="--json has all",
    )


def _periods(rings: RingFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in rings.periods:
        span = f"{one.begin:,.10g}"
        if one.end > one.begin:
            span += f" to {one.end:,.10g}"
        shares = (one.chain_reaction, one.closed_sets)
        rows.append((span, one.inputs, one.members, one.allowed, one.effective, *shares))
    return Table(
        key="periods",
        title=f"By {rings.unit}",
        section="rings",
        columns=(
            Column(rings.unit),
            Column("inputs", COUNT),
            Column("members", PLACES),
            Column("possible", PLACES),
            Column("hides among", PLACES),
            Column("chain reaction", SHARE),
            Column("closed sets", SHARE),
        ),
        rows=rows,
        brief=range(len(rows)),
    )


def _ring_charts(rings: RingFigures) -> list[Chart]:
    if len(rings.periods) < 2:
        return []
    when = [(one.begin + one.end) / 2 for one in rings.periods]
    lines = [
        Line("members", when, [one.members for one in rings.periods]),
        Line("possible", when, [one.allowed for one in rings.periods]),
    ]
    if all(one.effective is not None for one in rings.periods):
        lines.append(Line("hides among", when, [one.effective or 0.0 for one in rings.periods]))
    chain = [one.chain_reaction for one in rings.periods]
    both = [one.chain_reaction + one.closed_sets for one in rings.periods]
    certain = [Line("chain reaction", when, chain), Line("and closed sets", when, both)]
    return [
        Chart(
            key="ring-sizes",
            draw=lambda: line_chart(
                lines,
                title="Outputs that inputs hide among",
                x_label=rings.unit,
                y_label="outputs per input",
                zero=True,
            ),
            caption=(
                "Mean number of members of a ring, of members that can be the real spend, and of "
                "equally likely members (the effective anonymity set)."
            ),
            section="rings",
            file=False,
        ),
        Chart(
            key="ring-certain",
            draw=lambda: line_chart(
                certain,
                title="Spends that are certain",
                x_label=rings.unit,
                y_label="share of inputs",
                zero=True,
                share=True,
            ),
            caption="Inputs whose spend is certain, by the chain reaction and with closed sets.",
            section="rings",
            file=False,
        ),
    ]


# ---- exposures


def attack_part(audit: Audit) -> Part:
    """Return the best single exposure, and exposures one after another."""
    step, words = audit.one_step, audit.observation.nouns
    if step is None:
        text = "There is nobody to expose."
        return Part([Note(text=text, section="attack", prominence=_DETAIL)])
    campaign = _campaign(audit)
    steps = campaign.steps
    notes = [
        Note(text=_attack_line(audit), section="attack", prominence=_BRIEF),
        Note(text=_one_step(audit), section="attack", prominence=_DETAIL),
    ]
    if not steps:
        text = f"There is no series of exposures: {campaign.reason}."
        return Part([*notes, Note(text=text, section="attack", prominence=_DETAIL)])
    texts = [
        (
            f"Exposures one after another, each the best at that moment, for {_one_truth(audit)}. "
            "The cost of the first step for this matching may differ from the mean above."
        )
    ]
    if campaign.reason:
        texts.append(f"Here: {campaign.reason}.")
    notes += [Note(text=text, section="attack", prominence=_DETAIL) for text in texts]
    total, left = audit.bits.value * audit.n_users, steps[-1].bits_left
    chart = Chart(
        key="exposures",
        draw=lambda: audit.chart("exposures"),
        caption=(
            f"Exposing {plural(len(steps), words.user)} removes {amount(total - left)} of "
            f"{amount(total)} bits. The steeper, the more one exposed {words.user} reveals about "
            "others."
        ),
        section="attack",
    )
    table = Table(
        key="exposures",
        title="Exposed, in order",
        section="attack",
        columns=(
            Column("step", COUNT),
            Column("exposed"),
            Column("bits left", AMOUNT),
            Column("bits lost so far", AMOUNT),
            Column("still in doubt", COUNT),
        ),
        rows=[
            (
                one.number,
                label(one.target, 60),
                one.bits_left,
                total - one.bits_left,
                one.in_doubt,
            )
            for one in steps
        ],
        prominence=_DETAIL,
    )
    return Part(notes, [chart], [table])


def _span(figure: Interval, unit: str = "") -> str:
    return figure_text(figure, unit, confidence=1.0, seed=0).span


def _attack_line(audit: Audit) -> str:
    step, campaign = audit.one_step, _campaign(audit)
    assert step is not None
    count = audit.count
    whole = _span(Interval(count.log2, count.low / _LN2, count.high / _LN2))
    line = (
        f"Attack: exposing {name(step.target)} removes {_span(step.lost_bits, 'bits')} of {whole}, "
        "on average over all matchings."
    )
    if campaign.steps:
        last = campaign.steps[-1]
        users = audit.observation.nouns.users
        left = in_bits(f"{last.bits_left:.5g}")
        doubt = "" if last.in_doubt is None else f", {last.in_doubt:,} {users} still in doubt"
        line += (
            f" For {_one_truth(audit)}, after {plural(len(campaign.steps), 'exposure')} "
            f"one after another, {left} "
            f"{'is' if left == '1 bit' else 'are'} left"
            f"{doubt}{f' ({campaign.reason})' if campaign.reason else ''}."
        )
    elif campaign.reason:
        line += f" No campaign: {campaign.reason}."
    return line


def _campaign(audit: Audit) -> Campaign:
    if isinstance(audit, ExposedAudit):
        return audit.campaign
    return Campaign(reason="exposures in a network of mixes are not followed")


def _one_truth(audit: Audit) -> str:
    campaign = _campaign(audit)
    if campaign.truth == "given":
        return "the ground truth in the log"
    return f"one sampled matching (seed {campaign.seed})"


def _one_step(audit: Audit) -> str:
    step, words = audit.one_step, audit.observation.nouns
    assert step is not None
    confidence = confidence_of(audit, FIGURES["attack"])
    lost = figure_text(step.lost_bits, "", confidence=confidence, seed=audit.seed)
    between = f", {lost.interval}" if lost.interval else ""
    number, bits = audit.n_users, audit.bits
    whole = Interval(*(number * end for end in (bits.value, bits.low, bits.high)))
    sure = confidence_of(audit, FIGURES["bits"])
    system = figure_text(whole, "", confidence=sure, seed=audit.seed).short
    return (
        f"The attacker's best single exposure is {words.user} {label(step.target, 60)}: learning "
        f"its match costs the whole system {lost.value} bits{between}, of {system}, as a mean over "
        f"all its possible matches.{unless_exact(lost.sure)}"
    )


# ---- the ground truth


def truth_part(audit: Audit) -> Part:
    """Return how often best guesses were right, and how often they should have been."""
    score = audit.score if isinstance(audit, ScoredAudit) else None
    if score is None:
        text = "The log has no ground truth, so the predicted probabilities cannot be checked."
        if audit.observation.truth is not None:
            text = (
                "The probabilities are known as intervals only, so they cannot be compared with "
                "the ground truth."
            )
        return Part([Note(text=text, section="truth", prominence=_DETAIL)])
    caption = (
        "Each dot represents guesses of about the same predicted probability; its size is their "
        "number. On the dashed line predictions are right. Bars: 95 % of what chance alone does. "
        "Counted in the file."
    )
    table = Table(
        key="calibration",
        title="By predicted probability",
        section="truth",
        columns=(
            Column("predicted", AMOUNT),
            Column("guesses", COUNT),
            Column("predicted on average", SHARE),
            Column("came true", SHARE),
        ),
        rows=[
            (
                f"{100 * each.low:.3g} to {100 * each.high:.3g} %",
                each.guesses,
                each.promised,
                each.right,
            )
            for each in score.bins
        ],
        prominence=_DETAIL,
    )
    chart = Chart(
        key="calibration",
        draw=lambda: audit.chart("calibration"),
        caption=caption,
        section="truth",
    )
    notes = [Note(text=_score_line(audit, score), section="truth", prominence=_BRIEF)]
    notes += [
        Note(text=text, section="truth", prominence=_DETAIL) for text in _sentences(audit, score)
    ]
    return Part(notes, [chart], [table])


def _score_line(audit: Audit, score: Score) -> str:
    rings = isinstance(audit, RingAudit)
    line = (
        f"Compared with the ground truth in the {'file' if rings else 'log'}, "
        f"{percent(score.right)} of {plural(score.guesses, 'guess', 'guesses')} are right, "
        f"{percent(score.promised)} were predicted"
    )
    if score.impossible:
        do = "does" if score.impossible == 1 else "do"
        pairs = plural(score.impossible, "true pair")
        return f"{line}. But {pairs} {do} not agree with the law, so it is NOT the law of this log."
    if score.log_score is not None and score.log_score_error is not None:
        line += (
            f". The log score is {score.log_score:.4g} ± {score.log_score_error:.2g} bits, "
            f"{score.log_expected:.4g} were predicted"
        )
    if score.calibrated:
        return f"{line}. The probabilities are well calibrated."
    see = "check --decoys, --spends and --merging" if rings else "check the law, losses and cover"
    return f"{line}. The probabilities are NOT calibrated: {see}."


def _sentences(audit: Audit, score: Score) -> list[str]:
    words = audit.observation.nouns
    right = (
        f"Of {plural(score.guesses, 'best guess', 'best guesses')}, {percent(score.right)} were "
        f"right; the model predicted {percent(score.promised)}, with a standard error of "
        f"{percent(score.error)} (counted in the file)."
    )
    sentences = [right]
    if score.log_score is not None and not score.impossible:
        sentences.append(
            f"The log score, the mean of -log2 of the probability of the true match, is "
            f"{score.log_score:.4g} bits with a standard error of {score.log_score_error:.2g}. "
            f"The mean entropy of the same {words.users} predicts {score.log_expected:.4g} bits."
        )
    if score.calibrated:
        judged = (
            "The probabilities are well calibrated: the differences are within three standard "
            "errors, so the law fits what really happened."
        )
    elif score.impossible:
        judged = (
            "However close these are, the law, and with it every figure here, does not fit what "
            "really happened."
        )
    else:
        judged = (
            "The probabilities are not calibrated: a difference is beyond three standard errors, "
            "so the law, and with it every figure here, does not fit what really happened."
        )
    among = "The truth is among the candidates of everybody."
    if score.impossible:
        among = (
            f"For {plural(score.impossible, words.user)} the truth is none of the candidates: the "
            "law is wrong for them."
        )
    return [*sentences, judged, among]


# ---- costs


_MEANING = (
    "A design says who shares candidates with whom: users in separate groups, each of which fits "
    "all behaviours of its group, leave the most matchings for their cost."
)
_OBJECTIVES = {
    "matchings": "most matchings",
    "after_attack": "most left after the best exposure",
}


def cost_part(audit: Audit) -> Part:
    """Return partition graphs of other costs as a line, and the system as a point."""
    from anonymatch.audits.reports.charts import audit_charts

    words, drawings = audit.observation.nouns, audit_charts(audit)
    charts, tables = [], []
    comparable = "cost" in drawings
    texts = [_own(audit), _MEANING] if comparable else [_incomparable(audit)]
    if comparable:
        caption = (
            "The line is what partition graphs of that cost reach; the further this system is "
            "below it, the more anonymity is possible at the same cost. The bound holds for "
            f"systems whose {words.users} have as many candidates each as here."
        )
        charts.append(Chart(key="cost", draw=drawings["cost"], caption=caption, section="cost"))
        if isinstance(audit, ExposedAudit) and audit.designs:
            tables.append(_designs(audit))
    if "latency" in drawings:
        caption = (
            "Other mixes without cover at the same delay, if messages arrive at random at the same "
            "rate, and the ceiling that no mix exceeds in such traffic; bursts may raise it."
        )
        charts.append(
            Chart(
                key="latency",
                draw=drawings["latency"],
                caption=caption,
                hint="A click on a name shows its line alone.",
                section="cost",
            )
        )
    if isinstance(audit, MessageAudit) and audit.same_delay:
        tables.append(_mixes(audit))
    notes = [Note(text=text, section="cost", prominence=_DETAIL) for text in texts]
    return Part(notes, charts, tables)


def _incomparable(audit: Audit) -> str:
    words = audit.observation.nouns
    through = "one exponential mix everybody who came before is"
    network = network_of(audit.observation)
    if network is not None:
        through = "a network of mixes whoever came before may be"
    if passage_of(audit.observation) is not None or network is not None:
        return (
            f"Through {through} a candidate, however unlikely. What is paid is delay, so that no "
            "design of as many candidates is a fair comparison."
        )
    return (
        f"There is no design to compare with: designs are for as many {words.behaviours} as "
        f"{words.users}, none of them lost."
    )


def _own(audit: Audit) -> str:
    words = audit.observation.nouns
    own = _own_figure(audit, "bits")
    text = (
        f"The audited system has {amount(audit.cost.candidates)} candidates per {words.user} and "
        f"{own.value} joint{', ' + own.interval if own.interval else ''}"
        f"{'' if own.sure.startswith('exact') else f' ({own.sure})'}"
    )
    if not isinstance(audit, ExposedAudit) or not audit.designs:
        return f"{text}."
    best = audit.designs[0].log2 / audit.designs[0].users
    return (
        f"{text}; the best design with the same {amount(audit.cost.edges)} candidates in all has "
        f"{amount(best)}."
    )


def _designs(audit: ExposedAudit) -> Table:
    return Table(
        key="designs",
        title="Best designs at the same cost",
        section="cost",
        columns=(
            Column("chosen for"),
            Column(f"joint bits per {audit.observation.nouns.user}", AMOUNT),
            Column("after the best exposure", AMOUNT),
            Column("matchings, of the edges' bound", AMOUNT),
            Column("parts"),
        ),
        rows=[_design(design) for design in audit.designs],
        prominence=_DETAIL,
    )


def _design(design: Design) -> tuple[str, ...]:
    _, _, parts = str(design).rpartition("; ")
    users = max(design.users, 1)
    least = "" if design.exact else "at least "
    return (
        _OBJECTIVES.get(design.objective, design.objective),
        f"{least}{amount(design.log2 / users)}",
        f"{least}{amount(design.attack_log / _LN2 / users)}",
        f"{least}{percent(design.ratio)}",
        parts,
    )


def _mixes(audit: MessageAudit) -> Table:
    """Return closed forms for messages that arrive at random at the same rate."""
    own, theirs = audit.cost.mean_delay, audit.same_delay_seconds
    assert own is not None
    assert theirs is not None
    title = f"Mixes with the same mean delay, {amount(own)} s"
    if amount(own) != amount(theirs):
        title = (
            f"Mixes with a mean delay of {amount(theirs)} s: this system has {amount(own)} s, but "
            "in random traffic they would have more inside"
        )
    rows = [("this system", _own_figure(audit, "entropy").short)]
    rows += [(name_, in_bits(amount(bits))) for name_, bits in audit.same_delay]
    return Table(
        key="mixes",
        title=title,
        section="cost",
        columns=(Column("mix"), Column("entropy per message", AMOUNT)),
        rows=rows,
        prominence=_DETAIL,
    )


def _own_figure(audit: Audit, key: str) -> FigureText:
    figure = FIGURES[key]
    value = figure.value(audit)
    assert value is not None
    return figure_text(value, figure.unit, confidence=confidence_of(audit, figure), seed=audit.seed)


# ---- people


_COLUMNS = {
    "sender": Column("sender"),
    "messages": Column("messages", COUNT),
    "surest_message": Column("surest message"),
    "probability": Column("probability", SHARE),
    "effective": Column("hides among", AMOUNT),
    "receiver": Column("receiver"),
    "receiver_probability": Column("its probability", SHARE),
    "receivers_effective": Column("among receivers", AMOUNT),
}
_PEOPLE = 200  # rows


def people_part(audit: Audit) -> Part:
    """Return the least anonymous senders; nothing if nobody has several messages."""
    if not isinstance(audit, MessageAudit) or audit.people is None:
        return Part()
    columns = [key for key in _COLUMNS if key in audit.people.columns]
    rows = [
        [_person(_COLUMNS[key], value) for key, value in zip(columns, row, strict=True)]
        for row in audit.people.select(columns).head(_PEOPLE).rows()
    ]
    table = Table(
        key="senders",
        title="Senders",
        section="people",
        columns=[_COLUMNS[key] for key in columns],
        rows=rows,
        noun="sender",
        total=len(audit.people),
        prominence=_DETAIL,
    )
    texts = [
        (
            "A person who sends several messages is as exposed as the surest of them: the message "
            "whose best guess is likeliest to be right, and its effective anonymity set. Messages "
            "to one receiver are added up, since the attacker only needs one of them. The surest "
            f"first.{unless_exact(users_sure(audit))}"
        )
    ]
    if isinstance(audit, MixAudit) and audit.people_bits is not None:
        people, messages = (
            figure_text(figure, "", confidence=audit.confidence, seed=audit.seed)
            for figure in (audit.people_bits, audit.bits)
        )
        between = f", {people.interval}" if people.interval else ""
        texts.append(
            f"Joint bits per message about who wrote to whom: {people.value}{between}."
            f"{unless_exact(people.sure)} About messages they are {messages.value}."
        )
    return Part(
        [Note(text=text, section="people", prominence=_DETAIL) for text in texts], (), [table]
    )


def _person(column: Column, value: object) -> Cell:
    if column.unit is None:
        return "lost" if value is None else label(value, 60)
    return value if isinstance(value, int | float) else shown(value)
