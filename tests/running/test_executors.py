"""The same bits on every executor, and shared values once a process."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.exact.ryser import find_ordering, total
from anonymatch.counting.reference import block_of
from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import Execution, borders
from anonymatch.theory.claims.small_graphs import survey

DENSE = am.random_density(23, 0.5, seed=3)
HARD = am.random_density(60, 0.3, seed=3)  # beyond exact reach with a small budget
SPARSE = am.random_regular(40, 4, seed=3)
LITTLE = am.Budget(memory=1e6)  # for it: work in parts


TUBE = am.Graph.from_rows([{i, (i + 1) % 40, (i - 1) % 40} for i in range(40)])


def weighted(graph: am.Graph) -> am.Graph:
    weights = np.random.default_rng(3).random((graph.n_users, graph.n_behaviours)) + 0.5
    return am.Graph.from_biadjacency(graph.to_scipy().toarray() * weights)


def by_ryser(executor: Executor | None) -> int:
    block = block_of(am.random_density(18, 0.3, seed=1).to_scipy().toarray().tolist())
    return total(find_ordering(block), bits=64, effort=Execution(executor=executor))


ASKED: dict[str, Callable[[Executor | None], Any]] = {
    "count": lambda e: am.count(DENSE, method="glynn", executor=e).value,
    "count over doubles": lambda e: am.count(weighted(DENSE), method="glynn", executor=e).log,
    "posterior": lambda e: am.posterior(DENSE, method="glynn", executor=e).probabilities.tolist(),
    "minors": lambda e: am.minors(DENSE.take(range(12), range(12)), executor=e).tolist(),
    "ryser": by_ryser,
    "frontier": lambda e: am.count(SPARSE, method="frontier", executor=e).value,
    "parts": lambda e: am.count(SPARSE, method="frontier", budget=LITTLE, executor=e).value,
    "posterior by parts": lambda e: list(
        am.posterior(SPARSE, budget=LITTLE, executor=e).probabilities
    ),
    "planar": lambda e: am.count(TUBE, method="planar", executor=e).value,
    "posterior by determinants": lambda e: list(
        am.posterior(TUBE, method="planar", executor=e).probabilities
    ),
    "tree": lambda e: am.count(weighted(TUBE), method="tree", executor=e).log,
    "posterior by a tree": lambda e: list(
        am.posterior(TUBE, method="tree", executor=e).probabilities
    ),
    "estimate": lambda e: am.count(HARD, budget=0.4, executor=e).low,
    "estimated posterior": lambda e: list(am.posterior(HARD, budget=0.4, executor=e).probabilities),
    "promise": lambda e: am.count(
        am.random_density(30, 0.8, seed=1), epsilon=0.3, method="frontier", executor=e
    ).log,
    "attack": lambda e: am.attack(DENSE, executor=e).logs,
    "survey": lambda e: survey(4, executor=e).matchings.tolist(),
}  # fmt: skip


class Pickling(Executor):
    """Sends every call through pickle, as any executor in other processes would."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, call: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        self.calls += 1
        sent = pickle.dumps((call, args, keywords))
        call, args, keywords = pickle.loads(sent)
        future: Future[Any] = Future()
        future.set_result(pickle.loads(pickle.dumps(call(*args, **keywords))))
        return future


@pytest.mark.parametrize("name", ASKED)
def test_every_chunk_can_travel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.running.budget.CHUNK_SECONDS", 0.002)
    executor = Pickling()

    assert ASKED[name](executor) == ASKED[name](None)
    assert executor.calls > 0 or name in ("frontier", "attack")


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as made:
        yield made


@pytest.mark.grid
@pytest.mark.parametrize("name", ["count", "posterior", "parts", "estimate", "estimated posterior"])
def test_processes_give_the_same_bits(name: str, pool: Executor) -> None:
    assert ASKED[name](pool) == ASKED[name](None)


# ---- shared values


def big(size: int, folder: str) -> bytes:
    """A value that leaves a mark for every process that makes it."""
    with Path(folder, "made").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return b"x" * size


def length(value: Shared[bytes], number: int) -> tuple[int, int]:
    return len(value.get()) + number, os.getpid()


def test_a_shared_value_is_made_once_a_process(pool: Executor, tmp_path: Path) -> None:
    value = Shared(big, 10_000, str(tmp_path))
    calls = [partial(length, value, k) for k in range(40)]
    result = list(Execution(executor=pool).chunks(calls, each=1.0, number=40))
    makers = (tmp_path / "made").read_text().split()

    assert [size for size, _ in result] == [10_000 + k for k in range(40)]
    assert len(makers) == len(set(makers))
    assert set(makers) == {str(pid) for _, pid in result}


def test_shared_values_leave_no_files_behind(pool: Executor, tmp_path: Path) -> None:
    from anonymatch.running.broadcast import _folder

    value, twin = (Shared(big, 10, str(tmp_path)) for _ in range(2))
    for one in (value, twin):
        list(Execution(executor=pool).chunks([partial(length, one, 0)], each=1.0, number=1))
    path = Path(_folder.put([]), value.digest.hex())
    assert path.exists()
    del value, one
    assert path.exists()
    del twin

    assert not path.exists()


def die() -> None:
    os._exit(1)


def test_a_broken_pool_is_one_clear_line() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
        pytest.raises(am.StoppedError, match=r"^the executor is broken \(.*\); what a Run has"),
    ):
        list(Execution(executor=executor).chunks([partial(die)], each=1.0, number=1))


# ---- cutting


def test_work_is_cut_by_its_price_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = borders(10**12, 1000.0)
    monkeypatch.setattr("anonymatch.running.budget.usable_cores", lambda: 64)

    assert borders(10**12, 1000.0) == cut
    assert len(cut) == 2_001  # of 0.5 seconds
    assert len(borders(10**12, 3.0)) == 61  # of 0.05: short work shows its progress
    assert len(borders(10**12, 10.0)) == 61
    assert (cut[0], cut[-1]) == (0, 10**12)
    assert borders(3, 1000.0) == [0, 1, 2, 3]
    assert borders(10, 0.0) == [0, 10]
    assert len(borders(10**12, 1e12)) == 2**17 + 1


def late(number: int) -> int:
    return number


class Backwards(Executor):
    """Finishes what it is given in the opposite order."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[..., Any], Any]] = []

    def submit(self, call: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, call, args))
        if len(self.waiting) == 4:
            while self.waiting:
                one, work, given = self.waiting.pop()
                one.set_result(work(*given))
        return future


def test_results_come_in_their_order() -> None:
    calls = [partial(late, k) for k in range(20)]

    assert list(Execution(executor=Backwards()).chunks(calls, each=1.0, number=20)) == [*range(20)]
