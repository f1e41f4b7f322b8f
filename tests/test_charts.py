"""Charts that results give: by name, for notebooks and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymatch as am
from anonymatch.reporting.charts import chart_svg

PLAN: dict[str, Any] = {"users": 100, "rate": 0.1, "network": "one", "laws": "threshold:10"}
MADE: dict[str, Any] = {
    "attack": lambda: am.attack(am.partition([4, 3]), steps=3),
    "plan": lambda: am.plan(**PLAN, worst=(0.01, 8)),
    "rounds": lambda: am.rounds(am.disclosure.synthesize_rounds(30, users=8, batch=4, seed=1)),
    "comparison": lambda: am.compare(
        [am.audit(am.partition([4, 3])), am.audit(am.ring(7, 3))], ["groups", "ring"]
    ),
}
NAMES = {
    "attack": ["bits", "doubt"],
    "plan": ["delay", "delay_99", "cover"],
    "rounds": ["bits", "guesses"],
    "comparison": ["cost", "difference", "spread", "entropy", "candidates"],
}


@pytest.mark.grid
@pytest.mark.parametrize("result", MADE)
def test_every_chart_of_a_result_is_drawn(result: str) -> None:
    made = MADE[result]()

    assert chart_svg(made.chart()) == chart_svg(made.chart(NAMES[result][0]))
    for name in NAMES[result]:
        drawn = chart_svg(made.chart(name))

        assert drawn.startswith("<svg")
        assert "NaN" not in drawn


@pytest.mark.parametrize("result", MADE)
def test_an_unknown_chart_gets_the_names_of_those_there_are(result: str) -> None:
    with pytest.raises(am.InputError, match=f"no chart 'x'; it has '{NAMES[result][0]}'"):
        MADE[result]().chart("x")


def test_a_comparison_says_what_more_bits_cost(tmp_path: Path) -> None:
    audits = []
    for law in ("exponential:1", "exponential:2"):
        path = tmp_path / "log.csv"
        log = am.mixes.synthesize(law, messages=400, rate=5, seed=3)
        am.mixes.write_messages(log, path)
        audits.append(am.audit(path, law=law))
    comparison = am.compare(audits, ["quick", "slow"])

    assert comparison.verdict.startswith("slow has more entropy per message: ")
    assert "times the mean delay and the same packets." in comparison.verdict.replace(
        "twice", "2 times"
    )
    (difference,) = comparison.rows[0].differences
    assert difference is not None
    assert difference.low <= difference.value <= difference.high
    assert difference.value == pytest.approx(audits[1].entropy.value - audits[0].entropy.value)
    assert comparison.to_dict()["rows"][0]["differences"][0]["low"] == difference.low
