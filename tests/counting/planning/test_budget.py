"""Budgets, refusals, executors, progress and interruption."""

from __future__ import annotations

import math
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from math import factorial
from typing import Any

import numpy as np
import pytest
from tests.strategies import Matrix, graph_of, holds

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact import classes
from anonymatch.graph import families

SPARSE = families.random_regular(24, 3, seed=7)
DENSE = families.random_density(18, 0.5, seed=7)
HARD = families.random_density(70, 0.5, seed=7)  # beyond every exact method
CHUNKED = families.random_density(24, 0.4, seed=7)  # signs cut the work from 22 users on


def with_weights(graph: am.Graph) -> am.Graph:
    """Some weights that are not of rank one."""
    weights = np.random.default_rng(7).random((graph.n_users, graph.n_behaviours)) + 0.5
    return graph_of((graph.to_scipy().toarray() * weights).tolist())


WEIGHTED = with_weights(DENSE)


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that takes milliseconds in many chunks, as seconds of it would be."""
    monkeypatch.setattr("anonymatch.running.budget.CHUNK_SECONDS", 1e-6)


# ---- refusals


@pytest.mark.parametrize("budget", [0, 0.0, 1e-9, am.Budget(seconds=0), am.Budget(memory=0)])
@pytest.mark.parametrize("graph", [SPARSE, DENSE, WEIGHTED], ids=["sparse", "dense", "weighted"])
def test_beyond_the_budget_nothing_is_started(graph: am.Graph, budget: Any) -> None:
    def moved(done: float, total: float) -> None:
        raise AssertionError("work was done")

    with pytest.raises(am.BudgetError, match=r"^an exact count would take .* and .*; allow") as no:
        am.count(graph, exact=True, budget=budget, progress=moved)
    assert no.value.seconds > 0
    assert no.value.memory > 0
    with pytest.raises(am.BudgetError, match=r"^exact posteriors would take .*; allow it with"):
        am.posterior(graph, exact=True, budget=budget, progress=moved)
    with pytest.raises(am.BudgetError):
        am.posterior(graph, budget=budget, progress=moved)
    assert am.count(graph, budget=budget, progress=moved).method == "proven bounds"


def test_a_refusal_tells_the_cost_in_words_and_how_to_allow_it() -> None:
    graph = families.random_density(36, 0.5, seed=1)
    with pytest.raises(am.BudgetError) as no:
        am.count(graph, exact=True, budget=0.5)
    words = str(no.value)

    assert "\n" not in words
    assert any(unit in words for unit in ("seconds", "minutes", "hours"))
    assert "budget=" in words
    assert no.value.seconds > 0.5


def test_a_graph_beyond_all_methods_is_refused_at_any_budget() -> None:
    with pytest.raises(am.BudgetError, match="would take more than a million years"):
        am.count(HARD, exact=True)
    with pytest.raises(am.BudgetError):
        am.posterior(HARD, exact=True, budget=1e12)


def test_what_the_refusal_says_is_enough() -> None:
    with pytest.raises(am.BudgetError) as no:
        am.count(DENSE, exact=True, budget=0)
    enough = am.Budget(seconds=no.value.seconds, memory=no.value.memory)

    assert am.count(DENSE, exact=True, budget=enough).value == am.count(DENSE).value


@pytest.mark.parametrize("graph", [families.complete(300), families.hessenberg(9)], ids=repr)
def test_closed_forms_cost_nothing(graph: am.Graph) -> None:
    assert am.count(graph, exact=True, budget=0).exact


@pytest.mark.parametrize(
    ("graph", "truth"),
    [
        (families.grid(8, 8), 12988816),
        (families.grid(10, 10), 258584046368),
        (families.hypercube(6), 16332454526976),
        (families.aztec(8), 2**36),
        (families.ring(100, 3), 792070839848372253127 + 2),
        (families.hexagon(4, 4, 4), 232848),
    ],
    ids=repr,
)
def test_beyond_the_budget_a_proven_interval_holds_the_truth(graph: am.Graph, truth: int) -> None:
    result = am.count(graph, budget=0)

    assert not result.exact
    assert result.confidence == 1.0
    assert result.method == "proven bounds"
    assert result.low < result.log < result.high
    assert holds(result, truth)
    assert isinstance(result.value, float)
    assert "proven" in str(result)


def test_blocks_within_the_budget_stay_exact_beside_others() -> None:
    """Only the hard block is bounded: what is easy does not widen the interval."""
    pairs = [(i + 30, j + 30) for i, j in families.grid(8, 8).to_edges()]
    easy = [(i, j) for i in range(30) for j in range(30)]
    both, hard = am.Graph.from_edges(easy + pairs), families.grid(8, 8)
    result, alone = am.count(both, budget=0), am.count(hard, budget=0)

    assert holds(result, factorial(30) * 12988816)
    assert result.high - result.low == pytest.approx(alone.high - alone.low, rel=1e-9)


def test_an_approximate_answer_may_be_exact_but_never_made_up() -> None:
    assert am.count(DENSE, epsilon=0.1, delta=0.01).exact
    with pytest.raises(am.BudgetError):
        am.count(HARD, epsilon=1e-9, delta=0.01, budget=0)


# ---- what is asked for wrongly


WRONG: list[dict[str, Any]] = [
    {"method": "rysr"},
    {"method": "Auto"},
    {"method": ""},
    {"method": None},
    {"method": ["auto"]},
    *({"epsilon": value} for value in (0, 1, -0.1, math.nan, math.inf, "much", True)),
    *({"delta": value} for value in (0, 1, -0.1, math.nan, "much")),
    *({"seed": value} for value in (-1, 1.5, True, "lucky")),
    *({"budget": value} for value in (-1, math.nan, True, "much", [1])),
]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("ask", [am.count, am.posterior])
def test_wrong_requests_get_one_clear_line(ask: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(am.InputError) as error:
        ask(families.complete(3), **wrong)
    ((name, value),) = wrong.items()

    assert "\n" not in str(error.value)
    assert name in str(error.value)
    assert repr(value) in str(error.value)
    assert isinstance(error.value, ValueError)


def test_an_unknown_method_is_told_which_there_are() -> None:
    with pytest.raises(am.InputError, match=", ".join(am.METHODS)):
        am.count(DENSE, method="glyn")


@pytest.mark.parametrize("method", ["closed_form", "contract"])
def test_a_method_that_does_not_apply_says_so(method: str) -> None:
    with pytest.raises(am.InputError, match=f"method='{method}' does not apply to a block of 18"):
        am.count(DENSE, method=method)


@pytest.mark.parametrize("seconds", [-1.0, math.nan])
def test_budgets_are_not_negative(seconds: float) -> None:
    with pytest.raises(am.InputError, match="budget"):
        am.Budget(seconds=seconds)
    with pytest.raises(am.InputError, match="budget"):
        am.Budget(memory=seconds)


# ---- where it runs


def answers(graph: am.Graph, method: str, executor: Executor | None) -> tuple[Any, ...]:
    count = am.count(graph, method=method, executor=executor)
    posterior = am.posterior(graph, method=method, executor=executor)
    return count.value, count.low, count.high, posterior.probabilities.tolist()


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(
    ("graph", "method"),
    [
        (SPARSE, "auto"),
        (SPARSE, "frontier"),
        (WEIGHTED, "auto"),
        (WEIGHTED, "frontier"),
        (CHUNKED, "glynn"),
        (with_weights(CHUNKED), "glynn"),
    ],
)
def test_answers_do_not_depend_on_threads(graph: am.Graph, method: str) -> None:
    alone = answers(graph, method, None)
    for workers in (1, 2, 3):
        with ThreadPoolExecutor(workers) as executor:
            assert answers(graph, method, executor) == alone


@pytest.mark.usefixtures("short_chunks")
def test_answers_do_not_depend_on_processes() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        for graph in (CHUNKED, with_weights(CHUNKED)):
            assert answers(graph, "glynn", executor) == answers(graph, "glynn", None)


def test_calls_from_many_threads_do_not_disturb_each_other() -> None:
    graphs = [families.random_regular(n, 3, seed=n) for n in range(10, 24)]
    alone = [am.count(graph).value for graph in graphs]
    with ThreadPoolExecutor(4) as executor:
        for _ in range(3):
            together = executor.map(lambda graph: am.count(graph).value, graphs)
            assert list(together) == alone


# ---- how far it is


class Told:
    """A progress callback that checks what it is told, and can interrupt."""

    def __init__(self, interrupt: BaseException | None = None, at: int = 2) -> None:
        self.calls: list[tuple[float, float]] = []
        self.interrupt, self.at = interrupt, at

    def __call__(self, done: float, total: float) -> None:
        self.calls.append((done, total))
        if self.interrupt is not None and len(self.calls) == self.at:
            raise self.interrupt


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("ask", [am.count, am.posterior])
@pytest.mark.parametrize(
    ("graph", "method"),
    [
        (SPARSE, "auto"),
        (SPARSE, "frontier"),
        (CHUNKED, "glynn"),
        (WEIGHTED, "glynn"),
        (WEIGHTED, "frontier"),
        (families.ring(60, 4), "auto"),
        (families.grid(8, 8), "contract"),
    ],
)
def test_progress_rises_to_its_total(ask: Any, graph: am.Graph, method: str) -> None:
    reports = Told()
    ask(graph, method=method, progress=reports)
    done = [call[0] for call in reports.calls]

    assert reports.calls
    assert done == sorted(done)
    assert len({total for _, total in reports.calls}) == 1
    assert all(0 <= part <= total for part, total in reports.calls)
    assert done[-1] == pytest.approx(reports.calls[-1][1], rel=1e-9)


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("interrupt", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("ask", [am.count, am.posterior])
def test_an_exception_in_progress_stops_the_work(ask: Any, interrupt: type[BaseException]) -> None:
    threads = threading.active_count()
    reports = Told(interrupt())  # made here: its traceback would keep all that was in use alive
    with pytest.raises(interrupt):
        ask(CHUNKED, method="glynn", progress=reports)

    assert len(reports.calls) == reports.at
    assert threading.active_count() == threads


@pytest.mark.usefixtures("short_chunks")
def test_an_executor_is_free_again_after_an_exception() -> None:
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(RuntimeError, match="enough"):
            am.count(
                CHUNKED, method="glynn", executor=executor, progress=Told(RuntimeError("enough"))
            )
        assert executor.submit(lambda: "free").result() == "free"
        again = am.count(CHUNKED, method="glynn", executor=executor)

    assert again.value == am.count(CHUNKED).value


def test_a_frontier_lets_go_between_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.counting.exact.frontier.CHUNK_SECONDS", 1e-6)
    reports = Told(RuntimeError("enough"))
    with pytest.raises(RuntimeError, match="enough"):
        am.count(families.grid(10, 10), method="frontier", progress=reports)

    assert len(reports.calls) == 2


# ---- the plan


def test_the_plan_tells_each_kind_of_block_once() -> None:
    edges: list[tuple[int, int]] = []
    for k in range(5):
        edges += [(i + 20 * k, j + 20 * k) for i, j in families.random_regular(20, 3, 1).to_edges()]
    plan = am.count(am.Graph.from_edges(edges)).plan

    assert [step.copies for step in plan.steps] == [5]
    assert "5 x block of 20 users, 60 edges" in str(plan)


def test_the_seed_is_none_where_nothing_is_drawn() -> None:
    matrix: Matrix = [[1, 2], [3, 4]]

    assert am.count(graph_of(matrix), seed=5).seed is None
    assert am.posterior(graph_of(matrix), seed=5).seed is None


def band(n: int, reach: int) -> am.Graph:
    return am.Graph.from_edges(
        [(i, j) for i in range(n) for j in range(max(0, i - reach), min(n, i + reach + 1))]
    )


def random_rows(n: int, degree: int, *, spread: float = 0.0, spare: int = 0) -> am.Graph:
    draws = np.random.default_rng(5)
    rows = [{i, *draws.integers(0, n + spare, degree).tolist()} for i in range(n)]
    pairs = [(i, j) for i, row in enumerate(rows) for j in sorted(row)]
    if not spread:
        return am.Graph.from_edges(pairs)
    return am.Graph.from_edges([(i, j, float(np.exp(spread * draws.normal()))) for i, j in pairs])


WIDE = {
    "a wide band": lambda: band(3000, 20),
    "dense": lambda: random_rows(100, 70),
    "sparse": lambda: random_rows(1000, 9),
    "log-normal weights": lambda: random_rows(2000, 9, spread=1.0),
    "spare behaviours": lambda: random_rows(500, 9, spare=2000),
}


@pytest.mark.grid
@pytest.mark.parametrize("budget", [0.5, 2.0])
@pytest.mark.parametrize("answer", [am.count, am.posterior])
@pytest.mark.parametrize("kind", WIDE)
def test_all_work_together_stays_within_the_budget(
    kind: str, answer: Callable[..., am.Count | am.Posterior], budget: float
) -> None:
    """Bounds, checks and draws in predicted seconds; the bar knows the whole from the start."""
    told: list[tuple[float, float]] = []
    result = answer(WIDE[kind](), budget=budget, progress=lambda *work: told.append(work))
    assert told[0] == (0.0, budget)
    assert told[-1][0] <= (1.2 - tuning().planning_share) * budget
    if isinstance(result, am.Count):
        assert result.method != "proven bounds"
        assert result.high - result.low < 0.05 * (result.proven[1] - result.proven[0])
        assert told[-1][0] == told[-1][1]


def test_what_is_hopeless_is_not_planned_in_detail(monkeypatch: pytest.MonkeyPatch) -> None:
    """A band of 41 open behaviours would take years: it is not split into parts to tell so."""
    work = []

    def split(block: Block, *arguments: Any, parts: int, **keywords: Any) -> Any:
        work.append(tuning().frontier_splitting * parts * block.n_edges)
        return original(block, *arguments, parts=parts, **keywords)

    original = _native.split_frontier
    monkeypatch.setattr(_native, "split_frontier", split)
    am.count(band(3000, 20), budget=0.5)
    assert sum(work) <= tuning().planning_share * 0.5


def test_no_order_of_classes_is_searched_where_it_could_save_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Uneven intervals with some twins: the frontier counts them before an order is found."""
    draws = np.random.default_rng(0)
    spans = [(i - int(draws.integers(0, 14)), i + int(draws.integers(3, 14))) for i in range(200)]
    edges = [(i, j) for i, (a, b) in enumerate(spans) for j in range(max(0, a), min(200, b + 1))]

    def search(*_: object) -> None:
        raise AssertionError("an order of classes is searched")

    monkeypatch.setattr(classes, "_greedy", search)
    count = am.count(am.Graph.from_edges(edges))
    assert count.exact
    assert count.plan.seconds < 1.0
