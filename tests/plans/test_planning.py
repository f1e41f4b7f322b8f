"""Plans: what they find, what they confirm, and what they refuse."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.plans import Network, PlanRequest, preset_named, read_request, request_as_toml
from anonymatch.plans.outcome import Outcome, outcome_of
from anonymatch.plans.simulation import Effort, Scenario, _routes, replicate, seconds_of
from anonymatch.plans.strategies import FAMILIES


def scenario(
    law: str, *parameters: float, layers: int = 3, width: int = 3, **more: object
) -> Scenario:
    family = FAMILIES[law]
    plain = Scenario(
        family.mix(parameters), family.stay(parameters), "stratified", layers, width,
        (0,), 0.0, 1.0, (), (1.0, 0.0), np.empty(0),
    )  # fmt: skip
    return plain._replace(**more)  # type: ignore[arg-type]


def outcome(case: Scenario, runs: int = 16, targets: int = 300) -> Outcome:
    effort = Effort(targets, 60_000, False)
    return outcome_of([replicate(case, effort, 100 + k) for k in range(runs)], 0.01, ranked=False)


# Three layers of three mixes, by independent simulations of others: own bits, and what the worst
# 1 % hide among.
@pytest.mark.parametrize(
    ("law", "parameters", "bits", "worst"),
    [
        ("exponential", (3.0,), 5.6, 23),
        ("exponential", (4.0,), 6.1, 41),
        ("pool", (1, 2), 5.42, 33.5),
        ("pool", (2, 2), 5.69, 40),
        ("pool", (1, 3), 5.99, 53),
        ("pool", (4, 1), 5.48, 34),
    ],
)
def test_networks_have_their_known_figures(
    law: str, parameters: tuple[float, ...], bits: float, worst: float
) -> None:
    found = outcome(scenario(law, *parameters))
    assert found.entropy.value == pytest.approx(bits, abs=0.08)
    assert 2**found.worst.value == pytest.approx(worst, rel=0.09)
    assert found.missing < 1e-5


def test_one_corrupt_mix_in_each_layer_is_paid_by_those_who_meet_no_other() -> None:
    found = outcome(scenario("exponential", 2.67, corrupt_mixes=(1, 1, 1)))
    assert found.entropy.value == pytest.approx(4.25, abs=0.12)
    assert found.identified.value == pytest.approx(0.04, abs=0.012)


def test_corrupt_users_thin_the_traffic() -> None:
    with_them = outcome(scenario("exponential", 6.0, corrupt_users=0.5))
    without = outcome(scenario("exponential", 3.0))
    assert with_them.entropy.value == pytest.approx(without.entropy.value, abs=0.06)


def test_nights_are_worst_for_exponential_mixes_and_long_for_pools() -> None:
    hours = (1.9,) * 12 + (0.1,) * 12
    exponential = outcome(scenario("exponential", 4.5, layers=1, width=1, hours=hours), targets=900)
    pool = outcome(scenario("pool", 1, 4, layers=1, width=1, hours=hours), targets=900)
    assert 2**exponential.worst.value < 2.5
    assert 2**pool.worst.value == pytest.approx(12.2, abs=0.1)
    assert pool.delay_99.value > 50 > 25 > exponential.delay_99.value


def test_nothing_exceeds_the_ceiling() -> None:
    draw = np.random.default_rng(8)
    for _ in range(30):
        family = FAMILIES[list(FAMILIES)[draw.integers(len(FAMILIES))]]
        parameters = family.near(float(np.exp(draw.uniform(-1, 2.5))))
        layers, width = int(draw.integers(1, 4)), int(draw.integers(1, 4))
        case = scenario(family.keyword, *parameters, layers=layers, width=width)
        found = outcome(case, runs=6, targets=200)
        in_flight = found.mean_delay.high * width
        assert found.entropy.low <= am.mixes.ceiling_bits(in_flight)


def test_a_plan_confirms_its_setting_and_fresh_simulations_agree() -> None:
    plan = am.plan(
        users=1000, rate=0.01, network="3x3", laws=("exponential", "pool"), cover=(0, 1),
        worst=(0.01, 20), mean_delay=2.0,
    )  # fmt: skip
    best = plan.best
    assert best is not None
    assert best.confirmed
    assert best.law.startswith("pool")  # exponential mixes need cover for it
    assert best.cover == 0
    assert best.mean_delay.high <= 2
    assert best.worst.low >= 20
    exponential = [s for s in plan.tried if s.kind == "exponential" and s.meets]
    assert exponential
    assert {s.cover for s in exponential} == {1.0}
    case = scenario("pool", *(int(value) for value in best.parameters.values()))
    fresh = [2 ** outcome_of([replicate(case, Effort(300, 30_000, False), 7000 + 4 * k + j)
                              for j in range(4)], 0.01, ranked=False).worst.value
             for k in range(20)]  # fmt: skip
    assert sum(value >= 20 for value in fresh) >= 19
    assert plan.ceiling == pytest.approx(am.mixes.ceiling_bits(40))
    assert set(plan.front.columns) == set(plan.settings.columns)
    assert plan.front.height <= 12
    assert json.loads(plan.to_json())["met"] is True


def test_an_exponential_plan_is_as_short_as_its_target_allows() -> None:
    plan = am.plan(laws="exponential", cover=1, worst=(0.01, 20), mean_delay=2.0)
    assert plan.best is not None
    assert 1.2 < plan.best.mean_delay.value < 1.6  # 1.36 s has 20.6 to 23


def test_what_cannot_be_met_is_told_with_the_nearest() -> None:
    plan = am.plan(laws="exponential", cover=0, worst=(0.01, 20), mean_delay=0.5)
    assert not plan.met
    assert "the ceiling" in plan.verdict
    assert plan.nearest is not None
    close = am.plan(laws="exponential", cover=0, worst=(0.01, 20), mean_delay=2.0)
    assert not close.met
    assert "the mean delay is up to" in close.verdict


def test_corrupt_paths_name_the_width_that_mends_them() -> None:
    plan = am.plan(laws="exponential", cover=0, worst=(0.01, 20), corrupt_mixes=(1, 1, 1))
    assert plan.corrupt_path_share == pytest.approx(1 / 27)
    assert plan.width_needed == 5
    assert "5 mixes a layer" in plan.verdict


def test_the_same_seed_gives_the_same_plan_on_any_number_of_threads() -> None:
    options = {"laws": "pool", "cover": 0, "worst": (0.01, 20), "mean_delay": 2.0, "seed": 5}
    alone = am.plan(**options)  # type: ignore[arg-type]
    with ThreadPoolExecutor(3) as threads:
        together = am.plan(**options, executor=threads)  # type: ignore[arg-type]
    assert alone.to_json() == together.to_json()


def test_presets_have_the_figures_of_their_systems() -> None:
    nym = am.plan(preset="nym")
    assert nym.best is not None
    assert nym.best.entropy.value < 4.65  # what thin pools cannot exceed
    assert preset_named("katzenpost").strategies[0].parameters == (4.0,)


def test_a_plan_goes_to_toml_and_back(tmp_path: Path) -> None:
    request = PlanRequest(
        network=Network.named("4x2", 0.05), laws=("pool:2,4", "exponential"), cover=(0.5,)
    )
    path = tmp_path / "plan.toml"
    path.write_text(request_as_toml(request))
    assert read_request(path) == request


def test_settings_are_written_as_others_write_them() -> None:
    plan = am.plan(laws="exponential:2", cover=1, users=100, rate=0.5)
    assert plan.best is not None
    assert "Mu = 0.0005" in plan.emit("katzenpost")
    assert "LambdaP = 0.0005" in plan.emit("katzenpost")
    assert 'average_packet_delay = "2000ms"' in plan.emit("nym")
    assert 'loop_cover_traffic_average_delay = "2000ms"' in plan.emit("nym")
    pool = am.plan(laws="pool:2,4", cover=1, users=100, rate=0.5)
    with pytest.raises(am.InputError, match="exponential mixes only"):
        pool.emit("nym")


def test_a_log_of_arrivals_is_planned_for(tmp_path: Path) -> None:
    times = np.cumsum(np.random.default_rng(1).exponential(0.1, 3000))
    path = tmp_path / "arrivals.csv"
    path.write_text("time,user\n" + "\n".join(f"{time},u" for time in times))
    plan = am.plan(arrivals=path, laws="pool:1,2", cover=(0,), worst=(0.01, 20))
    assert plan.messages == pytest.approx(10, rel=0.1)
    assert plan.best is not None
    assert plan.best.entropy.value == pytest.approx(5.42, abs=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0}, "rate must be above 0"),
        ({"network": "0x3"}, "layers must be a whole number from 1"),
        ({"network": "three"}, "network must be one, cascade"),
        ({"corrupt_mixes": 10}, "corrupt_mixes is 10, and 3x3 has 9 mixes"),
        ({"corrupt_mixes": (4, 0, 0)}, "4 of a layer of 3 mixes"),
        ({"mean_delay": 3, "delay_99": 2}, "contradict each other"),
        ({"packets": 1.5, "cover": (1, 3)}, "packets allows 1.5 packets"),
        ({"link": 1.0, "mean_delay": 2.0}, "the links alone take 4 s"),
        ({"laws": "expnential"}, "plans know exponential"),
        ({"laws": "pool:2"}, "give pool:BATCH,KEPT"),
        ({"worst": 20}, "worst must be a share and a number"),
        ({"worst": (0.0, 20)}, "worst must be a share above 0"),
        ({"identified": 0.0}, "identified must be above 0"),
        ({"hours": [0, 0]}, "hours must have a number above 0"),
        ({"hours": [1], "burst": (5, 0.2)}, "give one of hours, burst and arrivals"),
        ({"preset": "tor"}, "preset must be katzenpost, nym, loopix"),
        ({"cover": ()}, "cover has no level"),
        ({"arrivals": "nowhere.csv"}, "there is no such file"),
    ],
)
def test_what_makes_no_plan_is_refused_in_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(am.InputError) as caught:
        am.plan(**options)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[traffic]\nuser = 3", "'user' is no key of [traffic]"),
        ("[people]\nusers = 3", "'people' is no table"),
        ("traffic = 3", "[traffic] must be a table"),
        ("[traffic", "this is no TOML"),
        ("[traffic]\nburst = 3", "burst must be {mean"),
        ("[network]\nshape = 'ring'", "shape must be one of"),
        ("[traffic]\nrate = 'fast'", "rate must be a number"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_line(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(am.InputError) as caught:
        am.plan(path)
    assert words in str(caught.value)
    assert "plan.toml" in str(caught.value)


def test_bounds_of_quantiles_cover() -> None:
    case = scenario("exponential", 3.0)
    effort = Effort(100, 10_000, False)
    truth = math.log2(22.9)  # of 120,000 targets
    covered = 0
    for seed in range(60):
        samples = [replicate(case, effort, 1000 * seed + k) for k in range(8)]
        found = outcome_of(samples, 0.01, ranked=False)
        covered += found.worst.low <= truth <= found.worst.high + 1e-9
    assert covered >= 51


def test_a_plan_goes_on_from_what_was_recorded(tmp_path: Path) -> None:
    options = {"laws": "exponential:1", "cover": 0, "network": "one", "users": 1000, "rate": 0.01}
    path = tmp_path / "plan.run"
    with am.Checkpoint(path) as record:
        first = am.plan(**options, executor=record)  # type: ignore[arg-type]
    with am.Checkpoint(path) as record:
        again = am.plan(**options, executor=record)  # type: ignore[arg-type]
    assert first.to_json() == again.to_json() == am.plan(**options).to_json()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"corrupt_mixes": 9, "worst": (0.01, 2)},
        {"burst": (500, 0.001), "network": "one"},
        {"hours": [1, 0, 0, 0], "network": "one", "mean_delay": 2},
    ],
)
def test_json_of_any_plan_is_json(options: dict[str, object]) -> None:
    plan = am.plan(laws="exponential:1", cover=0, **options)  # type: ignore[arg-type]
    record = json.loads(plan.to_json(), parse_constant=lambda name: pytest.fail(name))
    if plan.best is not None and record["ceiling"] is not None:
        assert plan.best.entropy.low <= record["ceiling"]


def test_those_who_pass_corrupt_mixes_only_are_told_so() -> None:
    plan = am.plan(laws="pool:2,3", cover=0, network="cascade:2", corrupt_mixes=2)
    assert plan.best is not None
    assert plan.best.causes == {"passed corrupt mixes only": 1.0}


def test_what_the_ceiling_refuses_is_not_swept_and_the_nearest_is_told() -> None:
    asked = {"laws": "exponential", "cover": 0, "worst": (0.01, 20)}
    refused = am.plan(**asked, mean_delay=0.5)  # type: ignore[arg-type]
    allowed = am.plan(**asked, mean_delay=2.0)  # type: ignore[arg-type]
    work = [sum(setting.targets for setting in plan.tried) for plan in (refused, allowed)]
    assert work[0] <= 0.3 * work[1]
    assert not refused.confirmations
    assert refused.nearest is not None
    assert [name for name, _, _ in refused.nearest.missed()] == ["mean_delay"]
    assert refused.nearest.mean_delay.value == pytest.approx(2.7, rel=0.2)
    # Ten messages a second, and e (10 D + 1/2) = 20^0.99.
    assert refused.least_delay == pytest.approx((20**0.99 / math.e - 0.5) / 10, rel=0.02)
    assert "at least 0.6" in refused.verdict


def test_corrupt_paths_are_told_without_a_whole_sweep() -> None:
    plan = am.plan(laws="exponential", cover=0, worst=(0.01, 20), corrupt_mixes=(1, 1, 1))
    assert not plan.confirmations
    assert len(plan.tried) == 7
    assert plan.nearest is not None


def test_a_setting_is_on_the_front_once() -> None:
    plan = am.plan(network="one", laws=("threshold:10", "pool:1,4"), cover=0, worst=(0.01, 8))
    names = [(setting.law, setting.cover) for setting in plan.front_settings]
    assert plan.confirmations
    assert len(names) == len(set(names))
    assert plan.best in plan.front_settings


def test_long_free_routes_do_not_cost_as_many_times_more_as_they_are_longer() -> None:
    effort = Effort(150, 30_000, False)
    costs = [
        seconds_of(scenario("exponential", 20.0, layers=hops, width=2, shape="free"), effort)
        for hops in (3, 100)
    ]
    assert costs[1] < 8 * costs[0]  # 33 times as long


def test_free_routes_never_stay_at_a_mix() -> None:
    case = scenario("exponential", 1.0, layers=20, width=3, shape="free")
    routes = _routes(case, 2000, np.random.default_rng(1))
    there = routes >= 0
    assert there[:, 0].all()
    assert not (np.diff(there.astype(int), axis=1) > 0).any()  # they end once
    assert there.sum() / 2000 == pytest.approx(20, rel=0.1)
    both = there[:, :-1] & there[:, 1:]
    steps = ((routes[:, 1:] - routes[:, :-1]) % 3)[both]
    assert set(np.unique(steps)) == {1, 2}
    assert routes.max() == 2


def test_part_of_the_traffic_alone_is_told_what_was_taken_for_the_rest() -> None:
    quick = {"network": "one", "laws": "threshold:10", "cover": 0}
    assert "1,000 users" in am.plan(rate=0.1, **quick).notes[0]  # type: ignore[arg-type]
    assert "0.01 messages" in am.plan(users=10, **quick).notes[0]  # type: ignore[arg-type]
    assert am.plan(users=10, rate=0.1, **quick).notes == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("table", [None, "user\n1\n", "time\nnoon\n"])
def test_arrivals_that_a_plan_cannot_use_are_told_with_the_file_that_names_them(
    tmp_path: Path, table: str | None
) -> None:
    if table is not None:
        (tmp_path / "log.csv").write_text(table)
    path = tmp_path / "plan.toml"
    path.write_text('[traffic]\narrivals = "log.csv"\n')
    with pytest.raises(am.InputError, match=r"plan\.toml: arrivals: .*log\.csv"):
        am.plan(path)


def test_a_number_of_many_digits_is_called_a_number(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f"[traffic]\nusers = 1{'0' * 80}\n")
    with pytest.raises(am.InputError, match="not a number of 81 digits"):
        am.plan(path)
