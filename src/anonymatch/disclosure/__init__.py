"""Users who stay the same over rounds: who writes to whom, and when that is known."""

from anonymatch.disclosure.charts import bits_chart, disclosure_charts, guess_chart
from anonymatch.disclosure.closed_forms import intersection_candidates, lsda_error, sda_rounds
from anonymatch.disclosure.comparing import ComparedMethod, MethodComparison, compare_methods
from anonymatch.disclosure.decay import OPEN_GAP, CurvePoint
from anonymatch.disclosure.disclosing import METHODS, rounds
from anonymatch.disclosure.gates import (
    ROUND_GATES,
    RoundGate,
    check_round_gates,
    half_life_figure,
    parse_round_gates,
)
from anonymatch.disclosure.lasting import target_half_life
from anonymatch.disclosure.posterior import Profiles
from anonymatch.disclosure.result import Disclosure, UserFall
from anonymatch.disclosure.wording import (
    bits_about,
    calibration_in_words,
    half_life_ends,
    half_life_in_words,
    half_right,
    left_in_words,
    rounds_seen,
    rounds_text,
    verdict,
)

__all__ = [
    "METHODS",
    "OPEN_GAP",
    "ROUND_GATES",
    "ComparedMethod",
    "CurvePoint",
    "Disclosure",
    "MethodComparison",
    "Profiles",
    "RoundGate",
    "UserFall",
    "bits_about",
    "bits_chart",
    "calibration_in_words",
    "check_round_gates",
    "compare_methods",
    "disclosure_charts",
    "guess_chart",
    "half_life_ends",
    "half_life_figure",
    "half_life_in_words",
    "half_right",
    "intersection_candidates",
    "left_in_words",
    "lsda_error",
    "parse_round_gates",
    "rounds",
    "rounds_seen",
    "rounds_text",
    "sda_rounds",
    "target_half_life",
    "verdict",
]
