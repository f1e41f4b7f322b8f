"""Plans: what they find, what they confirm, and what they refuse."""

from __future__ import annotations

import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.planning import (
    Network,
    PlanRequest,
    plan_report,
    preset_named,
    read_request,
    request_as_toml,
    width_in_words,
)
from anonymatch.planning.emit import client_stream
from anonymatch.planning.simulation import (
    Outcome,
    Scenario,
    _routes,
    outcome_of,
    replicate,
    seconds_of,
)
from anonymatch.planning.strategies import FAMILIES
from anonymatch.planning.tuning import Effort


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_cannot_be_met_is_told_with_the_nearest() -> None:
    plan = am.plan(laws="exponential", cover=0, worst=(0.01, 20), mean_delay=0.5)
    assert not plan.met
    assert "the ceiling" in plan.verdict
    assert plan.nearest is not None
    close = am.plan(laws="exponential", cover=0, worst=(0.01, 20), mean_delay=2.0)
    assert not close.met
    assert "the mean delay is up to" in close.verdict


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_emit_writes_katzenpost_and_nym_configuration() -> None:
    plan = am.plan(laws="exponential:2", cover=3, users=2, rate=0.5)
    assert plan.best is not None
    # No delay was asked: the queue has a load of 0.5, and its decoys are one of three covers.
    assert plan.best.queue_delay == pytest.approx(2.0)
    assert "Mu = 0.0005\n" in plan.emit("katzenpost")
    assert "LambdaP = 0.001\n" in plan.emit("katzenpost")
    assert "LambdaL = 0.001\n" in plan.emit("katzenpost")
    assert "2 s" in plan.emit("katzenpost")
    assert 'average_packet_delay = "2000ms"' in plan.emit("nym")
    assert 'message_sending_average_delay = "1000ms"' in plan.emit("nym")
    assert 'loop_cover_traffic_average_delay = "1000ms"' in plan.emit("nym")
    pool = am.plan(laws="pool:2,4", cover=1, users=2, rate=0.5)
    with pytest.raises(am.InputError, match="exponential mixes only"):
        pool.emit("nym")


def test_emitted_values_have_a_comment_and_durations_are_whole_numbers() -> None:
    plan = am.plan(laws="exponential:0.0123456", cover=3, users=100, rate=0.7)
    for language in ("katzenpost", "nym"):
        lines = plan.emit(language).splitlines()
        values = [k for k, line in enumerate(lines) if " = " in line and "#" not in line]
        assert len(values) == 3
        assert all(lines[k - 1].lstrip().startswith("#") for k in values)
    durations = re.findall(r'"([^"]*)"', plan.emit("nym"))  # humantime reads no fractions
    assert all(re.fullmatch(r"\d+(ms|us|ns)", duration) for duration in durations)


def queue_waits(rate: float, payload: float, messages: int, seed: int) -> float:
    """Mean wait where every tick of a Poisson clock sends the message that waits longest."""
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(1 / rate, messages))
    ticks = np.cumsum(draw.exponential(1 / payload, int(1.1 * messages * payload / rate)))
    waits, tick = [], 0
    for arrival in arrivals.tolist():
        tick = max(tick, int(np.searchsorted(ticks, arrival)))
        if tick == len(ticks):
            break
        waits.append(ticks[tick] - arrival)
        tick += 1
    return float(np.mean(waits))


@pytest.mark.parametrize("load", [0.1, 0.5, 0.8])
def test_wait_in_a_client_queue_agrees_with_its_simulation(load: float) -> None:
    stream = client_stream(0.01, 0.0, 3.0, 3.0 + load / 0.01 / (1 - load))
    assert stream.payload == pytest.approx(0.01 / load)
    waits = [queue_waits(0.01, stream.payload, 20_000, seed) for seed in range(3)]
    assert np.mean(waits) == pytest.approx(stream.queue_delay, rel=0.08)


@pytest.mark.grid
@pytest.mark.parametrize(("rate", "asked"), [(0.01, 2.0), (0.5, 2.0), (0.01, 200.0)])
def test_emit_keeps_queue_and_network_within_the_mean_delay(rate: float, asked: float) -> None:
    plan = am.plan(
        users=1000, rate=rate, laws="exponential", worst=(0.01, 20), mean_delay=asked,
        emit="katzenpost", budget=1,
    )  # fmt: skip
    best = plan.best
    assert best is not None
    values = dict(re.findall(r"^  (\w+) = (\S+)$", plan.emit("katzenpost"), re.MULTILINE))
    hop, payload, loops = (1000 * float(values[name]) for name in ("Mu", "LambdaP", "LambdaL"))
    network = 3 / hop
    assert 1 / (payload - rate) + network == pytest.approx(asked, rel=1e-4)
    assert best.queue_delay == pytest.approx(1 / (payload - rate), rel=1e-3)
    assert best.mean_delay.value == pytest.approx(network, rel=0.02)  # of the network alone
    measured = queue_waits(rate, payload, 20_000, 5) + network
    assert measured == pytest.approx(asked, rel=0.06)
    # Decoys of the queue and loops are the cover, and the figures are those of all packets.
    assert best.packets == pytest.approx((payload + loops) / rate, rel=1e-4)
    inside = 1000 * (payload + loops) / hop / 3
    fresh = outcome(scenario("exponential", inside))
    assert best.entropy.value == pytest.approx(fresh.entropy.value, abs=0.08)
    assert best.worst.low >= 20


def test_emit_with_a_fixed_law_simulates_the_decoys_of_the_queue() -> None:
    options = {"users": 100, "rate": 0.05, "laws": "exponential:1", "cover": 0, "mean_delay": 10}
    plain = am.plan(**options).best  # type: ignore[arg-type]
    queued = am.plan(**options, emit="nym").best  # type: ignore[arg-type]
    assert plain is not None
    assert queued is not None
    payload = 0.05 + 1 / (10 - 3)
    assert queued.packets == pytest.approx(payload / 0.05)
    assert queued.entropy.value == pytest.approx(
        outcome(scenario("exponential", 100 * payload / 3)).entropy.value, abs=0.08
    )
    assert queued.entropy.low > plain.entropy.high


def test_emit_counts_the_packets_of_the_queue_against_their_target() -> None:
    plan = am.plan(
        laws="exponential",
        cover=0,
        worst=(0.01, 20),
        mean_delay=2.0,
        packets=4,
        emit="nym",
        budget=1,
    )
    assert plan.best is None
    assert plan.nearest is not None
    assert [name for name, _, _ in plan.nearest.missed()] == ["packets"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hours": [1, 2]}, "plan without hours"),
        ({"burst": (5, 0.2)}, "plan without burst"),
        ({"laws": "pool"}, "exponential mixes only"),
    ],
)
def test_emit_refuses_a_plan_that_clients_cannot_follow(
    options: dict[str, object], words: str
) -> None:
    with pytest.raises(am.InputError, match=words):
        am.plan(emit="katzenpost", **options)  # type: ignore[arg-type]


def test_figures_and_ceiling_are_of_the_same_setting() -> None:
    plan = am.plan(laws="exponential", cover=(0, 1), worst=(0.01, 200), mean_delay=2.0, budget=1)
    assert plan.best is None
    nearest = plan.nearest
    assert nearest is not None
    assert nearest.entropy.value > plan.ceiling  # that of the delay asked
    for setting in (nearest, *plan.tried):
        assert setting.ceiling is not None
        assert setting.entropy.low <= setting.ceiling.high
        rate = 10 * setting.packets
        bound = am.mixes.ceiling_bits(rate * setting.mean_delay.value)
        assert setting.ceiling.value == pytest.approx(bound)
    lines = {name: value for name, value, _ in plan_report(plan, half_life=False).lines()}
    assert lines["ceiling"] == f"{nearest.ceiling.value:.2f} bits"  # type: ignore[union-attr]


def test_every_figure_of_anonymity_names_its_attacker() -> None:
    plan = am.plan(laws="exponential:1", cover=0, corrupt_mixes=1)
    meanings = {name: meaning for name, _, meaning in plan_report(plan).lines()}
    for name in ("entropy", "worst 1 %", "identified", "guesses"):
        assert "attacker: sees every link, sees inside 1 mix" in meanings[name]
    assert "sees at least both ends" in meanings["ceiling"]
    assert plan.to_dict()["best"]["attacker"] == "sees every link, sees inside 1 mix"


@pytest.mark.grid
@pytest.mark.parametrize(
    "options",
    [
        {"mean_delay": 2.0, "delay_99": 6.0},
        {"mean_delay": 1.5, "delay_99": 3.0, "identified": 0.01},
        {"mean_delay": 0.5},
    ],
)
def test_nearest_misses_no_more_targets_than_any_setting_tried(
    options: dict[str, float],
) -> None:
    plan = am.plan(laws="exponential", cover=0, worst=(0.01, 20), budget=1, **options)  # type: ignore[arg-type]
    assert plan.best is None
    assert plan.nearest is not None
    others = [setting.distance for setting in (*plan.front_settings, *plan.tried)]
    assert plan.nearest.distance[:2] <= min(others)[:2]


def test_widths_are_swept_and_the_result_says_that_width_decides() -> None:
    options = {"laws": "exponential", "cover": 0, "mean_delay": 2.0, "budget": 1}
    plan = am.plan(network="3x1,3,80", worst=(0.01, 15), **options)  # type: ignore[arg-type]
    assert {str(setting.request.network) for setting in plan.tried} == {"3x1", "3x3", "3x80"}
    assert plan.best is not None  # 3x3 needs 2.2 s
    assert str(plan.best.request.network) == "3x1"
    rows = [setting.worst.value for setting in plan.by_width]
    assert rows == sorted(rows, reverse=True)
    assert rows[0] > 15
    assert rows[0] > rows[1] > rows[2] == 1
    assert "in 3x80" in width_in_words(plan)
    assert "3x1" in plan.verdict
    assert set(plan.settings["network"]) == {"3x1", "3x3", "3x80"}
    fixed = am.plan(worst=(0.01, 20), **options)  # type: ignore[arg-type]
    assert fixed.by_width == ()
    assert {str(setting.request.network) for setting in fixed.tried} == {"3x3"}
    assert "--network 3x1-80" in width_in_words(fixed)


def test_widths_against_corrupt_mixes_prefer_the_width_that_mends_them() -> None:
    plan = am.plan(
        network="2x3,20",
        laws="exponential",
        cover=0,
        worst=(0.01, 3),
        corrupt_mixes=(1, 1),
        budget=1,
    )
    assert plan.best is not None
    assert plan.best.request.network.width == 20


@pytest.mark.parametrize(
    ("text", "widths"),
    [
        ("3x3", [3]),
        ("3x1,3,10", [1, 3, 10]),
        ("2x4,2x8", [4, 8]),
        ("3x2-16", [2, 4, 8, 16]),
        ("3", [1, 2, 3, 7, 12, 23, 43, 80]),
    ],
)
def test_network_names_list_widths(text: str, widths: list[int]) -> None:
    networks = Network.several(text)
    assert [network.width for network in networks] == widths
    assert {network.layers for network in networks} == {int(text[0])}


@pytest.mark.parametrize("text", ["3x5-2", "3x0-4", "3x1,4x2", "3x1,,2", "free:3-5"])
def test_network_names_without_a_meaning_are_refused(text: str) -> None:
    with pytest.raises(am.InputError, match="network"):
        Network.several(text)


def test_widths_go_to_toml_and_back(tmp_path: Path) -> None:
    request = PlanRequest(network=Network.named("3x1"), widths=(1, 3, 80))
    path = tmp_path / "plan.toml"
    path.write_text(request_as_toml(request))
    assert "width = [1, 3, 80]" in path.read_text()
    assert read_request(path) == request


class _BegunError(Exception):
    """The first simulation has ended."""


def _stop(done: float, total: float) -> None:
    if done > 0:
        raise _BegunError


@pytest.mark.parametrize("more", [{"worst": (0.01, 20)}, {}])
def test_a_plan_does_less_where_its_budget_is_short(more: dict[str, object]) -> None:
    options = {"users": 10**5, "rate": 1.0, "network": "3x80", "laws": "exponential"}
    with pytest.raises(_BegunError):  # 307 s would be for the most thorough sweep
        am.plan(**options, mean_delay=1.0, progress=_stop, **more)  # type: ignore[arg-type]


def test_a_plan_that_needs_more_memory_than_allowed_is_refused() -> None:
    options = {"users": 10**5, "rate": 1.0, "network": "3x80", "laws": "exponential"}
    budget = am.Budget(seconds=1e6, memory=1e8)
    with pytest.raises(am.BudgetError, match="GiB"):
        am.plan(**options, mean_delay=1.0, budget=budget)  # type: ignore[arg-type]


def test_deep_pools_are_not_swept_for_a_target_that_shallow_ones_meet() -> None:
    plan = am.plan(
        users=10**5, rate=1.0, network="3x8", laws="exponential", worst=(0.01, 20), mean_delay=2.0,
        budget=6,
    )  # fmt: skip
    assert plan.best is not None
    assert plan.best.mean_delay.value < 0.01


def test_a_coarse_sweep_is_noted() -> None:
    options = {"users": 100, "rate": 0.1, "network": "one", "laws": "exponential", "cover": 0}
    fine = am.plan(**options, worst=(0.01, 5))  # type: ignore[arg-type]
    coarse = am.plan(**options, worst=(0.01, 5), budget=0.5)  # type: ignore[arg-type]
    assert fine.notes == ()
    assert "coarse sweep" in str(coarse.notes[0])
    assert len(coarse.tried) < len(fine.tried)


@pytest.mark.slow
def test_deep_pools_are_swept_where_shallow_ones_do_not_suffice() -> None:
    hours = [1.0] * 12 + [0.01] * 12
    plan = am.plan(
        users=100, rate=1.0, network="one", laws="exponential", cover=0, hours=hours,
        worst=(0.01, 20), mean_delay=5.0, budget=2,
    )  # fmt: skip
    stays = [100 * setting.parameters["mean"] for setting in plan.tried]
    assert max(stays) == pytest.approx(500)
    assert plan.best is not None


@pytest.mark.parametrize("factor", [0.5, 1e-6, 86400.0])
def test_other_units_of_time_are_the_same_plan(factor: float) -> None:
    work: list[float] = []
    plans = [
        am.plan(
            users=50, rate=0.1 / unit, network="2x2", link=0.01 * unit, worst=(0.01, 8),
            laws=("exponential", "pool"), cover=(0, 1), mean_delay=3.0 * unit, budget=0.5,
            progress=lambda _, total: work.append(total),
        )
        for unit in (1.0, factor)
    ]  # fmt: skip
    one, other = plans
    assert len(set(np.round(work, 9))) == 1
    assert len(one.tried) == len(other.tried)
    for first, second in zip((*one.tried, one.best), (*other.tried, other.best), strict=True):
        assert first is not None
        assert second is not None
        assert (first.kind, first.cover) == (second.kind, second.cover)
        assert second.mean_delay.value == pytest.approx(factor * first.mean_delay.value)
        assert second.entropy.value == pytest.approx(first.entropy.value)
        assert second.worst.value == pytest.approx(first.worst.value)


def test_progress_of_a_plan_never_goes_back() -> None:
    shares: list[float] = []
    plan = am.plan(
        laws="exponential", cover=0, worst=(0.01, 20), mean_delay=2.0, budget=1.5,
        progress=lambda done, total: shares.append(done / total),
    )  # fmt: skip
    assert plan.nearest is not None  # a sweep, confirmations, and a sweep without limits
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert shares[1] < 0.1
    assert len(set(shares)) > 30


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


@pytest.mark.slow
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


@pytest.mark.grid
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


@pytest.mark.slow
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


@pytest.mark.slow
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
