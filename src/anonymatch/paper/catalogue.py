"""All questions, in the order of the paper."""

from __future__ import annotations

from anonymatch.paper import (
    appendices,
    asymptotics,
    construction,
    equity,
    exposing,
    figure_claims,
    foundations,
    metric,
    optimality,
    randomness,
    robustness,
    steps,
)
from anonymatch.paper.question import Question

__all__ = ["QUESTIONS"]

QUESTIONS: tuple[Question, ...] = tuple(
    sorted(
        (
            *figure_claims.QUESTIONS,
            *foundations.QUESTIONS,
            *equity.QUESTIONS,
            *construction.QUESTIONS,
            *asymptotics.QUESTIONS,
            *optimality.QUESTIONS,
            *randomness.QUESTIONS,
            *exposing.QUESTIONS,
            *robustness.QUESTIONS,
            *steps.QUESTIONS,
            *metric.QUESTIONS,
            *appendices.QUESTIONS,
        ),
        key=lambda question: question.number,
    )
)
