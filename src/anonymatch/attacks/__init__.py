"""What an attacker gains by exposing users, and which edges would help most against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.faces import on_first_use

if TYPE_CHECKING:
    from anonymatch.attacks.best_play import Adaptive, adaptive, reveals_needed
    from anonymatch.attacks.campaign import attack
    from anonymatch.attacks.exposing import Exposure, Exposures, Outcome, exposure, exposures
    from anonymatch.attacks.improving import AddedEdge, Improvement, improve
    from anonymatch.attacks.result import Attack, AttackStep, Ties, attack_charts
    from anonymatch.attacks.walk import STRATEGIES

__all__ = [
    "STRATEGIES",
    "Adaptive",
    "AddedEdge",
    "Attack",
    "AttackStep",
    "Exposure",
    "Exposures",
    "Improvement",
    "Outcome",
    "Ties",
    "adaptive",
    "attack",
    "attack_charts",
    "exposure",
    "exposures",
    "improve",
    "reveals_needed",
]

__getattr__ = on_first_use(
    __name__,
    {
        "best_play": "Adaptive adaptive reveals_needed",
        "campaign": "attack",
        "exposing": "Exposure Exposures Outcome exposure exposures",
        "improving": "AddedEdge Improvement improve",
        "result": "Attack AttackStep Ties attack_charts",
        "walk": "STRATEGIES",
    },
)
