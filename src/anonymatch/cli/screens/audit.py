"""Audits on one screen: a verdict in words, then figures with a line of meaning each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from anonymatch.audits import (
    GROUPS,
    QUANTILES,
    ExposedAudit,
    ScoredAudit,
    Show,
    attacker_sentence,
    figure_text,
    links_of,
    shown_figures,
)
from anonymatch.base import numbers, text
from anonymatch.base.interval import Interval
from anonymatch.base.text import Message
from anonymatch.cli.screens.rings import ring_lines
from anonymatch.cli.words import option
from anonymatch.mixes import MessageAudit, NetworkAudit, network_of, passage_of
from anonymatch.reporting import terminal
from anonymatch.rings import RingAudit

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.audits import AuditFigure, Campaign, ComparedFigure, Worst

__all__ = ["audit_screen", "comparison_screen"]

_LN2 = math.log(2.0)
UNKNOWN = "–"
"""In place of what is not known."""

_SHORT = 40.0  # natural log of a count that is shown in digits


def audit_screen(audit: am.Audit, gates: Sequence[am.Gate] = ()) -> list[RenderableType]:
    """The verdict, the system, the cost, the worst users, the attack, and what to keep in mind."""
    screen: list[RenderableType] = [
        terminal.heading(text.name(f"{audit.name}: {_size(audit)}, {audit.observation.source}")),
        terminal.paragraph(audit.verdict),
    ]
    attacker = attacker_sentence(audit.observation)
    if attacker:
        screen.append(terminal.paragraph(attacker))
    if gates:
        screen.append(terminal.bullets("Thresholds:", [gate.text for gate in gates]))
    screen.append(terminal.figures(_figures(audit)))
    screen += ring_lines(audit)
    screen += _worst(audit)
    screen += _attack(audit)
    if isinstance(audit, ScoredAudit) and audit.score is not None:
        rings = isinstance(audit, RingAudit)
        screen.append(terminal.paragraph(_score(audit.score, rings=rings)))
    for note in audit.notes:
        screen.append(terminal.paragraph(f"Note: {Message(note).worded(option)}"))
    screen.append(terminal.paragraph(" ".join(audit.caveats)))
    screen.append(terminal.paragraph(_method(audit)))
    return screen


def comparison_screen(comparison: am.Comparison) -> list[RenderableType]:
    """A line a figure, a column a system."""
    letters = [chr(ord("A") + k) for k in range(len(comparison.names))]
    table = terminal.columns("figure", right=(*letters, "best"))
    for row in comparison.rows:
        cells = (UNKNOWN if figure is None else _cell(figure, row) for figure in row.figures)
        table.add_row(row.title, *cells, _best(row, letters))
    systems = zip(letters, comparison.names, comparison.audits, strict=True)
    return [
        terminal.bullets(
            "Compared:",
            [
                f"{letter}: {text.name(name)}: {_size(audit)}, {audit.observation.source}"
                f"{f'; attacker: {audit.attacker}' if audit.attacker else ''}"
                for letter, name, audit in systems
            ],
        ),
        terminal.paragraph(comparison.verdict),
        terminal.indented(table),
        terminal.bullets(
            "What they mean:", [f"{row.title}: {row.meaning}" for row in comparison.rows]
        ),
        terminal.paragraph(
            "An audit is named best only if intervals do not overlap and the difference exceeds "
            "two standard errors of the traffic. '=' means no difference, '?' an uncertain "
            f"difference, and '{UNKNOWN}' an unknown figure."
        ),
        *(terminal.paragraph(f"Note: {Message(note).worded(option)}") for note in comparison.notes),
        terminal.paragraph(" ".join(comparison.caveats)),
    ]


def _cell(figure: am.Interval, row: ComparedFigure) -> str:
    """The title of a row has its unit, but for the sign of shares."""
    return interval_text(figure, "share" if row.share else "")


def _best(row: ComparedFigure, letters: Sequence[str]) -> str:
    if row.best is not None:
        return letters[row.best]
    return {"no difference": "=", "": ""}.get(row.judgement, "?")


def interval_text(figure: am.Interval, unit: str = "") -> str:
    """One number where the ends agree, else both.

    Examples
    --------
    >>> import anonymatch as am
    >>> interval_text(am.Interval(0.5, 0.5, 0.5)), interval_text(am.Interval(0.5, 0.4, 0.6))
    ('0.5', '0.4 to 0.6')
    """
    return figure_text(figure, unit, confidence=1.0, seed=0).span


def _size(audit: am.Audit) -> str:
    return audit.observation.nouns.size(audit.n_users, audit.n_behaviours)


def _trust(audit: am.Audit) -> str:
    network = network_of(audit.observation)
    rated = links_of(audit.answers) is not None or (
        network is not None and network.rates is not None
    )
    if audit.confidence == 1.0 and rated:
        return "exact for these rates"
    if audit.confidence == 1.0:
        return "exact" if audit.count.exact else "proven"
    return f"estimated, {numbers.percent(audit.confidence)} sure"


def _figures(audit: am.Audit) -> list[terminal.Line]:
    """The figures of the table that are known, group by group, some in words of their own."""
    return [
        line
        for group in GROUPS
        for figure in shown_figures(Show.SCREEN, group)
        for line in _LINES.get(figure.key, _line)(audit, figure)
    ]


def _line(audit: am.Audit, figure: AuditFigure, more: str = "") -> list[terminal.Line]:
    text = figure.text(audit)
    if text is None:
        return []
    nouns, threshold = audit.observation.nouns, f"{audit.threshold:g}"
    meaning = figure.meaning_for(nouns, threshold) + more
    return [(figure.title_for(nouns, threshold), text.span, meaning)]


def _entropy(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    return _line(audit, figure, f" ({_trust(audit)})")


def _tails(audit: am.Audit, _: AuditFigure) -> list[terminal.Line]:
    """What the worst shares of the users do not exceed, in one line."""
    if not audit.n_counted:
        return []
    figures = [audit.entropy_quantile(share) for share in QUANTILES]
    shares = ", ".join(map(numbers.percent, QUANTILES))
    meaning = f"the worst share of the {audit.observation.nouns.users} have no more entropy"
    return [(f"worst {shares}", f"{', '.join(map(interval_text, figures))} bits", meaning)]


def _nothing(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """Another line has it."""
    return []


def _joint(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """In a network several histories give the same answer, so that it is no log of a number."""
    line = _line(audit, figure)
    if not isinstance(audit, NetworkAudit):
        return line
    return [(title, value, "about who sent what, all together") for title, value, _ in line]


def _degree(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """Where losses, cover or an end are open, ways to match are not alike, and none are counted."""
    line = _line(audit, figure)
    if links_of(audit.answers) is not None:
        return line
    if isinstance(audit, NetworkAudit):
        meaning = "which packet is which, in every mix"
        return [("histories", _ways(audit.count), meaning), *line]
    nouns = audit.observation.nouns
    meaning = f"{nouns.users}{nouns.side} to {nouns.behaviours}"
    return [("ways to match", _ways(audit.count), meaning), *line]


def _ways(count: am.Count) -> str:
    if count.exact and count.log < _SHORT:
        return numbers.count(count.value, count.log)
    return numbers.powers(count.log, count.low, count.high)


def _reached(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """What is reached of the bound, beside what other designs and mixes reach."""
    nouns, lines = audit.observation.nouns, []
    if passage_of(audit.observation) is None:
        text = figure.text(audit)
        reached = "" if text is None else f"; {text.span} of it is reached"
        meaning = f"joint bits per {nouns.user}, given the number of candidates of each{reached}"
        lines.append(("at most", numbers.in_bits(numbers.amount(audit.bound)), meaning))
    design = audit.best_design if isinstance(audit, ExposedAudit) else None
    if design is not None:
        joint = numbers.amount(design.log2 / max(design.users, 1))
        meaning = (
            f"joint bits per {nouns.user} with the same number of {nouns.users} and candidates"
        )
        lines.append(("best design", numbers.in_bits(joint), meaning))
    if not isinstance(audit, MessageAudit):
        return lines
    for title, entropy in audit.same_delay:
        assert audit.same_delay_seconds is not None
        delay = numbers.amount(audit.same_delay_seconds)
        meaning = f"entropy per {nouns.user} at {delay} s mean delay in random traffic, no cover"
        lines.append((title, numbers.in_bits(numbers.amount(entropy)), meaning))
    return lines


def _ceiling(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """What no mix exceeds, and the share of it that is reached."""
    lines = _line(audit, figure)
    ceiling = audit.ceiling if isinstance(audit, MessageAudit) else None
    if ceiling is None or not ceiling.value or not lines:
        return lines
    title, value, meaning = lines[0]
    users = audit.answers.users
    if audit.entropy.value > ceiling.value and users.weights is None:
        # The mean leaves out messages near the ends of the log, and the ceiling has them.
        mean = float(users.shannon.value[~users.censored].mean())
        share = numbers.percent(min(1.0, mean / ceiling.value))
        many = audit.observation.nouns.users
        whole = f"with the {many} near the ends of the log, {share} of it is reached"
        return [(title, value, f"{meaning}; {whole}")]
    share = numbers.percent(min(1.0, audit.entropy.value / ceiling.value))
    return [(title, value, f"{meaning}; {share} of it is reached")]


def _candidates(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    """Through a passage, everybody who came before is one."""
    return _line(audit, figure) if passage_of(audit.observation) is None else []


def _lost(audit: am.Audit, figure: AuditFigure) -> list[terminal.Line]:
    some = isinstance(audit, MessageAudit) and audit.cost.lost
    return _line(audit, figure) if some else []


_LINES: Mapping[str, Callable[[am.Audit, AuditFigure], list[terminal.Line]]] = {
    "entropy": _entropy,
    "entropy_5%": _tails,
    "entropy_1%": _nothing,
    "bits": _joint,
    "degree": _degree,
    "reached": _reached,
    "ceiling": _ceiling,
    "candidates": _candidates,
    "lost": _lost,
}
"""Figures whose lines say more than the table does, or are left out at times."""


def _worst(audit: am.Audit) -> list[RenderableType]:
    if not audit.worst:
        return []
    probability = "if departed" if audit.departures_are_open else "probability"
    table = terminal.columns(
        audit.observation.nouns.user if isinstance(audit, RingAudit) else "user",
        "best guess",
        "why",
        right=(probability, "set size"),
    )
    for one in audit.worst:
        table.add_row(
            text.name(one.user),
            _guess(one),
            one.reason,
            _probability(one),
            f"{one.effective:.3g}",
        )
    title = "Worst off"
    if audit.departures_are_open:
        title += ", with the probability of the guess if the message departed"
    return [terminal.paragraph(f"{title}:"), terminal.indented(table)]


def _probability(one: Worst) -> str:
    share = one.probability_departed
    return UNKNOWN if share is None else numbers.percent(share)


def _guess(one: Worst) -> str:
    """The guess; that a message was lost and that nothing is known are two signs."""
    if one.guess is not None:
        return text.name(one.guess)
    return UNKNOWN if one.probability is None else "(lost)"


def _attack(audit: am.Audit) -> list[RenderableType]:
    if audit.one_step is None:
        return []
    step = audit.one_step
    taken = interval_text(step.lost_bits, "bits")
    line = f"Attack: exposing {text.name(step.target)} removes {taken} of {_bits_of_all(audit)}"
    line += ", on average over all matchings."
    if not isinstance(audit, ExposedAudit):
        return [terminal.paragraph(line)]
    steps = audit.campaign.steps
    if steps:
        last = steps[-1]
        users = audit.observation.nouns.users
        left = numbers.in_bits(f"{last.bits_left:.5g}")
        doubt = "" if last.in_doubt is None else f", {last.in_doubt:,} {users} still in doubt"
        line += (
            f" For {_one_truth(audit.campaign)}, after {numbers.plural(len(steps), 'exposure')} "
            f"one after another, {left} "
            f"{'is' if left == '1 bit' else 'are'} left"
            f"{doubt}{f' ({audit.campaign.reason})' if audit.campaign.reason else ''}."
        )
    elif audit.campaign.reason:
        line += f" No campaign: {audit.campaign.reason}."
    return [terminal.paragraph(line)]


def _one_truth(campaign: Campaign) -> str:
    if campaign.truth == "given":
        return "the ground truth in the log"
    return f"one sampled matching (seed {campaign.seed})"


def _bits_of_all(audit: am.Audit) -> str:
    """Log2 of the matchings, or the ends between which it lies."""
    count = audit.count
    return interval_text(Interval(count.log2, count.low / _LN2, count.high / _LN2))


def _score(score: am.Score, *, rings: bool) -> str:
    line = (
        f"Compared with the ground truth in the {'file' if rings else 'log'}, "
        f"{numbers.percent(score.right)} of "
        f"{numbers.plural(score.guesses, 'guess', 'guesses')} are right, "
        f"{numbers.percent(score.promised)} were predicted"
    )
    if score.impossible:
        do = "does" if score.impossible == 1 else "do"
        pairs = numbers.plural(score.impossible, "true pair")
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


def _method(audit: am.Audit) -> str:
    seed = "" if audit.confidence == 1.0 else f", seed {audit.seed}"
    return f"By {audit.count.method}{seed}, in {numbers.took(audit.seconds)}."
