"""Windows of gauges: right figures, and none that tell single packets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.monitoring import Alarm, Gauge, MixFigures, NetworkFigures, Windows, coarse
from anonymatch.planning import Network


def filled(
    windows: Windows, mixes: dict[str, float], *, seconds: int = 300, seed: int = 0, start: int = 0
) -> None:
    """Gauges every 30 s, drawn as Poisson traffic has them."""
    draw = np.random.default_rng(seed)
    for time in range(start, start + seconds, 30):
        for mix, mean in mixes.items():
            windows.add(Gauge(float(time), mix, float(draw.poisson(mean))), float(start))


@pytest.mark.parametrize("inside", [0.5, 1.0, 3.5, 10.0, 100.0])
def test_samples_of_poisson_traffic_give_the_closed_forms(inside: float) -> None:
    draws = np.random.default_rng(1).poisson(inside, 40_000)
    numbers = dict(
        zip(*(part.tolist() for part in np.unique(draws, return_counts=True)), strict=True)
    )

    figures = MixFigures.of("m", 300.0, {float(n): times for n, times in numbers.items()})

    assert figures.inside == pytest.approx(inside, rel=0.05)
    assert figures.bits == pytest.approx(am.mixes.exponential_bits(inside), rel=0.03, abs=0.05)
    joint = am.mixes.exponential_bits_per_message(inside)
    assert figures.joint_bits == pytest.approx(joint, rel=0.03, abs=0.05)
    assert figures.alone == pytest.approx(am.mixes.alone_probability(inside), rel=0.12, abs=1e-9)


def test_the_network_has_the_closed_forms_at_equal_mixes() -> None:
    network, inside = Network.named("3x4"), 2.5

    figures = NetworkFigures.of(network, [inside] * 12)

    # So many inside are a rate of 10 a second and a second a hop.
    assert figures.thin_bits == coarse(am.mixes.thin_network_bits(10.0, 3, 1.0, 4))
    assert figures.deep_bits == coarse(am.mixes.network_bits(10.0, 3, 1.0))
    assert figures.ceiling_bits == coarse(am.mixes.ceiling_bits(30.0))
    assert figures.bits < min(figures.thin_bits, figures.deep_bits, figures.ceiling_bits)


@pytest.mark.parametrize(
    ("inside", "bits", "formula"), [(10.7, 7.57, 7.7), (2.67, 5.32, 5.7), (0.67, 2.53, 3.3)]
)
def test_the_network_has_the_bits_of_simulations_where_pools_are_thin(
    inside: float, bits: float, formula: float
) -> None:
    figures = NetworkFigures.of(Network.named("3x3"), [inside] * 9)

    assert min(figures.thin_bits, figures.deep_bits, figures.ceiling_bits) == formula
    assert figures.bits == pytest.approx(bits, abs=0.12)  # two digits, and noise


def test_formulas_are_told_where_a_simulation_takes_too_long() -> None:
    figures = NetworkFigures.of(Network.named("3x3"), [50_000.0] * 9)

    assert figures.bits == min(figures.thin_bits, figures.deep_bits, figures.ceiling_bits)


def test_mixes_that_are_not_watched_are_taken_to_be_like_the_others() -> None:
    network = Network.named("3x4")

    assert NetworkFigures.of(network, [2.5]).bits == NetworkFigures.of(network, [2.5] * 12).bits


def test_one_layer_hides_in_one_mix_only() -> None:
    figures = NetworkFigures.of(Network.named("1x4"), [8.0] * 4)

    assert figures.bits == coarse(am.mixes.exponential_bits(8.0))


def test_every_figure_has_two_digits() -> None:
    windows = Windows(hop=1.0, network=Network.named("3x3"))
    filled(windows, {f"m{k}": 7.3 + k for k in range(9)})

    record = windows.close(300.0).to_dict()
    values = [value for mix in record["mixes"] for key, value in mix.items() if key != "mix"]
    values += [value for value in record["network"].values() if isinstance(value, float)]

    assert len(values) == 9 * 5 + 4
    assert all(value == float(f"{value:.2g}") for value in values)


def test_windows_shorter_than_five_minutes_are_refused() -> None:
    with pytest.raises(am.InputError, match="at least 300 s, not 299"):
        Windows(every=299)


def test_nothing_is_told_of_fewer_than_a_hundred_packets_until_there_are_more() -> None:
    windows = Windows(hop=30.0)  # about 10 an interval, and 30 s a packet: 90 in 270 s
    filled(windows, {"m": 9.0}, seconds=300)
    first = windows.close(300.0)
    filled(windows, {"m": 9.0}, seconds=300, start=300)
    second = windows.close(600.0)

    assert (first.mixes, list(first.withheld)) == ((), ["m"])
    assert [figures.seconds for figures in second.mixes] == [600]


def test_without_a_rate_only_packets_that_must_differ_are_counted() -> None:
    windows = Windows()
    for time in range(0, 300, 30):  # the same 99 packets may have been inside all the time
        windows.add(Gauge(float(time), "still", 99.0), 0.0)
        windows.add(Gauge(float(time), "moving", 50.0 * (time % 60 == 0)), 0.0)

    report = windows.close(300.0)

    assert [figures.mix for figures in report.mixes] == ["moving"]
    assert report.withheld == {"still": "fewer than 100 packets that are known of"}


@pytest.mark.parametrize(("rate", "told"), [(3.0, False), (4.0, True)])
def test_packets_before_a_window_began_are_not_counted_in_it(rate: float, told: bool) -> None:
    """The last sample before the window is 30 s older than its begin."""
    windows = Windows()
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), "m", 5.0, 100.0), 0.0)
    assert windows.close(300.0).mixes
    for k in range(10):  # the first sample of the second window comes after 30 s
        windows.add(Gauge(330.0 + k / 100, "m", 5.0, rate), 300.0)
    for time in range(360, 600, 30):
        windows.add(Gauge(float(time), "m", 5.0, 0.0), 300.0)

    report = windows.close(600.0)

    assert bool(report.mixes) is told
    assert list(report.withheld.values()) == ([] if told else ["fewer than 100 packets"])


def test_windows_do_not_overlap() -> None:
    windows = Windows(hop=1.0)
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), "m", 4.0), 0.0)
    first = windows.close(300.0)
    for time in range(300, 600, 30):
        windows.add(Gauge(float(time), "m", 8.0), 300.0)
    second = windows.close(600.0)

    assert [report.mixes[0].inside for report in (first, second)] == [4.0, 8.0]


def test_a_mix_that_came_late_is_watched_for_five_minutes_first() -> None:
    windows = Windows(hop=0.1)
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), "early", 4.0), 0.0)
        if time >= 120:
            windows.add(Gauge(float(time), "late", 4.0), 0.0)

    report = windows.close(300.0)

    assert [figures.mix for figures in report.mixes] == ["early"]
    assert report.withheld == {"late": "watched for less than 300 s"}


def test_a_mix_without_figures_counts_as_empty_in_the_network() -> None:
    both = Windows(hop=1.0, network=Network.named("1x2"))
    for time in range(0, 300, 30):
        both.add(Gauge(float(time), "full", 8.0), 0.0)
        both.add(Gauge(float(time), "quiet", 0.0), 0.0)

    network = both.close(300.0).network

    assert network is not None
    assert network.ceiling_bits == coarse(am.mixes.ceiling_bits(8.0))


def test_an_alarm_is_a_line_a_target_that_is_missed() -> None:
    windows = Windows(hop=1.0, alarm=Alarm(bits=3.0, alone=0.01))
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), "good", 20.0), 0.0)
        windows.add(Gauge(float(time), "bad", 1.0), 0.0)

    alarms = windows.close(300.0).alarms

    assert len(alarms) == 2
    assert alarms[0] == "bad: 2 own bits, and 3 are asked"
    assert alarms[1].startswith("bad: 18 % of packets meet nobody")


def test_a_mix_that_falls_silent_is_an_alarm() -> None:
    windows = Windows(hop=1.0, alarm=Alarm(bits=1.0))
    filled(windows, {"m": 9.0})
    windows.close(300.0)

    assert windows.close(600.0).alarms == ("m: no samples",)


@pytest.mark.parametrize("every", [1, 10, 30, 60])
@pytest.mark.parametrize("silent", [0, 200])
def test_a_mix_without_samples_at_the_end_has_no_figures(every: int, silent: int) -> None:
    windows = Windows(hop=1.0, alarm=Alarm(bits=1.0))
    for time in range(0, 300, every):
        windows.add(Gauge(float(time), "alive", 9.0), 0.0)
        if time < 300 - silent:
            windows.add(Gauge(float(time), "dying", 9.0), 0.0)

    report = windows.close(300.0)

    assert [one.mix for one in report.mixes] == ["alive", "dying"][: 1 if silent else 2]
    assert report.lag == every
    if silent:
        lag = 300 - max(range(0, 300 - silent, every))
        why = f"no samples for the last {coarse(lag):g} s"
        assert report.withheld == {"dying": why}
        assert report.alarms == (f"dying: {why}",)


def test_a_gauge_of_nan_withholds_its_mix_alone() -> None:
    windows = Windows(hop=1.0)
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), "good", 9.0), 0.0)
        windows.add(Gauge(float(time), "nan", math.nan), 0.0)
        windows.add(Gauge(float(time), "once", math.nan if time == 90 else 9.0), 0.0)

    report = windows.close(300.0)

    assert [one.mix for one in report.mixes] == ["good", "once"]
    assert report.withheld == {"nan": "its gauge is NaN"}


@pytest.mark.parametrize(("mixes", "alarms"), [(8, 1), (9, 0), (10, 1)])
def test_a_network_with_another_number_of_mixes_is_an_alarm(mixes: int, alarms: int) -> None:
    windows = Windows(hop=1.0, network=Network.named("3x3"))
    filled(windows, {f"m{k}": 9.0 for k in range(mixes)})

    report = windows.close(300.0)

    assert len(report.alarms) == alarms
    if alarms:
        assert report.alarms[0] == f"network 3x3 has 9 mixes, and {mixes} give samples"


def test_series_of_users_are_not_read() -> None:
    windows = Windows()
    for user in range(10_000):
        windows.add(Gauge(0.0, f"user{user}", 1.0), 0.0)

    with pytest.raises(am.InputError, match="more than 10,000 mixes; are these users or packets"):
        windows.add(Gauge(0.0, "one more", 1.0), 0.0)


@pytest.mark.parametrize("inside", [-1.0, -math.inf, math.inf, 1e10])
def test_what_is_no_number_of_packets_is_refused(inside: float) -> None:
    with pytest.raises(am.InputError, match="cannot be inside"):
        Windows().add(Gauge(0.0, "m", inside), 0.0)


def test_free_routes_are_refused() -> None:
    with pytest.raises(am.InputError, match="free routes have no closed form"):
        Windows(network=Network.named("free:3"))


def test_gauges_of_a_log_say_what_its_audit_says(tmp_path: Path) -> None:
    law = "exponential:4"
    log = am.mixes.synthesize(law, messages=20_000, rate=1.0, seed=3)
    came, left = np.sort(log.arrivals), np.sort(log.departures)
    windows = Windows(hop=4.0)
    told = []
    for begin in range(0, 18_000, 3000):
        for time in range(begin, begin + 3000, 30):
            inside = np.searchsorted(came, time) - np.searchsorted(left, time)
            windows.add(Gauge(float(time), "m", float(inside)), float(begin))
        told.append(windows.close(begin + 3000.0).mixes[0])

    am.mixes.write_messages(log, tmp_path / "log.csv")
    audited = am.audit(tmp_path / "log.csv", law=law)
    assert np.mean([figures.bits for figures in told]) == pytest.approx(
        audited.entropy.value, abs=0.08
    )
    assert np.mean([figures.joint_bits for figures in told]) == pytest.approx(
        audited.bits.value, abs=0.08
    )


@pytest.mark.grid
@pytest.mark.parametrize(("inside", "room"), [(0.67, 1.0), (2.67, 0.5), (10.7, 0.25)])
def test_the_network_is_about_what_a_simulation_gives_and_not_less(
    inside: float, room: float
) -> None:
    plan = am.plan(users=900, rate=0.01, network="3x3", laws=f"exponential:{inside / 3}", cover=0)
    entropy = plan.tried[0].entropy

    told = NetworkFigures.of(Network.named("3x3"), [inside] * 9).bits

    assert entropy.low - 0.05 <= told <= entropy.high + room
