"""Audits of wide logs with losses, cover and an end, under any law."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.measures.passages.explanations import explained

import anonymatch as am
from anonymatch.mixes import (
    DensityLaw,
    LinkFigures,
    LinkProblem,
    Messages,
    Window,
    delay_figures,
    observe,
    synthesize,
)
from anonymatch.mixes.audits.passages import bare_channel, passed
from anonymatch.mixes.laws import check_law
from anonymatch.mixes.solvers.wide import wide_links as wide_links_module
from anonymatch.running import Budget, Execution


def log_of(came: list[float], left: list[float]) -> Messages:
    return Messages(
        arrivals=np.array(came),
        departures=np.array(left),
        senders=tuple(f"u{i}" for i in range(len(came))),
        receivers=tuple(f"b{j}" for j in range(len(left))),
    )


def links_of(log: Messages, law: str, seconds: float = 1.0, **told: Any) -> LinkFigures:
    passage = observe(log, law, **told).passage
    assert passage is not None
    return passed(
        passage, receivers=None, budget=Budget.of(seconds), seed=1, executor=None, progress=None
    ).links


@pytest.fixture
def delays_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("delays") / "delays.csv"
    draw = np.random.default_rng(5)
    path.write_text("delay\n" + "\n".join(f"{delay:.6f}" for delay in draw.gamma(3, 0.7, 400)))
    return str(path)


@pytest.mark.grid
@pytest.mark.parametrize(
    "name", ["window:0.5,4", "lognormal:2,0.6", "measured", "0.2+window:0.3,4"]
)
def test_rates_of_losses_and_cover_give_what_enumeration_does(name: str, delays_file: str) -> None:
    text = f"measured:{delays_file}" if name == "measured" else name
    came, left = [0.0, 0.7, 1.5, 2.2, 3.6], [1.9, 2.6, 3.1, 4.4, 5.2]
    shift = 0.2 if "+" in name else 0.0
    law = check_law(text.split("+")[-1])
    assert isinstance(law, DensityLaw)
    longest = law.longest_delay
    assert longest is not None

    def density(delay: float) -> float:
        shortest = law.low if isinstance(law, Window) else 0.0
        if not shortest < delay <= longest:
            return 0.0
        return math.exp(law.log_density(np.array([delay]))[0])

    truth = explained(
        came,
        [time - shift for time in left],
        density=density,
        survival=lambda delay: math.exp(law.log_survival(np.array([delay]))[0]),
        begin=0.0,
        end=6.0 - shift,
        loss=0.1,
        cover_rate=0.3,
    )
    assert truth is not None
    links = links_of(log_of(came, left), text, loss=0.1, cover_rate=0.3, until=6.0)
    assert np.abs(links.lost - truth.lost).max() < 0.01
    assert np.abs(links.inside - truth.inside).max() < 0.01
    assert np.abs(links.real - truth.real).max() < 0.01
    best = truth.pairs[np.arange(len(came)), links.guess]
    assert np.abs(links.probability.value - best).max() < 0.01
    assert links.joint_bits.low <= truth.joint_bits <= links.joint_bits.high
    assert links.link_bits.low <= truth.link_bits <= links.link_bits.high
    assert links.joint_bits.high - links.joint_bits.low < 0.3


def test_the_best_guess_of_two_messages_with_losses_and_cover_is_the_likeliest_one() -> None:
    """The chain named b1 for u1 with 45 %, where b2 has 51 %."""
    log = log_of([0.79, 0.98], [0.22, 1.32, 1.78])
    told: dict[str, Any] = {"loss": 0.3, "cover_rate": 0.05, "whole_log": True}
    answers = am.audit(observe(log, "lognormal:0.5,0.6", **told)).answers
    assert answers.confidence == 1.0
    assert answers.users.guess.tolist() == [1, 2]
    assert answers.users.probability.value[1] == pytest.approx(0.510, abs=5e-4)


@pytest.mark.parametrize("drained", [False, True])
@pytest.mark.parametrize("after", [0.0, 1.5])
@pytest.mark.parametrize("law_text", ["window:0.5,4", "lognormal:2,0.6", "erlang:5,0.4"])
def test_a_few_messages_are_exact_with_all_options(
    law_text: str, after: float, drained: bool
) -> None:
    law = check_law(law_text)
    assert isinstance(law, DensityLaw)

    @cache
    def density(delay: float) -> float:
        shortest = law.low if isinstance(law, Window) else 0.0
        if not shortest < delay <= (law.longest_delay or math.inf):
            return 0.0
        return math.exp(law.log_density(np.array([delay]))[0])

    @cache
    def survival(delay: float) -> float:
        return math.exp(law.log_survival(np.array([delay]))[0])

    for seed, (loss, cover_rate) in enumerate([(0.0, 0.3), (0.2, 0.0), (0.3, 0.05), (0.1, 0.6)]):
        draw = np.random.default_rng(seed)
        came = np.sort(draw.uniform(0.0, 4.0, 4))
        left = np.sort((came + law.delays(4, draw))[: 4 if cover_rate else 3])
        if cover_rate:
            left[0] = came[0] + 0.1  # too early to be of anybody
        end = float(max(came[-1], left[-1])) + after
        truth = explained(
            came.tolist(),
            left.tolist(),
            density=density,
            survival=survival,
            begin=float(came[0]),
            end=end,
            loss=loss,
            cover_rate=cover_rate,
            drained=drained,
        )
        log = log_of(came.tolist(), left.tolist())
        told: dict[str, Any] = {"loss": loss, "cover_rate": cover_rate, "whole_log": True}
        if truth is None:
            with pytest.raises(am.InputError):
                am.audit(observe(log, law_text, until=end, drained=drained, **told))
            continue
        audit = am.audit(observe(log, law_text, until=end, drained=drained, **told))
        users = audit.answers.users
        assert audit.answers.confidence == 1.0
        assert users.departed is not None
        departed = truth.pairs.sum(axis=1)
        np.testing.assert_allclose(users.departed, departed, atol=1e-8)
        np.testing.assert_allclose(users.probability.value, truth.pairs.max(axis=1), atol=1e-8)
        own = [truth.own_departed(i) for i in range(len(came))]
        np.testing.assert_allclose(users.shannon.value, own, atol=1e-6)
        some = departed > 1e-9
        given = truth.pairs.max(axis=1)[some] / departed[some]
        np.testing.assert_allclose(users.min_entropy.value[some], -np.log2(given), atol=1e-6)
        assert audit.bits.value * len(came) == pytest.approx(truth.link_bits, abs=1e-6)


@pytest.mark.grid(quick=3)
@pytest.mark.parametrize("law_text", ["window:0.5,4", "lognormal:2,0.6"])
@pytest.mark.parametrize(
    "told",
    [
        {"cover": 2, "lost": 1},
        {"cover": 1, "lost": 2},
        {"cover_rate": 0.3, "lost": 1},
        {"cover": 1, "loss": 0.1},
        {"cover": 2, "loss": 0.1},
    ],
)
def test_numbers_beside_messages_inside_give_what_enumeration_does(
    law_text: str, told: dict[str, float]
) -> None:
    came, left = [0.0, 0.7, 1.5, 2.2, 3.6, 4.1], [1.9, 2.6, 3.1, 4.4]
    law = check_law(law_text)
    assert isinstance(law, DensityLaw)

    def density(delay: float) -> float:
        shortest = law.low if isinstance(law, Window) else 0.0
        if not shortest < delay <= (law.longest_delay or math.inf):
            return 0.0
        return math.exp(law.log_density(np.array([delay]))[0])

    truth = explained(
        came,
        left,
        density=density,
        survival=lambda delay: math.exp(law.log_survival(np.array([delay]))[0]),
        begin=0.0,
        end=4.6,
        **told,  # type: ignore[arg-type]
    )
    assert truth is not None
    links = links_of(log_of(came, left), law_text, until=4.6, **told)
    assert np.abs(links.lost - truth.lost).max() < 0.012
    assert np.abs(links.inside - truth.inside).max() < 0.012
    assert np.abs(links.real - truth.real).max() < 0.012
    best = truth.pairs[np.arange(len(came)), links.guess]
    assert np.abs(links.probability.value - best).max() < 0.012
    assert links.joint_bits.low <= truth.joint_bits <= links.joint_bits.high
    assert links.joint_bits.high - links.joint_bits.low < 0.5
    if "lost" in told:
        assert links.lost.sum() == pytest.approx(told["lost"], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["window:0,12", "lognormal:5,0.5"])
def test_told_cover_leaves_those_inside_at_the_end_as_they_are(law: str) -> None:
    """How many departed late in a log, over several logs with a known truth."""
    seen = expected = variance = 0.0
    for seed in range(6):
        log = synthesize(law, messages=300, rate=6.0, cover=0.1, seed=seed)
        assert log.cover is not None
        end = float(log.arrivals[-1])
        kept = log.departures <= end
        truth = log.truth
        assert truth is not None
        cut = Messages(
            arrivals=log.arrivals,
            departures=log.departures[kept],
            senders=log.senders,
            receivers=tuple(np.array(log.receivers)[kept]),
        )
        number = int((log.cover & kept).sum())
        audit = am.audit(observe(cut, law, cover=number, loss=0.0, until=end), budget=0.7)
        departed = audit.users["departed"].to_numpy()
        late = log.arrivals > end - 12.0
        seen += float(kept[truth[late]].sum())
        expected += float(departed[late].sum())
        variance += float((departed * (1 - departed))[late].sum())
        assert departed[~late].min() > 0.9
    assert abs(seen - expected) < 3.0 * math.sqrt(variance)


@pytest.mark.parametrize("law", ["window:0,8", "lognormal:4,0.5"])
def test_entropies_of_a_message_are_in_their_order(law: str) -> None:
    log = synthesize(law, messages=400, rate=5.0, loss=0.05, cover=0.2, seed=3)
    users = am.audit(observe(log, law), budget=0.5).users
    least, middle, most = (users[name].to_numpy() for name in ("min_entropy", "renyi2", "shannon"))
    assert (least <= middle).all()
    assert (middle <= most).all()
    assert (most <= np.log2(np.maximum(users["allowed"].to_numpy(), 1)) + 1e-12).all()
    for name in ("min_entropy", "renyi2", "shannon"):
        assert (users[f"{name}_low"] <= users[name]).all()
        assert (users[name] <= users[f"{name}_high"]).all()
    given = users["probability_departed"].to_numpy()
    assert (users["probability"].to_numpy() <= users["departed"].to_numpy() + 1e-12).all()
    assert least == pytest.approx(-np.log2(given), abs=0.3)


def test_who_is_inside_when_a_window_log_ends_is_as_likely_as_its_delay() -> None:
    came, left = [0.0, 1.0, 2.0, 3.0], [2.5, 3.5]
    truth = explained(
        came,
        left,
        density=lambda delay: 0.25 if delay <= 4.0 else 0.0,
        survival=lambda delay: max(1.0 - delay / 4.0, 0.0),
        begin=0.0,
        end=3.9,
    )
    assert truth is not None
    audit = am.audit(observe(log_of(came, left), "window:0,4", until=3.9, whole_log=True))
    departed = audit.answers.users.departed
    assert departed is not None
    assert audit.answers.confidence == 1.0
    assert departed == pytest.approx(truth.pairs.sum(axis=1), abs=1e-9)


@pytest.mark.grid
@pytest.mark.parametrize(
    "options", [{"loss": 0.02, "cover_rate": 2.0}, {"lost": 30}, {"cover": 200}, {}]
)
@pytest.mark.parametrize("law", ["window:0,8", "lognormal:4,0.5"])
def test_a_wide_log_with_losses_and_cover_has_close_figures(
    law: str, options: dict[str, Any]
) -> None:
    lossy, covered = "lost" in options or "loss" in options, "lost" not in options
    log = synthesize(law, messages=800, rate=10.0, loss=0.02 * lossy, cover=0.2 * covered, seed=4)
    if "lost" in options:
        options = {"lost": int(log.n_in - log.n_out)}
    elif "cover" in options:
        options = {"cover": int(log.n_out - log.n_in)}
    audit = am.audit(observe(log, law, **options), budget=1.5)
    assert audit.answers.confidence == 0.95
    assert audit.entropy is not None
    assert audit.entropy.high - audit.entropy.low < 0.03
    assert audit.bits.high - audit.bits.low < 0.1
    assert audit.score is not None
    assert audit.score.calibrated


@pytest.mark.slow
def test_numbers_and_rates_of_the_same_log_say_nearly_the_same() -> None:
    log = synthesize("window:0,8", messages=1000, rate=10.0, loss=0.05, cover=0.2, seed=2)
    assert log.lost is not None
    assert log.cover is not None
    lasted = float(max(log.arrivals[-1], log.departures[-1]) - log.arrivals[0])
    rates: dict[str, Any] = {
        "loss": float(log.lost.mean()),
        "cover_rate": float(log.cover.sum()) / lasted,
    }
    by_rates, by_numbers = (
        am.audit(observe(log, "window:0,8", **told), budget=2).entropy for told in (rates, {})
    )
    assert by_rates is not None
    assert by_numbers is not None
    assert abs(by_rates.value - by_numbers.value) < 0.02


@pytest.mark.grid
@pytest.mark.parametrize("law", ["erlang:3,1.6667", "hops:1,2,2"])
def test_hops_beyond_the_budget_of_counts_are_answered_and_not_refused(law: str) -> None:
    log = synthesize(law, messages=2500, rate=10.0, loss=0.02, cover=0.2, seed=1)
    audit = am.audit(observe(log, law), budget=1)
    assert audit.answers.links is not None
    assert audit.answers.links.method == "chain over explanations"
    assert audit.entropy is not None
    assert audit.entropy.high - audit.entropy.low < 0.05
    assert audit.score is not None
    assert audit.score.calibrated


def test_the_chain_agrees_with_counts_by_hop() -> None:
    log = synthesize("erlang:3,1", messages=400, rate=8.0, loss=0.05, cover=0.2, seed=6)
    counted = links_of(log, "erlang:3,1", seconds=6.0)
    assert counted.method.startswith("counts by hop")
    passage = observe(log, "erlang:3,1").passage
    assert passage is not None
    assert passage.conditions is not None
    assert isinstance(passage.law, DensityLaw)
    problem = LinkProblem(
        arrivals=passage.arrivals,
        departures=passage.departures,
        law=passage.law,
        channel=bare_channel(passage.conditions),
        seed=1,
    )
    chained = delay_figures(problem, Budget.of(2.0), Execution())
    assert chained.mean_shannon is not None
    weights = counted.departed
    mean = float(weights @ counted.shannon.value / weights.sum())
    assert abs(chained.mean_shannon.value - mean) < 0.05
    assert abs(float(chained.departed.sum() - counted.departed.sum())) < 3.0
    assert chained.link_bits.low <= counted.link_bits.value <= chained.link_bits.high


CHAINED = (
    ("window:0.5,5", 1.5, 30),
    ("lognormal:2,0.3", 1.0, 30),
    ("erlang:5,0.4", 0.8, 25),
    ("lognormal:2,0.6", 2.5, 12),
    ("window:0,4", 3.0, 12),
    ("lognormal:1,0.5", 1.2, 25),
)


def beside_exact(
    seed: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[am.Audit, am.Audit] | None:
    """The exact audit of a log, and one by the chain; None if a budget is not enough for both."""
    law, rate, messages = CHAINED[seed % len(CHAINED)]
    draw = np.random.default_rng(seed)
    loss, cover = draw.choice([0.02, 0.1, 0.3]), draw.choice([0.0, 0.1, 0.4])
    log = synthesize(law, messages=messages, rate=rate, loss=loss, cover=cover, seed=seed)
    log = replace(log, truth=None, cover=None, lost=None)
    try:
        passage = observe(log, law, loss=loss, cover_rate=cover * rate, whole_log=True)
        exact = am.audit(passage, budget=20.0)
    except am.InputError:
        return None
    if exact.answers.confidence < 1.0:
        return None
    with monkeypatch.context() as patched:
        patched.setattr(wide_links_module, "exact_links", lambda *_, **__: None)
        return exact, am.audit(passage, budget=seconds, seed=seed)


def test_min_entropy_of_a_chain_has_an_interval_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (1, 4):
        both = beside_exact(seed, 0.2, monkeypatch)
        assert both is not None
        exact, estimated = both
        interval = estimated.min_entropy
        assert interval.low <= interval.value <= interval.high
        assert interval.low <= exact.min_entropy.value <= interval.high


@pytest.mark.slow
def test_min_entropy_of_a_chain_is_covered_in_95_percent_of_logs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = held = rows = rows_held = 0
    off, widths = [], []
    for seed in range(175):
        both = beside_exact(seed, 0.2, monkeypatch)
        if both is None:
            continue
        exact, estimated = both
        truth, interval = exact.min_entropy.value, estimated.min_entropy
        logs += 1
        held += interval.low - 1e-9 <= truth <= interval.high + 1e-9
        off.append(interval.value - truth)
        widths.append(interval.high - interval.low)
        known, drawn = exact.answers.users, estimated.answers.users
        assert known.departed is not None
        some = known.departed > 1e-3
        own = known.min_entropy.value
        rows += int(some.sum())
        within = (drawn.min_entropy.low - 1e-7 <= own) & (own <= drawn.min_entropy.high + 1e-7)
        rows_held += int(within[some].sum())
    assert logs >= 150
    assert held >= 0.95 * logs
    assert rows_held >= 0.95 * rows
    assert np.mean(off) <= 3.0 * np.std(off) / math.sqrt(logs)  # no lean to the unsafe side
    assert np.mean(widths) < 0.05


def test_a_message_that_fits_nothing_asks_for_losses() -> None:
    log = log_of([0.0, 50.0], [2.0, 90.0])
    with pytest.raises(am.InputError, match=r"nothing explains the log.*give loss or cover_rate"):
        am.audit(observe(log, "window:0,4", cover_rate=0.1))
