"""The search for the cheapest setting, with every option of a plan, and how a setting is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

from anonymatch.base.numbers import amount, percent, span
from anonymatch.base.options import option_texts
from anonymatch.planning import (
    NetworkPlan,
    PlanOptions,
    Setting,
    missed_in_words,
    plan,
    plan_report,
)
from anonymatch.reporting import report_html
from anonymatch.studio import widgets as w
from anonymatch.studio.address import (
    Query,
    given_options,
    option_groups,
    option_values,
    read_options,
)
from anonymatch.studio.pages.choices import OptionForm
from anonymatch.studio.panel import View
from anonymatch.studio.request import keywords, option_line
from anonymatch.studio.tuning import TUNING

WORST = 0.01  # share of messages that the target is about
_PREFIX = "plan."  # of options in addresses: sliders have some of the same names
_NAMES = [name for name in option_texts(PlanOptions) if name not in ("users", "rate", "arrivals")]
"""All options except two that only sliders have, and one that names a file."""


def plan_command(given: Mapping[str, Any]) -> str:
    """Return the command line for keywords of a plan."""
    share, among = given["worst"]
    options = {**given, "worst": f"{percent(share).replace(' ', '')}={among:g}"}
    named = {"law" if name == "laws" else name: value for name, value in options.items()}
    return " ".join(["anonymatch plan", *option_line(named)])


def plan_python(given: Mapping[str, Any]) -> str:
    """Return the Python lines for keywords of a plan."""
    return f"import anonymatch as am\nplan = am.plan({keywords(given)})\nprint(plan)"


class PlanSearch:
    """Every option of a plan, and the button that searches; ``sliders`` returns their keywords."""

    def __init__(
        self, query: Query, sliders: Callable[[], dict[str, Any]], changed: Callable[[], None]
    ) -> None:
        self.read = read_options(PlanOptions, query, _NAMES, _PREFIX)
        self._sliders, self._changed = sliders, changed

    def values(self) -> dict[str, object]:
        """Return the values for an address."""
        return option_values(self.read, _PREFIX)

    def build(self) -> None:
        w.heading("The cheapest setting that meets all targets")
        with w.box("details", "more", open=True if self.values() else None):
            w.text("More options; they take the place of sliders", "summary")
            OptionForm(self, self._changed, {}).show(option_groups(PlanOptions, _NAMES))
        w.button("Search", self._search, "main")
        self._view = View("Searching")

    async def _search(self) -> None:
        given, told = self._sliders(), given_options(self.read)
        del given["laws"]
        if "law" in told:
            told["laws"] = tuple(told.pop("law"))
        if "preset" in told:  # its traffic and network are part of it
            given = {"worst": given["worst"]}
        given |= told
        await self._view.ask(
            lambda tell: plan(**given, budget=TUNING.plan_seconds, progress=tell),
            partial(_found, given),
        )


def _found(given: Mapping[str, Any], found: NetworkPlan) -> None:
    w.text(found.verdict, "p", "words")
    for note in found.notes:
        w.text(str(note), "p", "note")
    setting = found.best or found.nearest
    if setting is not None:
        show_setting(setting)

    def save_report() -> None:
        page = report_html(plan_report(found).run_by(plan_command(given)))
        w.save(page, "plan.html", "text/html")

    w.button("Save the report", save_report)
    w.same_result(plan_command(given), plan_python(given))


def show_setting(setting: Setting) -> None:
    """Show the figures of a setting, whether it meets the targets, and its file."""
    missed = missed_in_words(setting)
    w.text(
        f"{setting.law} meets the target."
        if not missed
        else f"{setting.law} misses the target: {'; '.join(missed)}.",
        "p",
        "words",
    )
    w.text(f"Figures are for an attacker who {setting.attacker}.", "p", "words")
    w.table(
        ["law", "cover", "mean delay, s", "99 % delay, s", "entropy, bits",
         f"worst {percent(setting.request.targets.worst)} hide among", "at least",
         "known for certain", "n-1 attack"],
        [
            [
                setting.law,
                amount(setting.cover),
                _span(setting.mean_delay),
                _span(setting.delay_99),
                _span(setting.entropy),
                amount(setting.worst.value),
                amount(setting.worst.low),
                percent(setting.identified.value),
                setting.n1_price,
            ]
        ],
        "setting",
        title="The chosen setting",
    )  # fmt: skip
    toml = setting.to_toml()
    with w.box("details", "more"):
        w.text("The setting as a file for anonymatch plan", "summary")
        w.html(f"<code>{escape(toml)}</code>", "pre").props["tabindex"] = 0
    w.button("Save as TOML", lambda: w.save(toml, "plan.toml", "application/toml"))


def _span(interval: Any) -> str:
    return span(interval.value, interval.low, interval.high)
