"""What the page of plans shows: formulas at once, and curves that serve other traffic."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.planning import FAMILIES, Network, read_request
from anonymatch.reporting.charts import AnyChart, FrontLine, chart_svg
from anonymatch.studio.address import as_text
from anonymatch.studio.pages.plan import KINDS, Wish, confirm, curves, front_of, scaled
from anonymatch.studio.pages.plan_search import PlanSearch, plan_command


@pytest.fixture(scope="module")
def known() -> list[FrontLine]:
    return curves(Network.named("2x2"), 0)


@pytest.mark.slow
def test_curves_of_one_traffic_serve_every_other(known: list[FrontLine]) -> None:
    wish = Wish(users=300, rate=0.05, layers=2, width=2, cover=1.0)
    by_kind = {curve.name: curve for curve in known}

    assert list(by_kind) == list(KINDS)
    for law in (
        scaled(by_kind["pool"], wish).keys[2],
        scaled(by_kind["exponential"], wish).keys[10],
    ):
        chosen = replace(wish, law=law)
        plan = confirm(chosen)
        setting = plan.best or plan.tried[0]
        curve = scaled(by_kind[setting.kind], chosen)
        expected = np.exp(np.interp(np.log(chosen.mean_delay), np.log(curve.x), np.log(curve.y)))

        assert setting.mean_delay.value == pytest.approx(chosen.mean_delay, rel=0.05)
        assert setting.worst.value == pytest.approx(expected, rel=0.25)


def test_every_kind_of_mix_that_plans_know_may_be_chosen() -> None:
    assert set(KINDS) == set(FAMILIES)
    for kind in KINDS:
        wish = Wish.of({"kind": kind, "corrupt": "2", "delay": "3"})
        assert wish.strategy.keyword == kind
        assert wish.mean_delay == pytest.approx(3, rel=0.25)
        assert "--corrupt-mixes 2" in wish.command()


def test_more_cover_moves_the_front_to_the_left(known: list[FrontLine]) -> None:
    wish = Wish(layers=2, width=2)
    for curve in known:
        without, with_cover = scaled(curve, wish), scaled(curve, replace(wish, cover=3.0))

        assert list(with_cover.x) == pytest.approx([x / 4 for x in without.x])
        assert with_cover.y == without.y


def test_formulas_are_those_of_the_library() -> None:
    wish = Wish(users=5000, rate=1.0, layers=3, width=2)

    assert wish.mean(0.8) == pytest.approx(2 ** am.mixes.network_bits(5000, 3, 0.8 / 3))
    assert wish.ceiling(0.8) == pytest.approx(2 ** am.mixes.ceiling_bits(4000))
    thin = Wish(users=55, rate=100.0, layers=3, width=80)
    assert thin.mean(0.045) == pytest.approx(2 ** am.mixes.thin_network_bits(5500, 3, 0.015, 80))


@pytest.mark.parametrize("layers", [1, 3])
def test_no_mean_is_above_the_ceiling_and_corrupt_mixes_lower_it(layers: int) -> None:
    wish = Wish(layers=layers, width=3)
    for delay in (0.01, 0.1, 1.0, 10.0, 100.0):
        means = [replace(wish, corrupt=corrupt).mean(delay) for corrupt in range(3 * layers + 1)]

        assert means[0] <= wish.ceiling(delay) * (1 + 1e-12)
        assert all(after <= before for before, after in pairwise(means))
        assert means[-1] == 1.0


def test_a_wider_network_mends_corrupt_paths() -> None:
    wish = Wish(corrupt=3)

    assert wish.corrupt_path_share == pytest.approx(3 * 2 * 1 / (9 * 8 * 7))
    width = wish.width_needed()
    assert width is not None
    assert replace(wish, width=width).corrupt_path_share <= 0.01
    assert replace(wish, width=width - 1).corrupt_path_share > 0.01


@pytest.mark.parametrize("wish", [Wish(), Wish(cover=1.5, corrupt=2, law="pool:2,4", kind="pool")])
def test_an_address_leads_back_to_the_same_wish(wish: Wish) -> None:
    again = Wish.of({name: str(value) for name, value in wish.values().items()})

    assert again.request == wish.request
    assert again.command() == wish.command()


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"users": "x", "rate": "nan", "width": "0.5", "kind": "magic", "law": "magic:1"},
        {"law": "pool", "delay": "-1"},
        {"law": "pool:0,0"},
        {"law": "exponential:0"},
        {"law": "<script>"},
        {"users": "1e99"},
    ],
)
def test_nonsense_in_an_address_is_left_out(query: dict[str, str]) -> None:
    wish = Wish.of(query)

    assert wish.request
    assert wish.strategy.keyword == "exponential"


@pytest.mark.grid(quick=6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "more",
    [
        {"users": 10_000_000, "rate": 100.0, "delay": 1e5, "cover": 100.0},
        {"users": 1, "rate": 1e-6, "delay": 0.001, "width": 100},
        {"layers": 1, "width": 1, "corrupt": 1},
        {"law": "threshold:1000000"},
    ],
)
def test_the_ends_of_every_control_are_drawn(kind: str, more: dict[str, object]) -> None:
    wish = Wish.of({"kind": kind} | {name: str(value) for name, value in more.items()})

    assert ET.fromstring(chart_svg(front_of(wish, None, None))) is not None
    assert wish.command().startswith("anonymatch plan --users ")


@pytest.mark.parametrize("kind", KINDS)
def test_the_shortest_delay_is_simulated(kind: str) -> None:
    wish = Wish.of({"users": "1", "rate": "1e-6", "delay": "0.001", "kind": kind})

    assert 1 <= confirm(wish).tried[0].worst.value < 30  # one in, one out: that is not empty


def test_a_setting_that_takes_too_long_is_refused() -> None:
    deep = Wish(users=10_000_000, rate=100.0, delay=1e5)

    with pytest.raises(
        am.InputError, match=r"this setting would take about .* minutes; choose a s"
    ):
        confirm(deep)


def test_curves_of_the_largest_network_are_coarser_and_not_refused() -> None:
    class BegunError(Exception):
        """The first simulation has ended."""

    totals: list[float] = []

    def progress(done: float, total: float) -> None:
        totals.append(total)
        if done > 0:
            raise BegunError

    with pytest.raises(BegunError):
        curves(Network.named("10x100"), 0, progress)
    assert totals[-1] < 70  # predicted seconds


def test_the_file_of_a_setting_is_that_setting(tmp_path: Path) -> None:
    wish = Wish(layers=1, width=1, cover=1.0, law="pool:1,4", among=5.0)
    plan = confirm(wish)
    assert plan.best is not None
    (tmp_path / "plan.toml").write_text(plan.best.to_toml())

    assert read_request(tmp_path / "plan.toml") == wish.request


def test_the_command_of_a_wish_gives_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    from json import loads
    from shlex import split

    from anonymatch.cli import main

    wish = Wish(layers=1, width=1, cover=1.0, law="pool:1,4", among=5.0)
    best = confirm(wish).best
    assert best is not None

    assert main([*split(wish.command())[1:], "--json"]) == 0
    assert loads(capsys.readouterr().out)["best"]["worst"]["low"] == best.worst.low


def test_options_of_a_search_are_in_the_address_and_the_command() -> None:
    query = {"plan.corrupt_users": "10%", "plan.burst": "5,0.2", "plan.laws": "pool:2,4,timed"}
    query |= {"plan.worst": "5%=10"}
    search = PlanSearch(query, dict, lambda: None)
    again = PlanSearch({name: as_text(each) for name, each in search.values().items()}, dict, print)

    assert again.read == search.read
    assert (search.read.corrupt_users, search.read.burst) == (0.1, (5.0, 0.2))
    assert search.read.laws == ["pool:2,4", "timed"]
    command = plan_command({"users": 5, "burst": (5.0, 0.2), "worst": (0.05, 10.0)})
    assert command == "anonymatch plan --users 5 --burst 5,0.2 --worst 5%=10"


def words(chart: AnyChart) -> str:
    """What a chart says to those who do not see it."""
    return str(chart.to_dict()["description"])


def test_the_dot_is_on_its_curve_until_it_is_simulated(known: list[FrontLine]) -> None:
    wish = Wish(layers=2, width=2, kind="threshold", delay=3.0)
    waiting = words(front_of(wish, known, None))
    plan = confirm(wish)
    simulated = words(front_of(wish, known, plan.best or plan.tried[0]))

    assert f"Chosen: {wish.strategy}" in waiting
    assert f"Chosen: {wish.strategy}" in simulated
    assert "Chosen" not in words(front_of(wish, None, None))
