"""How time and memory grow with the users, from a thousand to a million, beside what is documented.

Each size runs in a process of its own, so that its peak of memory is its own too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import anonymatch as am
from anonymatch.graph.decomposition import allowed, forced
from anonymatch.mixes import Observation, observe, synthesize
from benchmarks.report import Line, Size, plain
from benchmarks.structure import graph_of
from benchmarks.timing import HERE, fresh

__all__ = ["CASES", "lines", "measure"]

_ROUNDS = 3
_SLACK = 0.2  # of an exponent: small graphs fit into caches, large ones do not
_SEEN = 2.0  # MiB: what is smaller is lost beside the process itself
_SHORT = 1.0  # seconds from which one round does
_ESTIMATE_EACH = 3e-5  # seconds of a budget, a user
_WINDOW, _AUDIT_EACH = "window:0,8", 1e-4  # and of an audit


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of graph, what is asked of it, and the documented order of the time in the users."""

    name: str
    graph: Callable[[int], Any]  # or a log that was observed
    ask: Callable[[Any], Any]
    order: float
    sizes: tuple[int, ...]


def _tens(n: int) -> am.Graph:
    """A partition: everybody among ten, in no order."""
    rows = np.repeat(np.arange(n), 10)
    columns = rows // 10 * 10 + np.tile(np.arange(10), n)
    inside = columns < n
    return graph_of(rows[inside], columns[inside], n, np.random.default_rng(1))


def _log(n: int) -> am.Graph:
    """A log by time: a message leaves at most two places before or after it came."""
    rows = np.repeat(np.arange(n), 5)
    columns = rows + np.tile(np.arange(-2, 3), n)
    inside = (columns >= 0) & (columns < n)
    return graph_of(rows[inside], columns[inside], n)


def _sparse(n: int) -> am.Graph:
    """Three random candidates for each user, the truth among them."""
    rng = np.random.default_rng(1)
    users = np.arange(n)
    rows = np.concatenate((users, np.repeat(users, 2)))
    columns = np.concatenate((users, rng.integers(0, n, 2 * n)))
    return graph_of(rows, columns, n, rng)


def _blocks(graph: am.Graph) -> tuple[int, int]:
    return allowed(graph).n_edges, len(forced(graph))


def _count(graph: am.Graph) -> float:
    return am.count(graph, executor=HERE, exact=True, budget=1e4).log


def _probabilities(graph: am.Graph) -> float:
    return float(am.posterior(graph, executor=HERE, budget=1e4).probabilities.sum())


def _estimate(graph: am.Graph) -> float:
    """With a budget in proportion to the users: the interval must come, and the seconds be kept."""
    budget = _ESTIMATE_EACH * graph.n_users
    begin = time.process_time()
    count = am.count(graph, method="estimate", budget=budget, executor=HERE)
    seconds = time.process_time() - begin
    assert count.method != "proven bounds"
    assert count.high - count.low < 1e-3 * count.log or graph.n_users < 10**4
    assert seconds < 2.0 * budget + 1.0, f"{seconds:.3g} s for a budget of {budget:.3g} s"
    return count.log


def _window(n: int) -> Observation:
    """A log of messages that come ten a second and stay up to eight: 80 candidates each."""
    return observe(synthesize(_WINDOW, messages=n, rate=10.0, seed=1), _WINDOW)


def _audit(observation: Observation) -> float:
    """With a budget in proportion to the messages, which is kept."""
    assert observation.graph is not None
    messages = observation.graph.n_users
    budget = _AUDIT_EACH * messages
    begin = time.process_time()
    audit: am.Audit = am.audit(observation, budget=budget, executor=HERE)
    seconds = time.process_time() - begin
    assert audit.bits.high - audit.bits.low < 0.1 or messages < 10**4
    assert seconds < 1.2 * budget + 1.0, f"{seconds:.3g} s for a budget of {budget:.3g} s"
    return audit.bits.value


_TO_A_MILLION = (10**3, 10**4, 10**5, 10**6)
CASES = {
    "tens": Case("partition into tens: count", _tens, _count, 1.0, _TO_A_MILLION),
    "tens probabilities": Case(
        "partition into tens: probabilities", _tens, _probabilities, 1.0, _TO_A_MILLION
    ),
    "log probabilities": Case(
        "log by time: probabilities", _log, _probabilities, 1.0, _TO_A_MILLION
    ),
    "log": Case("log by time: all digits", _log, _count, 2.0, (10**3, 10**4, 3 * 10**4, 10**5)),
    "log estimate": Case("log by time: estimated", _log, _estimate, 1.0, _TO_A_MILLION),
    "window audit": Case("window of 8 s: audit", _window, _audit, 1.0, _TO_A_MILLION),
    "sparse": Case("random, 3 edges: blocks", _sparse, _blocks, 1.0, _TO_A_MILLION),
}


def lines(size: Size) -> Iterator[Line]:
    """A line a size with its memory, and a verdict a case: the fitted exponent."""
    for name, case in CASES.items():
        sizes = {"tiny": (100,), "quick": case.sizes[:3], "full": case.sizes}[size]
        result = [_apart(name, n) for n in sizes]
        for n, one in zip(sizes, result, strict=True):
            yield plain(
                f"{case.name}, {n} users",
                one["seconds"],
                goal="",
                passed=None,
                note=f"{one['memory']:.0f} MiB at the peak, {one['start']:.0f} at the start",
            )
        if size != "tiny":
            yield _verdict(case, sizes, result)


def _verdict(case: Case, sizes: tuple[int, ...], result: list[dict[str, float]]) -> Line:
    # The smallest size is left out: what every call costs hides the growth there.
    seconds = _exponent(sizes[1:], [one["seconds"] for one in result[1:]], 0.0)
    memory = _exponent(sizes[1:], [one["memory"] - one["start"] for one in result[1:]], _SEEN)
    return plain(
        f"{case.name}: growth",
        result[-1]["seconds"],
        goal=f"<= n^{case.order + _SLACK:g}",
        passed=max(seconds, memory) <= case.order + _SLACK,
        note=f"time n^{seconds:.2f}, memory n^{memory:.2f}; documented n^{case.order:g}",
    )


def _exponent(sizes: tuple[int, ...], values: list[float], least: float) -> float:
    """The slope in logs, of values that are large enough to be seen; 0 if they are too few."""
    observed = [(n, value) for n, value in zip(sizes, values, strict=True) if value > least]
    if len(observed) < 2:
        return 0.0
    users, amounts = np.log(np.array(observed)).T
    return float(np.polyfit(users, amounts, 1)[0])


def _apart(name: str, n: int) -> dict[str, float]:
    program = f"from benchmarks.scale import measure; measure({name!r}, {n})"
    printed: dict[str, float] = json.loads(
        subprocess.check_output([sys.executable, "-c", program], text=True)
    )
    return printed


def measure(name: str, n: int) -> None:
    """Print the best CPU seconds of a case, and the MiB of this process at first and at most."""
    case = CASES[name]
    _ = case.ask(case.graph(100))  # what is imported and started once is no growth
    start = _mebibytes("VmHWM")
    graph = case.graph(n)
    best = float("inf")
    for _ in range(_ROUNDS):
        again = fresh(graph) if isinstance(graph, am.Graph) else graph
        begin = time.process_time()
        case.ask(again)
        best = min(best, time.process_time() - begin)
        if best > _SHORT:
            break
    print(json.dumps({"seconds": best, "memory": _mebibytes("VmHWM"), "start": start}))


def _mebibytes(what: str) -> float:
    """What the system says of this process; 0 where it does not."""
    status = Path("/proc/self/status")
    text = status.read_text(encoding="ascii") if status.exists() else ""
    result = [line for line in text.splitlines() if line.startswith(what)]
    return int(result[0].split()[1]) / 2**10 if result else 0.0
