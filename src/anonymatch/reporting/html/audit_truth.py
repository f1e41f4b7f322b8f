"""Promised probabilities against the truth in the log."""

from __future__ import annotations

from anonymatch.audits import Audit, Score, ScoredAudit
from anonymatch.base.numbers import percent, plural, shown
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import Panel, Section, panel_section
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import number_cell

__all__ = ["truth_section"]


def truth_section(audit: Audit) -> Section:
    """How often best guesses were right, and how often they should have been.

    Examples
    --------
    >>> import anonymatch as am
    >>> "knows no truth" in truth_section(am.audit(am.complete(3))).body
    True
    """
    title = "Against the truth"
    score = audit.score if isinstance(audit, ScoredAudit) else None
    if score is None:
        known = audit.observation.truth is not None
        reason = (
            "The probabilities are known as intervals only, so that there are no promises to hold "
            "against the truth."
            if known
            else "The log knows no truth, so that the promised probabilities cannot be checked."
        )
        return panel_section("truth", title, before=[reason])
    caption = (
        "A dot stands for guesses that were promised about the same probability, as large as "
        "there are "
        "many. On the dashed line promises are kept; the bars are how far chance alone carries "
        "them, 19 times out of 20. Counted in the file."
    )
    drawn = embedded(audit.chart("calibration"), "calibration")
    return panel_section(
        "truth",
        title,
        [Panel(drawn, caption)],
        before=_sentences(audit, score),
        tables=[("By promised probability", _table(score))],
    )


def _sentences(audit: Audit, score: Score) -> list[str]:
    words = audit.observation.nouns
    right = (
        f"Of {plural(score.guesses, 'best guess', 'best guesses')}, {percent(score.right)} were "
        f"right; the probabilities promised {percent(score.promised)}, with a standard error of "
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
        sentences.append(
            "The probabilities are well calibrated: the differences are within three standard "
            "errors, so the law fits what really happened."
        )
    elif score.impossible:
        sentences.append(
            "However close these are, the law, and with it every figure here, does not fit what "
            "really happened."
        )
    else:
        sentences.append(
            "The probabilities are not calibrated: a difference is beyond three standard errors, "
            "so the law, and with it every figure here, does not fit what really happened."
        )
    if score.impossible:
        sentences.append(
            f"For {plural(score.impossible, words.user)} the truth is none of the candidates: the "
            "law is wrong for them."
        )
    else:
        sentences.append("The truth is among the candidates of everybody.")
    return sentences


def _table(score: Score) -> HtmlTable:
    names = ("promised", "guesses", "promised on average", "came true")
    rows = tuple(
        (
            number_cell(f"{100 * each.low:.3g} to {100 * each.high:.3g} %"),
            number_cell(shown(each.guesses)),
            number_cell(percent(each.promised)),
            number_cell(percent(each.right)),
        )
        for each in score.bins
    )
    return HtmlTable(tuple(Cell(name, True) for name in names), rows, "")
