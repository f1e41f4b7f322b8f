"""What an attacker gains by exposing users, and which edges would help most against it."""

from anonymatch.theory.attacks.best_play import (
    Adaptive as Adaptive,
    adaptive as adaptive,
    reveals_needed as reveals_needed,
)
from anonymatch.theory.attacks.campaign import (
    attack as attack,
)
from anonymatch.theory.attacks.exposing import (
    Exposure as Exposure,
    Exposures as Exposures,
    Outcome as Outcome,
    exposure as exposure,
    exposures as exposures,
)
from anonymatch.theory.attacks.improving import (
    AddedEdge as AddedEdge,
    Improvement as Improvement,
    improve as improve,
)
from anonymatch.theory.attacks.result import (
    Attack as Attack,
    AttackStep as AttackStep,
    Ties as Ties,
    attack_charts as attack_charts,
)
from anonymatch.theory.attacks.walk import (
    STRATEGIES as STRATEGIES,
)
