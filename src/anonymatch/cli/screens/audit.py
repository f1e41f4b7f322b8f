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

__all__ = ["audit_page", "comparison_page"]

_LN2 = math.log(2.0)
UNKNOWN = "–"
"""In place of what is not known."""

_SHORT = 40.0  # natural log of a count that is shown in digits


def audit_page(found: am.Audit, gates: Sequence[am.Gate] = ()) -> list[RenderableType]:
    """The verdict, the system, the cost, the worst users, the attack, and what to keep in mind."""
    page: list[RenderableType] = [
        answers.heading(words.name(f"{found.name}: {_size(found)}, {found.observation.source}")),
        answers.paragraph(found.verdict),
    ]
    if gates:
        page.append(answers.bullets("Thresholds:", [gate.text for gate in gates]))
    page.append(answers.figures([*_system(found), *_cost(found)]))
    page += _worst(found)
    page += _attack(found)
    if found.score is not None:
        page.append(answers.paragraph(_score(found.score)))
    for note in found.notes:
        page.append(answers.paragraph(f"Note: {note}"))
    page.append(answers.paragraph(" ".join(found.caveats)))
    page.append(answers.paragraph(_method(found)))
    return page


def comparison_page(found: am.Comparison) -> list[RenderableType]:
    """A line a figure, a column a system."""
    letters = [chr(ord("A") + k) for k in range(len(found.names))]
    table = answers.columns("figure", right=(*letters, "best"))
    for row in found.rows:
        cells = (UNKNOWN if figure is None else _cell(figure, row.share) for figure in row.figures)
        table.add_row(row.title, *cells, _best(row, letters))
    systems = zip(letters, found.names, found.audits, strict=True)
    return [
        answers.bullets(
            "Compared:",
            [
                f"{letter}: {words.name(name)}: {_size(audit)}, {audit.observation.source}"
                for letter, name, audit in systems
            ],
        ),
        answers.paragraph(found.verdict),
        answers.indented(table),
        answers.bullets("What they mean:", [f"{row.title}: {row.meaning}" for row in found.rows]),
        answers.paragraph(
            "best: only where intervals do not overlap; =: no difference; ?: no sure one; "
            f"{UNKNOWN}: not known."
        ),
        *(answers.paragraph(f"Note: {note}") for note in found.notes),
        answers.paragraph(" ".join(found.caveats)),
    ]


def _cell(figure: am.Interval, share: bool) -> str:
    return words.share_between(figure) if share else figure_text(figure)


def _best(row: ComparedFigure, letters: Sequence[str]) -> str:
    if row.best is not None:
        return letters[row.best]
    return {"no difference": "=", "": ""}.get(row.said, "?")


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


def _size(found: am.Audit) -> str:
    return found.observation.nouns.size(found.n_users, found.n_behaviours)


def _trust(found: am.Audit) -> str:
    if found.confidence == 1.0 and found.answers.links is not None:
        return "exact for these rates"
    if found.confidence == 1.0:
        return "exact" if found.count.exact else "proven"
    return f"estimated, {words.share(found.confidence)} sure"


def _line(found: am.Audit, key: str, more: str = "") -> list[answers.Line]:
    """A figure of the table, if it is known."""
    figure, nouns = FIGURES[key], found.observation.nouns
    value = figure.value(found)
    if value is None:
        return []
    threshold = f"{found.threshold:g}"
    meaning = figure.meaning_for(nouns, threshold) + more
    return [(figure.title_for(nouns, threshold), _value(value, figure.unit), meaning)]


def _value(figure: am.Interval, unit: str) -> str:
    if unit == "share":
        return words.share_between(figure)
    return in_bits(figure_text(figure)) if unit == "bits" else figure_text(figure)


def _ways_to_match(found: am.Audit) -> list[answers.Line]:
    """Where losses, cover or an end are open, ways are not alike, and none are counted."""
    if found.answers.links is not None:
        return []
    nouns = found.observation.nouns
    meaning = f"{nouns.users}{nouns.side} to {nouns.behaviours}"
    return [("ways to match", _ways(found.count), meaning)]


def _system(found: am.Audit) -> list[answers.Line]:
    nouns = found.observation.nouns
    one = nouns.user
    lines: list[answers.Line] = [
        *_line(found, "entropy", f" ({_trust(found)})"),
        *_tails(found),
        *_line(found, "min_entropy"),
        *_line(found, "guessing_entropy"),
        *_line(found, "bits"),
        *_line(found, "people_bits"),
        *_ways_to_match(found),
        *_line(found, "degree"),
    ]
    if found.observation.passage is None:
        lines.append(_bound(found))
    for design in found.designs[:1]:
        joint = f"{design.log2 / max(design.users, 1):.4g}"
        meaning = f"joint, per {one}, for as many {nouns.users} and candidates"
        lines.append(("best design", in_bits(joint), meaning))
    for title, entropy in found.same_delay:
        meaning = f"entropy per {one}, as much delay, no cover"
        lines.append((title, in_bits(f"{entropy:.4g}"), meaning))
    lines.append(
        (
            "identified",
            words.plural(found.identified, one, nouns.users),
            f"of {found.n_counted:,}: only one of the {nouns.behaviours} is left for them",
        )
    )
    return [*lines, *_line(found, "unreleased"), *_line(found, "below")]


def _tails(found: am.Audit) -> list[answers.Line]:
    """What the worst share of the users do not exceed, in one line."""
    if not found.n_counted:
        return []
    figures = [found.entropy_quantile(share) for share in QUANTILES]
    shares = ", ".join(f"{100 * share:g} %" for share in QUANTILES)
    meaning = f"the worst share of the {found.observation.nouns.users} have no more entropy"
    return [(f"worst {shares}", f"{', '.join(map(figure_text, figures))} bits", meaning)]


def _ways(count: am.Count) -> str:
    if count.exact and count.log < _SHORT:
        return words.number(count.value, count.log)
    if count.high - count.low < 1e-6 * max(count.log, 1.0):
        return words.power(count.log)
    return f"2^{count.low / _LN2:.5g} to 2^{count.high / _LN2:.5g}"


def _bound(found: am.Audit) -> answers.Line:
    reached = words.share_between(found.reached)
    one = found.observation.nouns.user
    meaning = f"joint, per {one} if everybody keeps as many candidates; {reached} of it is reached"
    return "at most", in_bits(f"{found.bound:.4g}"), meaning


def _cost(found: am.Audit) -> list[answers.Line]:
    cost = found.cost
    lines = []
    if found.observation.passage is None:  # there, everybody who came before is one
        nouns = found.observation.nouns
        meaning = f"cost: {nouns.behaviours} that fit a {nouns.user}, on average"
        lines.append(("candidates", f"{cost.candidates:.4g}", meaning))
    if cost.mean_delay is not None:
        longest = "" if cost.longest_delay is None else f"; {cost.longest_delay:.4g} at most"
        lines.append(("mean delay", f"{cost.mean_delay:.4g} s", f"cost: latency{longest}"))
    if cost.cover is not None:
        meaning = "cost: messages out that are nobody's (dummy traffic)"
        lines.append(("cover", words.share(cost.cover), meaning))
    if cost.lost and found.unreleased is None:
        lines.append(_lost(found))
    return lines


def _lost(found: am.Audit) -> answers.Line:
    """Losses that are only expected are no count."""
    if found.lost_is_expected:
        return "lost", f"about {found.cost.lost:,}", "messages in, expected to be lost on their way"
    return "lost", f"{found.cost.lost:,}", "messages in that never came out"


def _worst(found: am.Audit) -> list[RenderableType]:
    if not found.worst:
        return []
    probability = "if departed" if found.departures_are_open else "probability"
    table = answers.columns("user", "best guess", "why", right=(probability, "set size"))
    for one in found.worst:
        table.add_row(
            words.name(one.user),
            _guess(one),
            one.reason,
            _probability(one),
            f"{one.effective:.3g}",
        )
    title = "Worst off"
    if found.departures_are_open:
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


def _attack(found: am.Audit) -> list[RenderableType]:
    if found.one_step is None:
        return []
    step = found.one_step
    taken = in_bits(figure_text(step.lost_bits))
    said = f"Attack: exposing {words.name(step.target)} costs {taken} of {_bits_of_all(found)}."
    steps = found.campaign.steps
    if steps:
        last = steps[-1]
        users = found.observation.nouns.users
        left = in_bits(f"{last.bits_left:.5g}")
        doubt = "" if last.in_doubt is None else f", {last.in_doubt:,} {users} still in doubt"
        said += (
            f" After {words.plural(len(steps), 'exposure')} {left} "
            f"{'is' if left == '1 bit' else 'are'} left"
            f"{doubt}{f' ({found.campaign.reason})' if found.campaign.reason else ''}."
        )
    elif found.campaign.reason:
        said += f" No campaign: {found.campaign.reason}."
    return [answers.paragraph(said)]


def _bits_of_all(found: am.Audit) -> str:
    """Log2 of the matchings, or the ends between which it lies."""
    count = found.count
    return figure_text(Interval(count.log2, count.low / _LN2, count.high / _LN2))


def _score(score: am.Score) -> str:
    said = (
        f"Against the truth in the log: {words.share(score.right)} of "
        f"{words.plural(score.guesses, 'guess', 'guesses')} are right, "
        f"{words.share(score.promised)} were promised"
    )
    if score.calibrated:
        return f"{said}; promises are kept."
    if score.impossible:
        do = "does" if score.impossible == 1 else "do"
        pairs = words.plural(score.impossible, "true pair")
        return f"{said}. But {pairs} {do} not fit the law at all: it is NOT the law of this log."
    return f"{said}; promises are NOT kept: see the law."


def _method(found: am.Audit) -> str:
    seed = "" if found.confidence == 1.0 else f", seed {found.seed}"
    return f"By {found.count.method}{seed}, in {found.seconds:.2g} s."
