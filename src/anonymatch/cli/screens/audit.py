"""Audits on one screen: a verdict in words, then figures with a line of meaning each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymatch.audits import FIGURES, QUANTILES
from anonymatch.base.text import in_bits
from anonymatch.cli import words
from anonymatch.cli.screens import answers
from anonymatch.measures import Interval

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.audits import ComparedFigure, Worst

__all__ = ["audit_screen", "comparison_screen"]

_LN2 = math.log(2.0)
UNKNOWN = "–"
"""In place of what is not known."""

_SHORT = 40.0  # natural log of a count that is shown in digits


def audit_screen(audit: am.Audit, gates: Sequence[am.Gate] = ()) -> list[RenderableType]:
    """The verdict, the system, the cost, the worst users, the attack, and what to keep in mind."""
    screen: list[RenderableType] = [
        answers.heading(words.name(f"{audit.name}: {_size(audit)}, {audit.observation.source}")),
        answers.paragraph(audit.verdict),
    ]
    if gates:
        screen.append(answers.bullets("Thresholds:", [gate.text for gate in gates]))
    screen.append(answers.figures([*_system(audit), *_cost(audit)]))
    screen += _worst(audit)
    screen += _attack(audit)
    if audit.score is not None:
        screen.append(answers.paragraph(_score(audit.score)))
    for note in audit.notes:
        screen.append(answers.paragraph(f"Note: {note}"))
    screen.append(answers.paragraph(" ".join(audit.caveats)))
    screen.append(answers.paragraph(_method(audit)))
    return screen


def comparison_screen(comparison: am.Comparison) -> list[RenderableType]:
    """A line a figure, a column a system."""
    letters = [chr(ord("A") + k) for k in range(len(comparison.names))]
    table = answers.columns("figure", right=(*letters, "best"))
    for row in comparison.rows:
        cells = (UNKNOWN if figure is None else _cell(figure, row.share) for figure in row.figures)
        table.add_row(row.title, *cells, _best(row, letters))
    systems = zip(letters, comparison.names, comparison.audits, strict=True)
    return [
        answers.bullets(
            "Compared:",
            [
                f"{letter}: {words.name(name)}: {_size(audit)}, {audit.observation.source}"
                for letter, name, audit in systems
            ],
        ),
        answers.paragraph(comparison.verdict),
        answers.indented(table),
        answers.bullets(
            "What they mean:", [f"{row.title}: {row.meaning}" for row in comparison.rows]
        ),
        answers.paragraph(
            "best: only where intervals do not overlap; =: no difference; ?: no sure one; "
            f"{UNKNOWN}: not known."
        ),
        *(answers.paragraph(f"Note: {note}") for note in comparison.notes),
        answers.paragraph(" ".join(comparison.caveats)),
    ]


def _cell(figure: am.Interval, share: bool) -> str:
    return words.share_between(figure) if share else figure_text(figure)


def _best(row: ComparedFigure, letters: Sequence[str]) -> str:
    if row.best is not None:
        return letters[row.best]
    return {"no difference": "=", "": ""}.get(row.judgement, "?")


def figure_text(figure: am.Interval) -> str:
    """One number where the ends agree, else both.

    Examples
    --------
    >>> import anonymatch as am
    >>> figure_text(am.Interval(0.5, 0.5, 0.5)), figure_text(am.Interval(0.5, 0.4, 0.6))
    ('0.5', '0.4 to 0.6')
    """
    if figure.high - figure.low <= 1e-4 * max(abs(figure.value), 1e-3):
        return f"{figure.value:.4g}"
    return f"{figure.low:.4g} to {figure.high:.4g}"


def _size(audit: am.Audit) -> str:
    return audit.observation.nouns.size(audit.n_users, audit.n_behaviours)


def _trust(audit: am.Audit) -> str:
    if audit.confidence == 1.0 and audit.answers.links is not None:
        return "exact for these rates"
    if audit.confidence == 1.0:
        return "exact" if audit.count.exact else "proven"
    return f"estimated, {words.share(audit.confidence)} sure"


def _line(audit: am.Audit, key: str, more: str = "") -> list[answers.Line]:
    """A figure of the table, if it is known."""
    figure, nouns = FIGURES[key], audit.observation.nouns
    value = figure.value(audit)
    if value is None:
        return []
    threshold = f"{audit.threshold:g}"
    meaning = figure.meaning_for(nouns, threshold) + more
    return [(figure.title_for(nouns, threshold), _value(value, figure.unit), meaning)]


def _value(figure: am.Interval, unit: str) -> str:
    if unit == "share":
        return words.share_between(figure)
    return in_bits(figure_text(figure)) if unit == "bits" else figure_text(figure)


def _ways_to_match(audit: am.Audit) -> list[answers.Line]:
    """Where losses, cover or an end are open, ways are not alike, and none are counted."""
    if audit.answers.links is not None:
        return []
    nouns = audit.observation.nouns
    meaning = f"{nouns.users}{nouns.side} to {nouns.behaviours}"
    return [("ways to match", _ways(audit.count), meaning)]


def _system(audit: am.Audit) -> list[answers.Line]:
    nouns = audit.observation.nouns
    one = nouns.user
    lines: list[answers.Line] = [
        *_line(audit, "entropy", f" ({_trust(audit)})"),
        *_tails(audit),
        *_line(audit, "min_entropy"),
        *_line(audit, "guessing_entropy"),
        *_line(audit, "bits"),
        *_line(audit, "people_bits"),
        *_ways_to_match(audit),
        *_line(audit, "degree"),
    ]
    if audit.observation.passage is None:
        lines.append(_bound(audit))
    design = audit.best_design
    if design is not None:
        joint = f"{design.log2 / max(design.users, 1):.4g}"
        meaning = f"joint, per {one}, for as many {nouns.users} and candidates"
        lines.append(("best design", in_bits(joint), meaning))
    for title, entropy in audit.same_delay:
        meaning = f"entropy per {one}, as much delay, no cover"
        lines.append((title, in_bits(f"{entropy:.4g}"), meaning))
    lines.append(
        (
            "identified",
            words.plural(audit.identified, one, nouns.users),
            f"of {audit.n_counted:,}: only one of the {nouns.behaviours} is left for them",
        )
    )
    return [*lines, *_line(audit, "unreleased"), *_line(audit, "below")]


def _tails(audit: am.Audit) -> list[answers.Line]:
    """What the worst share of the users do not exceed, in one line."""
    if not audit.n_counted:
        return []
    figures = [audit.entropy_quantile(share) for share in QUANTILES]
    shares = ", ".join(f"{100 * share:g} %" for share in QUANTILES)
    meaning = f"the worst share of the {audit.observation.nouns.users} have no more entropy"
    return [(f"worst {shares}", f"{', '.join(map(figure_text, figures))} bits", meaning)]


def _ways(count: am.Count) -> str:
    if count.exact and count.log < _SHORT:
        return words.number(count.value, count.log)
    if count.high - count.low < 1e-6 * max(count.log, 1.0):
        return words.power(count.log)
    return f"2^{count.low / _LN2:.5g} to 2^{count.high / _LN2:.5g}"


def _bound(audit: am.Audit) -> answers.Line:
    reached = words.share_between(audit.reached)
    one = audit.observation.nouns.user
    meaning = f"joint, per {one} if everybody keeps as many candidates; {reached} of it is reached"
    return "at most", in_bits(f"{audit.bound:.4g}"), meaning


def _cost(audit: am.Audit) -> list[answers.Line]:
    cost = audit.cost
    lines = []
    if audit.observation.passage is None:  # there, everybody who came before is one
        nouns = audit.observation.nouns
        meaning = f"cost: {nouns.behaviours} that fit a {nouns.user}, on average"
        lines.append(("candidates", f"{cost.candidates:.4g}", meaning))
    if cost.mean_delay is not None:
        longest = "" if cost.longest_delay is None else f"; {cost.longest_delay:.4g} at most"
        lines.append(("mean delay", f"{cost.mean_delay:.4g} s", f"cost: latency{longest}"))
    if cost.cover is not None:
        meaning = "cost: messages out that are nobody's (dummy traffic)"
        lines.append(("cover", words.share(cost.cover), meaning))
    if cost.lost and audit.unreleased is None:
        lines.append(_lost(audit))
    return lines


def _lost(audit: am.Audit) -> answers.Line:
    """Losses that are only expected are no count."""
    if audit.lost_is_expected:
        return "lost", f"about {audit.cost.lost:,}", "messages in, expected to be lost on their way"
    return "lost", f"{audit.cost.lost:,}", "messages in that never came out"


def _worst(audit: am.Audit) -> list[RenderableType]:
    if not audit.worst:
        return []
    probability = "if departed" if audit.departures_are_open else "probability"
    table = answers.columns("user", "best guess", "why", right=(probability, "set size"))
    for one in audit.worst:
        table.add_row(
            words.name(one.user),
            _guess(one),
            one.reason,
            _probability(one),
            f"{one.effective:.3g}",
        )
    title = "Worst off"
    if audit.departures_are_open:
        title += ", with the probability of the guess if the message departed"
    return [answers.paragraph(f"{title}:"), answers.indented(table)]


def _probability(one: Worst) -> str:
    share = one.probability_departed
    return UNKNOWN if share is None else words.share(share)


def _guess(one: Worst) -> str:
    """The guess; that a message was lost and that nothing is known are two signs."""
    if one.guess is not None:
        return words.name(one.guess)
    return UNKNOWN if one.probability is None else "(lost)"


def _attack(audit: am.Audit) -> list[RenderableType]:
    if audit.one_step is None:
        return []
    step = audit.one_step
    taken = in_bits(figure_text(step.lost_bits))
    text = f"Attack: exposing {words.name(step.target)} costs {taken} of {_bits_of_all(audit)}."
    steps = audit.campaign.steps
    if steps:
        last = steps[-1]
        users = audit.observation.nouns.users
        left = in_bits(f"{last.bits_left:.5g}")
        doubt = "" if last.in_doubt is None else f", {last.in_doubt:,} {users} still in doubt"
        text += (
            f" After {words.plural(len(steps), 'exposure')} {left} "
            f"{'is' if left == '1 bit' else 'are'} left"
            f"{doubt}{f' ({audit.campaign.reason})' if audit.campaign.reason else ''}."
        )
    elif audit.campaign.reason:
        text += f" No campaign: {audit.campaign.reason}."
    return [answers.paragraph(text)]


def _bits_of_all(audit: am.Audit) -> str:
    """Log2 of the matchings, or the ends between which it lies."""
    count = audit.count
    return figure_text(Interval(count.log2, count.low / _LN2, count.high / _LN2))


def _score(score: am.Score) -> str:
    text = (
        f"Against the truth in the log: {words.share(score.right)} of "
        f"{words.plural(score.guesses, 'guess', 'guesses')} are right, "
        f"{words.share(score.promised)} were promised"
    )
    if score.calibrated:
        return f"{text}; promises are kept."
    if score.impossible:
        do = "does" if score.impossible == 1 else "do"
        pairs = words.plural(score.impossible, "true pair")
        return f"{text}. But {pairs} {do} not fit the law at all: it is NOT the law of this log."
    return f"{text}; promises are NOT kept: see the law."


def _method(audit: am.Audit) -> str:
    seed = "" if audit.confidence == 1.0 else f", seed {audit.seed}"
    return f"By {audit.count.method}{seed}, in {audit.seconds:.2g} s."
