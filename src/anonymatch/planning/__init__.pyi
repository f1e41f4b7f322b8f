"""Plans of mix networks: which mix, which delay, how much cover, and what nothing can do."""

from anonymatch.planning.charts import (
    covers as covers,
    front_by_delay as front_by_delay,
    front_line as front_line,
    trade_chart as trade_chart,
)
from anonymatch.planning.emit import (
    LANGUAGES as LANGUAGES,
)
from anonymatch.planning.simulation import (
    simulated_bits as simulated_bits,
)
from anonymatch.planning.options import (
    PlanOptions as PlanOptions,
)
from anonymatch.planning.planning import (
    plan as plan,
    plan_request as plan_request,
)
from anonymatch.planning.files import (
    PRESETS as PRESETS,
    preset_named as preset_named,
)
from anonymatch.planning.report import (
    plan_report as plan_report,
    plan_thresholds as plan_thresholds,
)
from anonymatch.planning.request import (
    Adversary as Adversary,
    Burst as Burst,
    Network as Network,
    PlanRequest as PlanRequest,
    Targets as Targets,
    Traffic as Traffic,
)
from anonymatch.planning.result import (
    NetworkPlan as NetworkPlan,
    Setting as Setting,
)
from anonymatch.planning.strategies import (
    FAMILIES as FAMILIES,
    Strategy as Strategy,
    strategy_named as strategy_named,
)
from anonymatch.planning.files import (
    read_request as read_request,
    request_as_toml as request_as_toml,
)
from anonymatch.planning.wording import (
    cover_in_words as cover_in_words,
    missed_in_words as missed_in_words,
    setting_in_words as setting_in_words,
    width_in_words as width_in_words,
)
