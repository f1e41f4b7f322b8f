"""What an attacker gains by exposing users, and which edges would help most against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.faces import on_first_use

if TYPE_CHECKING:
    from anonymatch.attacks.all_exposures import Exposures, exposure, exposures
    from anonymatch.attacks.best_play import Adaptive, adaptive, reveals_needed
    from anonymatch.attacks.campaign import attack
    from anonymatch.attacks.charts import attack_charts
    from anonymatch.attacks.improvement import AddedEdge, Improvement
    from anonymatch.attacks.improving import improve
    from anonymatch.attacks.one_exposure import Exposure, Outcome
    from anonymatch.attacks.result import Attack, AttackStep, Ties
    from anonymatch.attacks.strategies import STRATEGIES

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
        "all_exposures": "Exposures exposure exposures",
        "best_play": "Adaptive adaptive reveals_needed",
        "campaign": "attack",
        "charts": "attack_charts",
        "improvement": "AddedEdge Improvement",
        "improving": "improve",
        "one_exposure": "Exposure Outcome",
        "result": "Attack AttackStep Ties",
        "strategies": "STRATEGIES",
    },
)
