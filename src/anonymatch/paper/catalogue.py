"""All questions, in the order of the paper."""

from __future__ import annotations

from anonymatch.paper import (
    appendices,
    construction,
    equity,
    exposing,
    figures,
    foundations,
    limits,
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
            *figures.QUESTIONS,
            *foundations.QUESTIONS,
            *equity.QUESTIONS,
            *construction.QUESTIONS,
            *limits.QUESTIONS,
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
