"""Plans of mix networks: which mix, which delay, how much cover, and what nothing can do."""

from anonymatch.plans.charts import covers, front_by_delay, plan_charts, trade_chart
from anonymatch.plans.emit import LANGUAGES
from anonymatch.plans.expected import simulated_bits
from anonymatch.plans.planning import plan, plan_request
from anonymatch.plans.presets import PRESETS, preset_named
from anonymatch.plans.request import Adversary, Burst, Network, PlanRequest, Targets, Traffic
from anonymatch.plans.result import NetworkPlan, Setting
from anonymatch.plans.strategies import FAMILIES, Strategy, strategy_named
from anonymatch.plans.toml_file import read_request, request_as_toml
from anonymatch.plans.verdict import (
    cover_in_words,
    missed_in_words,
    setting_in_words,
    width_in_words,
)
from anonymatch.plans.wording import plan_figures

__all__ = [
    "FAMILIES",
    "LANGUAGES",
    "PRESETS",
    "Adversary",
    "Burst",
    "Network",
    "NetworkPlan",
    "PlanRequest",
    "Setting",
    "Strategy",
    "Targets",
    "Traffic",
    "cover_in_words",
    "covers",
    "front_by_delay",
    "missed_in_words",
    "plan",
    "plan_charts",
    "plan_figures",
    "plan_request",
    "preset_named",
    "read_request",
    "request_as_toml",
    "setting_in_words",
    "simulated_bits",
    "strategy_named",
    "trade_chart",
    "width_in_words",
]
