"""Users who stay the same over rounds: who writes to whom, and when that is known."""

from anonymatch.disclosure.charts import (
    bits_chart as bits_chart,
    disclosure_charts as disclosure_charts,
    guess_chart as guess_chart,
    profile_matrix as profile_matrix,
    true_profiles as true_profiles,
)
from anonymatch.disclosure.closed_forms import (
    intersection_candidates as intersection_candidates,
    lsda_error as lsda_error,
    sda_rounds as sda_rounds,
)
from anonymatch.disclosure.comparing import (
    ComparedMethod as ComparedMethod,
    MethodComparison as MethodComparison,
    compare_methods as compare_methods,
    methods_report as methods_report,
)
from anonymatch.disclosure.decay import (
    CurvePoint as CurvePoint,
    OPEN_GAP as OPEN_GAP,
)
from anonymatch.disclosure.disclosing import (
    METHODS as METHODS,
    rounds as rounds,
)
from anonymatch.disclosure.lasting import (
    target_half_life as target_half_life,
)
from anonymatch.disclosure.logs.round_files import (
    read_rounds as read_rounds,
    write_rounds as write_rounds,
)
from anonymatch.disclosure.logs.round_log import (
    RoundLog as RoundLog,
    synthesize_rounds as synthesize_rounds,
)
from anonymatch.disclosure.logs.timed_rounds import (
    rounds_of_messages as rounds_of_messages,
)
from anonymatch.disclosure.options import (
    RoundsOptions as RoundsOptions,
)
from anonymatch.disclosure.methods.posterior import (
    Profiles as Profiles,
)
from anonymatch.disclosure.report import (
    ROUND_GATES as ROUND_GATES,
    half_life_figure as half_life_figure,
    rounds_report as rounds_report,
)
from anonymatch.disclosure.result import (
    Disclosure as Disclosure,
    UserFall as UserFall,
)
from anonymatch.disclosure.wording import (
    bits_about as bits_about,
    half_life_ends as half_life_ends,
    half_life_in_words as half_life_in_words,
    half_right as half_right,
    rounds_text as rounds_text,
    verdict as verdict,
)
