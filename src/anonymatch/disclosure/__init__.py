"""Users who stay the same over rounds: who writes to whom, and when that is known."""

from anonymatch.disclosure.closed_forms import intersection_candidates, lsda_error, sda_rounds
from anonymatch.disclosure.decay import CurvePoint
from anonymatch.disclosure.disclosing import METHODS, rounds
from anonymatch.disclosure.posterior import Profiles
from anonymatch.disclosure.result import Disclosure, UserFall

__all__ = [
    "METHODS",
    "CurvePoint",
    "Disclosure",
    "Profiles",
    "UserFall",
    "intersection_candidates",
    "lsda_error",
    "rounds",
    "sda_rounds",
]
