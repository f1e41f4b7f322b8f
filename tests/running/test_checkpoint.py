"""Runs: nothing is lost, nothing is counted twice, and no file makes a wrong answer."""

from __future__ import annotations

import json
import math
import os
import random
import resource
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.measures.test_wide_band import band_of, soft_graph, window_graph
from tests.measures.test_wide_links import erlang_with_cover, numbered_band
from tests.running.killed import KILLS

import anonymatch as am
from anonymatch.cli import main
from anonymatch.cli.console import as_text
from anonymatch.cli.screens.checkpoint import _WORDS, checkpoint_screen
from anonymatch.mixes import LinkBand
from anonymatch.mixes.solvers.wide.swap_chain import estimate_band
from anonymatch.mixes.solvers.wide.wide_links import chain_links
from anonymatch.running.budget import Execution, usable_cores
from anonymatch.running.checkpoint import (
    CheckpointRecord,
    ComputationRecord,
    _checksum,
    read_checkpoint,
)
from anonymatch.running.codec import decode, encode, is_a, returned_by
from anonymatch.running.execution import _IN_FLIGHT, Steps
from anonymatch.theory.claims.small_graphs import survey

GRAPH = am.random_density(25, 0.5, seed=3)  # sums over signs of 16 units
HARD = am.random_density(60, 0.3, seed=3)
BAND = am.band(60, 3, 3)
SPARSE = am.random_regular(40, 4, seed=3)
LITTLE = am.Budget(memory=1e6)  # for it: work in parts


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work of milliseconds in many chunks that are recorded, as minutes of it would be."""
    monkeypatch.setattr("anonymatch.running.budget.CHUNK_SECONDS", 1e-4)
    monkeypatch.setattr("anonymatch.running.budget._RECORDS_PAY_FROM", 0.0)


def computed(path: Path) -> list[int]:
    """Chunks that each session computed."""
    return list(read_checkpoint(path).computed)


ASKED: dict[str, tuple[am.Graph, Callable[[Any], Any]]] = {
    "count": (GRAPH, lambda e: am.count(GRAPH, method="glynn", executor=e).value),
    "posterior": (GRAPH, lambda e: am.posterior(GRAPH, method="glynn", executor=e)[0]),
    "counts": (GRAPH, lambda e: am.posterior(GRAPH, executor=e).counts.by_edge.tolist()),
    "frontier": (BAND, lambda e: am.count(BAND, method="frontier", executor=e).value),
    "parts": (SPARSE, lambda e: am.count(SPARSE, budget=LITTLE, executor=e).value),
    "posterior by parts": (SPARSE, lambda e: am.posterior(SPARSE, budget=LITTLE, executor=e)[0]),
    "frontier posterior": (BAND, lambda e: am.posterior(BAND, executor=e).probabilities.tolist()),
    "estimate": (HARD, lambda e: am.count(HARD, budget=0.2, executor=e).low),
    "estimated posterior": (HARD, lambda e: am.posterior(HARD, budget=0.2, executor=e)[0]),
    "sample": (BAND, lambda e: am.sample(BAND, 3, seed=1, executor=e).tolist()),
    "metrics": (BAND, lambda e: am.metrics(BAND, executor=e).degree),
}  # fmt: skip


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("name", ASKED)
def test_a_second_call_computes_nothing_and_says_the_same(name: str, tmp_path: Path) -> None:
    graph, ask = ASKED[name]
    answers = []
    for _ in range(2):
        with am.Checkpoint(tmp_path / "run.sqlite", graph) as run:
            answers.append(ask(run))

    first, second = computed(tmp_path / "run.sqlite")
    assert answers == [ask(None)] * 2
    assert first > 0 or name == "sample"
    assert second == 0


def test_a_run_tells_what_it_took_and_what_it_computed(tmp_path: Path) -> None:
    graph, ask = ASKED["count"]
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path, graph) as run:
        ask(run)
        ask(run)  # what this session recorded itself was not there already
        number = run.computed
        assert (run.taken, number) == (0, computed(path)[0])
    with sqlite3.connect(path) as base:
        base.execute("DELETE FROM chunks WHERE key IN (SELECT key FROM chunks LIMIT 3)")
    base.close()
    with am.Checkpoint(path, graph) as run:
        ask(run)
        assert (run.taken, run.computed) == (number - 3, 3)


def test_work_without_a_graph_is_recorded_too(tmp_path: Path) -> None:
    for _ in range(2):
        with am.Checkpoint(tmp_path / "run.sqlite") as run:
            assert survey(3, executor=run).best[8].matchings == 4

    assert computed(tmp_path / "run.sqlite")[1] == 0


def test_different_methods_share_a_file_and_never_a_chunk(tmp_path: Path) -> None:
    truth = am.count(GRAPH).value
    with am.Checkpoint(tmp_path / "run.sqlite", GRAPH) as run:
        for method in ("glynn", "frontier", "auto"):
            assert am.count(GRAPH, method=method, executor=run).value == truth


# ---- killed


def test_killed_at_random_moments_it_ends_with_the_exact_answer(tmp_path: Path) -> None:
    """SIGKILL 24 times; each costs at most the chunks that were under way."""
    program = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, program, tmp_path], capture_output=True, text=True, check=True
    )
    kills, answer = map(int, done.stdout.split())

    assert kills == KILLS
    assert answer == am.count(am.random_density(29, 0.5, seed=5), method="glynn").value
    with sqlite3.connect(tmp_path / "run.sqlite") as base:
        recorded = Counter(dict(base.execute("SELECT session, count(*) FROM chunks GROUP BY 1")))
        ((number,),) = base.execute("SELECT number FROM jobs")
    base.close()
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert recorded.total() == number == 256  # every chunk once
    assert len(recorded) > 1  # and they come from several sessions
    assert len({chunk for _, chunk in ran}) == number
    last = {chunk: session for session, chunk in ran}
    lost = Counter(session for session, chunk in ran if last[chunk] != session)
    # Each kill cost at most what was under way.
    assert max(lost.values(), default=0) <= _IN_FLIGHT * usable_cores()


def test_what_is_done_when_something_fails_is_kept(tmp_path: Path) -> None:
    def stop(done: float, total: float) -> None:
        if done > total / 2:
            raise RuntimeError("enough")

    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path, GRAPH) as run, pytest.raises(RuntimeError, match="enough"):
        am.count(GRAPH, method="glynn", executor=run, progress=stop)
    half = read_checkpoint(path)
    with am.Checkpoint(path, GRAPH) as run:
        assert am.count(GRAPH, method="glynn", executor=run).value == am.count(GRAPH).value
    whole = read_checkpoint(path)

    assert 0.4 < half.done < 1
    assert half.left
    assert whole.done == 1
    assert whole.left == 0
    assert sum(whole.computed) == whole.jobs[0].number
    assert [job.finished for job in whole.jobs] == [True]


def fatal_once(marker: str, number: int) -> int:
    """One chunk kills its worker, the first time."""
    if number == 90 and not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)
    return number


@pytest.mark.slow
def test_a_new_pool_goes_on_where_a_broken_one_stopped(tmp_path: Path) -> None:
    path, context = tmp_path / "run.sqlite", get_context("spawn")
    calls = [partial(fatal_once, str(tmp_path / "dead"), k) for k in range(100)]

    def numbers() -> list[int]:
        with (
            ProcessPoolExecutor(1, mp_context=context) as pool,
            am.Checkpoint(path, executor=pool) as run,
        ):
            return list(Execution(executor=run).chunks(calls, each=0.1, number=100))

    with pytest.raises(am.StoppedError, match=r"^the executor is broken .* make a new executor"):
        numbers()
    retained = read_checkpoint(path).jobs[0].recorded

    assert 0 < retained < 100
    assert numbers() == list(range(100))
    assert computed(path)[1] == 100 - retained


# ---- a full disk


def small_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def big(number: int) -> bytes:
    return bytes([number]) * 20_000


def with_a_full_disk(path: str) -> str:
    """In a process of its own, as limits on files cannot be taken back."""
    small_files(400_000)
    calls = [partial(big, k) for k in range(100)]
    try:
        with am.Checkpoint(path) as run:
            list(Execution(executor=run).chunks(calls, each=0.1, number=100))
    except am.StoppedError as error:
        return str(error)
    return "nothing"


def test_a_full_disk_is_one_clear_line_and_keeps_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        message = executor.submit(with_a_full_disk, str(path)).result()

    assert "what was recorded is kept: make room" in message
    assert "\n" not in message
    before = read_checkpoint(path).jobs[0].recorded
    assert 0 < before < 100
    calls = [partial(big, k) for k in range(100)]
    with am.Checkpoint(path) as run:
        result = list(Execution(executor=run).chunks(calls, each=0.1, number=100))
    assert result == [big(k) for k in range(100)]
    assert computed(path)[1] == 100 - before


def told_on_a_full_disk(path: str) -> str:
    small_files(1_000)
    try:
        read_checkpoint(path)
    except am.InputError as error:
        return str(error)
    return "nothing"


@pytest.mark.slow
def test_reading_on_a_full_disk_is_told_in_its_own_words(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    am.Checkpoint(path, GRAPH).close()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        message = executor.submit(told_on_a_full_disk, str(path)).result()

    assert message.startswith(f"{path}: cannot read it (")
    assert message.endswith("make room, and ask again")
    assert "record" not in message
    assert read_checkpoint(path).sessions == 1


# ---- files that are refused


def refusal(path: Path, graph: am.Graph | None = GRAPH) -> str:
    with pytest.raises(am.InputError) as caught:
        am.Checkpoint(path, graph)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line


def test_another_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    am.Checkpoint(path, GRAPH).close()

    assert "begun with another graph (25 users" in refusal(path, HARD)
    assert "begun with another graph" in refusal(path, None)
    heavier = am.Graph.from_biadjacency(2 * GRAPH.to_scipy().toarray())
    assert "begun with another graph" in refusal(path, heavier)
    am.Checkpoint(path, GRAPH).close()


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    am.Checkpoint(path, GRAPH).close()
    with sqlite3.connect(path) as base:
        base.execute("UPDATE about SET value = '0.0.9+00000000' WHERE name = 'code'")
    base.close()

    assert "begun by anonymatch 0.0.9+00000000, and this is " in refusal(path)


def test_a_second_user_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path, GRAPH) as run:
        assert "another process is using it" in refusal(path)
        assert am.count(GRAPH, method="glynn", executor=run).value == am.count(GRAPH).value
        assert "another process is using it" in refusal(path)
        assert read_checkpoint(path).jobs  # but it can be looked at
    am.Checkpoint(path, GRAPH).close()


def test_whoever_slips_in_between_ends_the_other(tmp_path: Path) -> None:
    """Two processes never write in turns: the one that came first ends with a clear line."""
    path = tmp_path / "run.sqlite"
    run = am.Checkpoint(path, GRAPH)
    run._base.execute("COMMIT")  # the moment in which nobody holds the file
    am.Checkpoint(path, GRAPH).close()
    run._base.execute("BEGIN IMMEDIATE")

    with pytest.raises(am.InputError, match="another process is using it"):
        am.count(GRAPH, method="glynn", executor=run)
    run.close()


@pytest.mark.parametrize(
    "content",
    [
        b"user,behaviour\n" * 100,
        random.Random(0).randbytes(5000),
        b"SQLite format 3\0" + b"\0" * 4080,
    ],
    ids=["text", "noise", "empty pages"],
)
def test_what_is_no_run_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)

    refusal(path)
    assert path.read_bytes() == content


def test_bases_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE mine(x)")
    base.close()

    assert "this is no run of anonymatch" in refusal(path)
    with pytest.raises(am.InputError, match="this is no run of anonymatch"):
        read_checkpoint(path)


def test_a_run_with_traps_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    am.Checkpoint(path, GRAPH).close()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TRIGGER trap AFTER INSERT ON sessions BEGIN DELETE FROM jobs; END")
    base.close()

    assert "this is no run of anonymatch" in refusal(path)


def test_folders_and_missing_places_are_refused(tmp_path: Path) -> None:
    assert "it is a folder" in refusal(tmp_path)
    assert "its folder does not exist" in refusal(tmp_path / "no" / "run.sqlite")
    with pytest.raises(am.InputError, match="there is no such file"):
        read_checkpoint(tmp_path / "none.sqlite")


@pytest.mark.parametrize("damage", ["result", "checksum", "both"])
def test_damaged_chunks_are_computed_again(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path, GRAPH) as run:
        truth = am.count(GRAPH, method="glynn", executor=run).value
    changes = {"result": "result = x'4e'", "checksum": "checksum = x'00'"}
    changes["both"] = f"{changes['result']}, {changes['checksum']}"
    with sqlite3.connect(path) as base:
        base.execute(f"UPDATE chunks SET {changes[damage]} WHERE rowid % 3 = 0")
        ((damaged,),) = base.execute("SELECT count(*) FROM chunks WHERE rowid % 3 = 0")
    base.close()
    with am.Checkpoint(path, GRAPH) as run:
        assert am.count(GRAPH, method="glynn", executor=run).value == truth

    assert computed(path)[1] == damaged > 0


def rewrite(path: Path, change: Callable[[Any], Any]) -> None:
    """Change every recorded result, with the right checksum for it."""
    with sqlite3.connect(path) as base:
        for key, data in base.execute("SELECT key, result FROM chunks").fetchall():
            new = encode(change(decode(data)))
            row = (new, _checksum(key, new), key)
            base.execute("UPDATE chunks SET result = ?, checksum = ? WHERE key = ?", row)
    base.close()


WRONG_TYPES: dict[str, Any] = {
    "a bool": True,
    "a double": 0.5,
    "no number": math.nan,
    "text": "abc",
    "bytes": b"abc",
    "nothing in a tuple": (),
    "a tuple in a tuple": ((1, "a"), [None]),
    "small numbers": np.arange(3, dtype=np.int8),
    "things": np.array([1, None, "a"], dtype=object),
}


@pytest.mark.grid(quick=6)
@pytest.mark.parametrize("kind", WRONG_TYPES)
@pytest.mark.parametrize(
    "name", ["count", "counts", "frontier", "parts", "posterior by parts", "estimated posterior"]
)
def test_recorded_results_of_another_type_are_computed_again(
    name: str, kind: str, tmp_path: Path
) -> None:
    path, (graph, ask) = tmp_path / "run.sqlite", ASKED[name]
    with am.Checkpoint(path, graph) as run:
        truth = ask(run)
    rewrite(path, lambda _: WRONG_TYPES[kind])
    with am.Checkpoint(path, graph) as run:
        assert ask(run) == truth

    first, second = computed(path)
    assert first == second > 0


def shorter(value: Any) -> Any:
    """The same types, with one entry less."""
    if isinstance(value, np.ndarray):
        return value.reshape(-1)[:-1]
    return tuple(map(shorter, value)) if isinstance(value, tuple) else -1


@pytest.mark.parametrize("name", ["count", "posterior", "frontier", "estimate"])
def test_recorded_results_that_do_not_fit_are_told_in_one_line(name: str, tmp_path: Path) -> None:
    path, (graph, ask) = tmp_path / "run.sqlite", ASKED[name]
    with am.Checkpoint(path, graph) as run:
        ask(run)
    rewrite(path, shorter)

    with am.Checkpoint(path, graph) as run, pytest.raises(am.InputError) as caught:
        ask(run)
    assert str(caught.value).startswith(f"{path}: a result that it has recorded does not fit")
    assert "\n" not in str(caught.value)


def test_mistakes_of_the_caller_stay_what_they_are(tmp_path: Path) -> None:
    graph, ask = ASKED["count"]
    with am.Checkpoint(tmp_path / "run.sqlite", graph) as run:
        ask(run)
    with am.Checkpoint(tmp_path / "run.sqlite", graph) as run:
        ask(run)
        with pytest.raises(TypeError, match="unexpected keyword"):
            am.count(graph, executor=run, methods="signs")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", [name for name in _WORDS if "." in name])
def test_every_chunk_says_what_type_it_returns(name: str) -> None:
    module, _, function = f"anonymatch.{name}".rpartition(".")
    if module.endswith("BandOrdering"):
        module, function = module.removesuffix(".BandOrdering"), f"BandOrdering.{function}"

    kind = returned_by(attrgetter(function)(import_module(module)))
    assert kind is not Any
    assert not is_a("text", kind)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE jobs SET number = 'many'",
        "UPDATE jobs SET each = 'long'",
        "UPDATE sessions SET began = 'now', predicted = 1",
        "UPDATE sessions SET computed = x'00'",
        "UPDATE about SET value = CAST(x'ff' AS TEXT)",
    ],
)
def test_what_is_no_number_is_told_in_one_line(change: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path, GRAPH) as run:
        am.count(GRAPH, method="glynn", executor=run)
    with sqlite3.connect(path) as base:
        base.execute(change)
    base.close()

    with pytest.raises(am.InputError, match=r"run\.sqlite: it is damaged"):
        read_checkpoint(path)


def test_any_name_is_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with am.Checkpoint(":memory:", GRAPH) as run:
        am.count(GRAPH, method="glynn", executor=run)

    assert read_checkpoint(":memory:").computed[0] > 0
    assert (tmp_path / ":memory:").is_file()


def test_an_empty_base_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA application_id = 77")
    base.close()

    with pytest.raises(am.InputError, match="no run of anonymatch"):
        am.Checkpoint(path, GRAPH)


def test_a_run_serves_several_threads(tmp_path: Path) -> None:
    values: list[Any] = []
    with am.Checkpoint(tmp_path / "run.sqlite", GRAPH) as run:

        def ask() -> None:
            values.append(am.count(GRAPH, method="glynn", executor=run).value)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert values == [am.count(GRAPH).value] * 3


# ---- chains: steps that change a state


class KilledError(Exception):
    """Ends a session in the middle."""


def every_bit(value: Any) -> list[bytes]:
    if is_dataclass(value):
        return [bit for one in fields(value) for bit in every_bit(getattr(value, one.name))]
    if isinstance(value, tuple):
        return [bit for one in value for bit in every_bit(one)]
    return [value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()]


def killed_after(steps: int, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> None:
    """Compute ``steps`` steps of a chain and end in the next one."""
    step, computed = Steps.step, 0

    def counted(self: Steps, compute: Callable[[], Any], seconds: float) -> Any:
        def one() -> Any:
            nonlocal computed
            computed += 1
            if computed > steps:
                raise KilledError
            return compute()

        return step(self, one, seconds)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "step", counted)
        with pytest.raises(KilledError):
            call()


WINDOW = window_graph(30, 6, 1)
SOFT = soft_graph(30, 6, 1)
CHAINS: dict[str, Callable[..., Any]] = {
    "window": partial(estimate_band, band_of(WINDOW), WINDOW),
    "log-normal": partial(estimate_band, band_of(SOFT), SOFT),
    "losses and cover": partial(chain_links, erlang_with_cover()),
    "numbers lost": lambda **given: chain_links(cast(LinkBand, numbered_band(4)), **given),
}


@pytest.mark.grid
@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_that_was_killed_goes_on_and_says_the_same_bit_for_bit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.running.execution._PAUSE", 0.0)
    monkeypatch.setattr("anonymatch.running.execution._STATE_SECONDS", 0.0)
    call = partial(CHAINS[name], budget=am.Budget(seconds=0.1), seed=3)
    path = tmp_path / "run.sqlite"
    for steps in (2, 30, 25, 20):  # on the way down, among samples, and on the way up
        with am.Checkpoint(path) as run:
            before = sum(job.recorded for job in read_checkpoint(path).jobs)
            killed_after(steps, monkeypatch, partial(call, effort=Execution(executor=run)))
            assert (run.taken, run.computed) == (before, steps)
    (job,) = read_checkpoint(path).jobs
    assert (job.recorded, job.finished) == (77, False)
    assert 0.0 < read_checkpoint(path).done < 1.0
    with am.Checkpoint(path) as run:
        resumed = call(effort=Execution(executor=run))
    assert every_bit(resumed) == every_bit(call())
    (job,) = read_checkpoint(path).jobs
    assert job.finished
    assert job.recorded > 77


def test_a_state_is_recorded_when_enough_was_done_since_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path) as run:
        call = partial(CHAINS["window"], budget=am.Budget(seconds=0.1))
        killed_after(50, monkeypatch, partial(call, effort=Execution(executor=run)))
        assert run.computed == 0  # less than two seconds


@pytest.mark.parametrize("name", ["window", "losses and cover"])
def test_a_state_that_does_not_fit_is_told_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.running.execution._PAUSE", 0.0)
    call = partial(CHAINS[name], budget=am.Budget(seconds=0.1))
    path = tmp_path / "run.sqlite"
    with am.Checkpoint(path) as run:
        killed_after(1, monkeypatch, partial(call, effort=Execution(executor=run)))

    def beyond(value: Any) -> Any:
        if isinstance(value[0], int):
            value[1][8:12] = 255, 255, 255, 127  # the column of the first row: far beyond
        return value

    rewrite(path, beyond)
    with am.Checkpoint(path) as run, pytest.raises(am.InputError, match="it is damaged"):
        call(effort=Execution(executor=run))


@pytest.mark.parametrize("name", ["window", "losses and cover"])
def test_a_chain_of_another_seed_or_budget_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    for seed, seconds, refused in [
        (0, 0.1, False),
        (0, 0.1, False),
        (1, 0.1, True),
        (0, 0.2, True),
    ]:
        with am.Checkpoint(path) as run:
            call = partial(
                CHAINS[name],
                budget=am.Budget(seconds=seconds),
                seed=seed,
                effort=Execution(executor=run),
            )
            if not refused:
                call()
                continue
            with pytest.raises(am.InputError, match="begun with another log, law, seed or budget"):
                call()


def test_one_session_may_have_chains_of_several_logs(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    for _ in range(2):
        with am.Checkpoint(path) as run:
            for name in ("window", "log-normal"):
                CHAINS[name](budget=am.Budget(seconds=0.1), effort=Execution(executor=run))
    assert [job.finished for job in read_checkpoint(path).jobs] == [True, True]
    assert computed(path)[1] == 0


# ---- the command line


def test_the_command_line_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed, path = tmp_path / "seen.csv", tmp_path / "run.sqlite"
    am.write(GRAPH, observed)
    requested = ["count", str(observed), "--method", "glynn", "--resume", str(path), "--json"]
    assert main(requested) == 0
    first, given = capsys.readouterr()
    assert "chunk" not in given
    assert main(requested) == 0
    again, given = capsys.readouterr()
    assert again == first
    number = computed(path)[0]
    assert computed(path)[1] == 0
    assert f"note: {number} of {number} chunks were there already in run.sqlite" in given
    assert main(["runs", str(path)]) == 0
    page = capsys.readouterr().out
    assert "run.sqlite: 25 users" in page
    assert "count by Glynn's formula" in page
    assert "finished" in page
    other = tmp_path / "other.csv"
    am.write(HARD, other)
    assert main(["count", str(other), "--resume", str(path)]) == 2
    assert "begun with another graph" in capsys.readouterr().err


@pytest.mark.grid
@pytest.mark.parametrize(
    ("law", "job"),
    [
        (("window:0,8",), "swaps of a wide log"),
        (("lognormal:4,0.5", "--loss", "0.1"), "explanations of a wide log"),
    ],
)
def test_an_audit_of_an_estimated_log_goes_on_where_it_was_killed(
    law: tuple[str, ...],
    job: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anonymatch.running.execution._PAUSE", 0.0)
    for name in ("log.csv", "other.csv"):
        draw = np.random.default_rng(len(name))
        came = np.cumsum(draw.exponential(0.1, 150))
        left = came + draw.uniform(1.0, 7.0, 150)
        rows = sorted(
            [(now, "in", f"u{k}") for k, now in enumerate(came)]
            + [(now, "out", f"b{k}") for k, now in enumerate(left)]
        )
        text = "".join(f"{now:.6f},{way},{who}\n" for now, way, who in rows)
        (tmp_path / name).write_text(f"time,direction,name\n{text}")
    path = tmp_path / "run.sqlite"
    plain = ["audit", str(tmp_path / "log.csv"), "--law", *law, "--budget", "0.3", "--json"]
    resumed = [*plain, "--resume", str(path)]
    killed_after(20, monkeypatch, partial(main, resumed))
    capsys.readouterr()
    assert main(["runs", str(path)]) == 0
    page = capsys.readouterr().out
    assert job in page
    assert "open" in page
    answers = []
    for command in (plain, resumed):
        assert main(command) == 0
        answers.append(json.loads(capsys.readouterr().out))
        del answers[-1]["seconds"]
    assert answers[0] == answers[1]
    others = ([*resumed, "--seed", "5"], [*resumed[:1], str(tmp_path / "other.csv"), *resumed[2:]])
    for command in others:
        assert main(command) == 2
        told = capsys.readouterr().err
        assert "run.sqlite: begun with another" in told
        assert told.count("\n") == 1


def test_commands_without_long_work_refuse_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = tmp_path / "seen.csv"
    am.write(GRAPH, observed)
    for option in ("--resume", "--cluster"):
        assert main(["bounds", str(observed), option, "x"]) == 2
        assert f"{option}: bounds has no long work" in capsys.readouterr().err


def test_exact_weights_tell_graphs_apart(tmp_path: Path) -> None:
    def two_by_two(weight: Any) -> am.Graph:
        return am.Graph.from_edges([("a", "x", weight), ("a", "y"), ("b", "x"), ("b", "y")])

    path = tmp_path / "run.sqlite"
    for _ in range(2):
        am.Checkpoint(path, two_by_two(Fraction(1, 3))).close()
    assert "begun with another graph" in refusal(
        path, two_by_two(Fraction(1, 3) + Fraction(1, 10**30))
    )


def test_a_run_without_a_pace_does_not_say_that_nothing_is_left() -> None:
    job = ComputationRecord(
        what="counting.signs._count", number=990, recorded=0, each=0.05, finished=False
    )
    result = CheckpointRecord(
        code="0", graph="36 users", sessions=1, computed=(0,), jobs=(job,), pace=None, last=0.0
    )
    text = as_text(*checkpoint_screen("run.sqlite", result, top=0))

    assert "not known yet" in text
    assert "nothing" not in text
