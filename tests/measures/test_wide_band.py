"""Wide bands by swaps: against exact answers, simulated truths, bounds, and budgets."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

import anonymatch as am
from anonymatch.counting import count, known_posterior
from anonymatch.counting.measures import UserFigures, user_figures
from anonymatch.mixes import Messages, WideBand, estimate_band, observe, passage_graph, synthesize
from anonymatch.mixes.solvers.wide.swap_chain import _planned
from anonymatch.running import Budget

LN2 = math.log(2.0)


class Xoshiro:
    """splitmix64 seeds xoshiro256++, as facts of wide logs were drawn."""

    def __init__(self, seed: int) -> None:
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) % 2**64
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
            self.state.append(z ^ (z >> 31))

    def exponential(self) -> float:
        s = self.state
        x = (s[0] + s[3]) % 2**64
        bits = (((x << 23) | (x >> 41)) + s[0]) % 2**64
        t = (s[1] << 17) % 2**64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = ((s[3] << 45) | (s[3] >> 19)) % 2**64
        return -math.log1p(-(bits >> 11) * 2.0**-53)


def log_of(arrivals: np.ndarray, departures: np.ndarray) -> Messages:
    return Messages(
        arrivals=arrivals,
        departures=np.sort(departures),
        senders=tuple(range(len(arrivals))),
        receivers=tuple(range(len(departures))),
    )


def erlang_log(size: int, rate: float) -> Messages:
    draws = Xoshiro(1)
    now, came, left = 0.0, [], []
    for _ in range(size):
        now += draws.exponential() / rate
        came.append(now)
        left.append(now + sum(draws.exponential() for _ in range(3)) * 5.0 / 3.0)
    return log_of(np.array(came), np.array(left))


def window_graph(size: int, inside: float, seed: int) -> am.Graph:
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(4.0 / inside, size))
    log = log_of(arrivals, arrivals + draw.uniform(0.0, 8.0, size))
    graph = observe(log, "window:0,8").graph
    assert graph is not None
    return graph


def soft_graph(size: int, inside: float, seed: int) -> am.Graph:
    """Log-normal delays, cut at 14 s."""
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(4.0 / inside, size))
    departures = np.sort(arrivals + draw.lognormal(math.log(4.0) - 0.125, 0.5, size))
    delays = departures[None, :] - arrivals[:, None]
    inner = (delays > 0.01) & (delays < 14.0)
    logs = np.log(np.where(inner, delays, 1.0)) - math.log(4.0) + 0.125
    weights = np.where(inner, np.exp(-logs - 2.0 * logs**2), 0.0)
    weights /= weights.max(axis=1, keepdims=True)
    return am.Graph.from_biadjacency(csr_array(weights))


def band_of(graph: am.Graph, alike: int = 0) -> WideBand:
    band = WideBand.of(graph, alike)
    assert band is not None
    return band


def exact(graph: am.Graph) -> tuple[float, float, UserFigures]:
    """Log of the sum of weights, entropy of the matching, and figures of users."""
    posterior = known_posterior(graph, budget=Budget(seconds=60))
    weight = count(graph, budget=60)
    assert posterior.confidence == 1.0
    logs = 0.0 if graph.weights is None else float(posterior.probabilities @ np.log(graph.weights))
    return weight.log, weight.log - logs, user_figures(graph, posterior.probabilities, 1e-12)


def holds(interval: am.Interval, value: float) -> bool:
    return interval.low <= value <= interval.high


@pytest.mark.slow
def test_a_wide_erlang_log_has_the_entropies_of_the_exact_filter() -> None:
    passage = observe(erlang_log(1000, 10.0), "erlang:3,1.6666666666666667").passage
    assert passage is not None
    graph = passage_graph(passage)
    estimate = estimate_band(band_of(graph), graph, budget=Budget(seconds=20), seed=1)
    joint = estimate.entropy.divided(1000 * LN2)
    mean = estimate.users.mean_shannon
    assert mean is not None
    assert holds(joint, 5.17148301)
    assert holds(mean, 6.58995133)
    assert joint.high - joint.low < 0.02
    assert mean.high - mean.low < 0.01
    assert float(estimate.users.probability.value.mean()) == pytest.approx(0.01831633, rel=0.01)


def test_six_messages_have_fourteen_matchings() -> None:
    log = log_of(np.array([0, 1, 2, 3, 4, 5.5]), np.array([2.5, 4, 6, 7, 9.5, 12]))
    graph = observe(log, "window:2,8").graph
    assert graph is not None
    estimate = estimate_band(band_of(graph), graph, budget=Budget(seconds=5), seed=1)
    assert holds(estimate.log_weight, math.log(14))
    assert estimate.log_weight.high - estimate.log_weight.low < 0.2
    own = [0, 1.4138, 1.877387, 1.577406, 1.985228, 0.863121]
    assert ((estimate.users.shannon.low <= own) & (own <= estimate.users.shannon.high)).all()


@pytest.mark.grid
@pytest.mark.parametrize(
    ("make", "inside", "seconds"),
    [(window_graph, 5.0, 0.05), (window_graph, 5.0, 1.0), (soft_graph, 3.5, 1.0)],
)
def test_intervals_hold_what_exact_methods_find(
    make: Callable[[int, float, int], am.Graph], inside: float, seconds: float
) -> None:
    hits = dict.fromkeys(("count", "joint", "mean"), 0)
    users, right, logs = 0, 0, 12
    for seed in range(logs):
        graph = make(120, inside, seed)
        log, joint, figures = exact(graph)
        estimate = estimate_band(band_of(graph), graph, budget=Budget(seconds=seconds), seed=seed)
        low, high = estimate.proven
        assert low <= log <= high
        hits["count"] += holds(estimate.log_weight, log)
        hits["joint"] += holds(estimate.entropy, joint)
        mean = estimate.users.mean_shannon
        assert mean is not None
        hits["mean"] += holds(mean, float(figures.shannon.value.mean()))
        for name in ("shannon", "probability", "guesses"):
            ours, theirs = getattr(estimate.users, name), getattr(figures, name).value
            users += len(theirs)
            right += int(((ours.low <= theirs + 1e-9) & (theirs <= ours.high + 1e-9)).sum())
    # With 95 % each, more than two misses of twelve happen once in fifty.
    assert min(hits.values()) >= logs - 2, hits
    assert right >= 0.97 * users


def test_a_small_budget_buys_less_work_and_wider_intervals() -> None:
    graph = window_graph(3000, 40.0, 1)
    band = band_of(graph)
    estimates = [
        estimate_band(band, graph, budget=Budget(seconds=seconds), seed=2)
        for seconds in (0.25, 2.5)
    ]
    work = [estimate.proposals for estimate in estimates]
    widths = [estimate.entropy.high - estimate.entropy.low for estimate in estimates]
    assert work[1] > 3 * work[0]
    assert widths[0] > 1.5 * widths[1]
    assert max(one.entropy.low for one in estimates) < min(one.entropy.high for one in estimates)


@pytest.mark.grid
@pytest.mark.parametrize("size", [300, 3000, 30_000])
def test_work_is_what_was_planned_and_grows_with_the_messages(size: int) -> None:
    graph = window_graph(size, 20.0, 3)
    band = band_of(graph)
    budget = Budget(seconds=1)
    plan = _planned(band, budget)
    estimate = estimate_band(band, graph, budget=budget, seed=1)
    assert estimate.proposals == plan.proposals(size)
    assert estimate.visits <= plan.visits(band.entries) + band.entries
    # Beyond some least work, which is linear in messages, predictions stay within the budget.
    assert plan.seconds(band) <= max(budget.seconds, 4e-5 * size)


def test_messages_still_inside_at_the_end_are_one_outcome() -> None:
    draw = np.random.default_rng(5)
    arrivals = np.cumsum(draw.exponential(0.8, 80))
    departures = arrivals + draw.uniform(0.0, 8.0, 80)
    log = log_of(arrivals, departures[departures <= arrivals[-1]])
    observation = observe(log, "window:0,8")
    graph, lost = observation.graph, observation.lost
    assert graph is not None
    assert lost > 1
    posterior = known_posterior(graph, budget=Budget(seconds=60))
    figures = user_figures(graph, posterior.probabilities, 1e-12, alike=lost)
    estimate = estimate_band(band_of(graph, lost), graph, budget=Budget(seconds=2), seed=1)
    assert figures.departed is not None
    assert estimate.users.departed is not None
    assert np.abs(estimate.users.departed - figures.departed).max() < 0.1
    inner = figures.departed > 0.5
    ours, theirs = estimate.users.shannon.at(inner), figures.shannon.value[inner]
    assert np.mean((ours.low <= theirs) & (theirs <= ours.high)) > 0.9


def test_a_wide_band_is_seen_to_be_hopeless_in_one_pass_and_a_narrow_one_is_not() -> None:
    assert band_of(window_graph(500, 40.0, 1)).hopeless(300.0)
    assert not band_of(window_graph(500, 5.0, 1)).hopeless(1.0)
    # 40 messages a second, all of a second alike: numbers of each second are all that counts.
    times = np.repeat(np.arange(30.0), 40)
    graph = observe(log_of(times, times + 1.0), "window:0,2").graph
    assert graph is not None
    assert not band_of(graph).hopeless(10.0)


def test_other_graphs_are_no_bands() -> None:
    assert WideBand.of(am.Graph.from_rows(["101", "010", "101"])) is None
    assert WideBand.of(am.Graph.from_rows(["110", "011"])) is None


def test_rows_with_several_peaks_are_not_left_to_swaps() -> None:
    """Swaps do not get across a deep valley, and replicas that are all stuck look sure."""
    size = 60
    delays = np.arange(size)[None, :] - np.arange(size)[:, None]
    inside = (delays >= 0) & (delays <= 12) | (delays == -1)
    peaks = np.exp(-((delays - 2.0) ** 2)) + np.exp(-((delays - 10.0) ** 2)) + 1e-5
    one = np.exp(-((delays - 5.0) ** 2) / 30)

    assert WideBand.of(am.Graph.from_biadjacency(np.where(inside, one, 0.0))) is not None
    assert WideBand.of(am.Graph.from_biadjacency(np.where(inside, peaks, 0.0))) is None


def test_single_guesses_do_not_lean_and_their_intervals_hold() -> None:
    errors, hold = [], 0
    for seed in range(5):
        log = synthesize("window:0,8", messages=120, rate=1.2, seed=seed)
        graph = observe(log, "window:0,8").graph
        assert graph is not None
        band = WideBand.of(graph)
        assert band is not None
        users = estimate_band(band, graph, budget=Budget.of(1), seed=seed).users
        exact = known_posterior(graph, budget=Budget(seconds=60)).probabilities
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        truth = exact[graph.indices == users.guess[rows]]
        errors.append(users.probability.value - truth)
        low, high = users.probability.low - 1e-9, users.probability.high + 1e-9
        hold += int(((low <= truth) & (truth <= high)).sum())
    number = sum(map(len, errors))
    assert hold >= 0.95 * number
    assert abs(float(np.concatenate(errors).mean())) < 0.001
