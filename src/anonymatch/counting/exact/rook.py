"""Rook polynomials: how many ways to pick k pairwise disjoint edges of a small or narrow pattern.

A pattern is a bipartite graph as rows of column labels. Its rook polynomial has as coefficient of
x^k the number of matchings with k edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from anonymatch.counting.blocks.tuning import LIMITS
from anonymatch.counting.integers import multiply_all, pack, unpack, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Pattern = tuple[tuple[int, ...], ...]


class Thread(NamedTuple):
    """A path or a cycle, for which the coefficients are binomial."""

    edges: int
    closed: bool

    def polynomial(self) -> list[int]:
        """Ways to pick k disjoint edges: C(v-k, k) on a path, v/(v-k) C(v-k, k) on a cycle."""
        v = self.edges if self.closed else self.edges + 1
        coefficients = [1]
        binomial = 1
        for k in range(1, v // 2 + 1):
            # C(v-k, k) / C(v-k+1, k-1)
            binomial = binomial * (v - 2 * k + 2) * (v - 2 * k + 1) // (k * (v - k + 1))
            coefficients.append(binomial * v // (v - k) if self.closed else binomial)
        return coefficients


def path_polynomial(vertices: int) -> list[int]:
    """The rook polynomial of a path with this many vertices.

    Examples
    --------
    >>> [path_polynomial(m) for m in range(4)]
    [[1], [1], [1, 1], [1, 2]]
    """
    return Thread(vertices - 1, False).polynomial()


@dataclass(frozen=True, slots=True, kw_only=True)
class RookSweep:
    """An order of rows (or of columns, as rows of ``pattern``) and what going through it costs."""

    pattern: Pattern  # its rows in the order of the sweep
    order: tuple[int, ...]  # which those were
    operations: float  # predicted, on 32-bit words
    threads: tuple[Thread, ...] = ()  # instead, when the pattern is made of paths and cycles


def plan_sweep(pattern: Iterable[Iterable[int]]) -> RookSweep | None:
    """The cheaper of sweeping by rows and by columns; None if both are too wide."""
    rows = tuple(tuple(row) for row in pattern)
    other = turn(rows)
    if all(len(ends) <= 2 for side in (rows, other) for ends in side):
        length = sum(map(len, rows))
        return RookSweep(
            pattern=rows,
            order=tuple(range(len(rows))),
            operations=length * (LIMITS.rook_overhead + length),
            threads=_threads(rows, other),
        )
    plans = [plan for side in (rows, other) if (plan := plan_rows(side)) is not None]
    return min(plans, key=lambda plan: plan.operations, default=None)


def turn(pattern: Pattern) -> Pattern:
    """Rows and columns exchanged; columns without an edge are kept up to the largest label."""
    columns: list[list[int]] = [
        [] for _ in range(1 + max((j for r in pattern for j in r), default=-1))
    ]
    for i, row in enumerate(pattern):
        for j in row:
            columns[j].append(i)
    return tuple(map(tuple, columns))


def rook_polynomial(sweep: RookSweep) -> list[int]:
    """Coefficients from k = 0 on; the first is 1.

    A state is the set of used columns that later rows can still reach; each holds the polynomial of
    the ways to get there, packed in one integer, so that a row left empty adds it and a row that
    takes a column adds it shifted.
    """
    if sweep.threads:
        return multiply_all([thread.polynomial() for thread in sweep.threads])
    states, width = {0: 1}, 0
    for t, move in enumerate(_moves(sweep.pattern)):
        if t % LIMITS.rook_repack == 0:
            states, width = _repacked(states, width, sweep.pattern[t : t + LIMITS.rook_repack])
        empty, taken = _step(states, move)
        states = _joined(empty, taken, 8 * width)
    return unpack(states[0], width) if sweep.pattern else [1]


def row_deletions(sweep: RookSweep) -> list[list[int]]:
    """For every row of the sweep's pattern, the polynomial of the pattern without it.

    Those are the matchings that leave the row empty: ways to reach a state before it times ways to
    go on from there, with the same columns used.
    """
    width = width_of(prod(len(row) + 1 for row in sweep.pattern))
    moves = _moves(sweep.pattern)
    states = {0: 1}
    layers: list[tuple[dict[int, int], dict[int, int]]] = []
    for move in moves:
        empty, taken = _step(states, move)
        layers.append((states, dict(empty)))
        states = _joined(empty, taken, 8 * width)
    onward = {0: 1}
    polynomials: list[list[int]] = []
    for (before, empty), (leaving, staying) in zip(reversed(layers), reversed(moves), strict=True):
        polynomials.append(unpack(sum(v * onward[s] for s, v in empty.items()), width))
        stay = ~sum(1 << slot for slot in leaving)
        backward: dict[int, int] = {}
        for s in before:
            rest = s & stay
            taken_on = onward[rest] * sum(not s >> slot & 1 for slot in leaving)
            for slot in staying:
                if not s >> slot & 1:
                    taken_on += onward[rest | 1 << slot]
            backward[s] = onward[rest] + (taken_on << 8 * width)
        onward = backward
    return polynomials[::-1]


Move = tuple[list[int], list[int]]  # slots of a row's columns that leave after it, and that stay


def _moves(rows: Pattern) -> list[Move]:
    """Slots for the live columns of each row in turn; those of columns that left are used again."""
    last = {j: t for t, row in enumerate(rows) for j in row}
    slots: dict[int, int] = {}
    free: list[int] = []
    moves: list[Move] = []
    for t, row in enumerate(rows):
        for j in row:
            if j not in slots:
                slots[j] = free.pop() if free else len(slots)
        staying = [slots[j] for j in row if last[j] != t]
        leaving = [slots.pop(j) for j in row if last[j] == t]
        free += leaving
        moves.append((leaving, staying))
    return moves


def _step(states: dict[int, int], move: Move) -> tuple[dict[int, int], dict[int, int]]:
    """The states after one row if it stays empty, and if it takes a column.

    Columns that leave are forgotten first, so that a column that stays is taken from the fewer
    states that remain.
    """
    leaving, staying = move
    stay = ~sum(1 << slot for slot in leaving)
    empty: dict[int, int] = {}
    taken: dict[int, int] = {}
    for s, v in states.items():
        rest = s & stay
        empty[rest] = empty[rest] + v if rest in empty else v
        for slot in leaving:
            if not s >> slot & 1:
                taken[rest] = taken[rest] + v if rest in taken else v
    for slot in staying:
        for s, v in empty.items():
            if not s >> slot & 1:
                used = s | 1 << slot
                taken[used] = taken[used] + v if used in taken else v
    return empty, taken


def _joined(empty: dict[int, int], taken: dict[int, int], shift: int) -> dict[int, int]:
    for s, v in taken.items():
        empty[s] = empty[s] + (v << shift) if s in empty else v << shift
    return empty


def _repacked(states: dict[int, int], width: int, ahead: Pattern) -> tuple[dict[int, int], int]:
    """The same polynomials in a width that the coming rows cannot outgrow.

    A row with d columns multiplies the sum over all states of the k-th coefficients by at most
    1 + d in the maximum over k.
    """
    lists = {s: unpack(v, width) if width else [v] for s, v in states.items()}
    largest = max(max(coefficients) for coefficients in lists.values())
    wider = width_of(len(states) * largest * prod(len(row) + 1 for row in ahead))
    return {s: pack(coefficients, wider) for s, coefficients in lists.items()}, wider


def canonical(pattern: Sequence[Sequence[int]]) -> tuple[Pattern, list[int], dict[int, int]]:
    """A relabelling that gives isomorphic patterns the same labels as often as is cheap.

    Equal results are always isomorphic, which is all that sharing work needs; the converse may fail
    for large symmetric patterns. Vertices are told apart by three rounds of comparing neighbours,
    then walked breadth first from each of the rarest kind.

    Returns
    -------
    pattern, new label of each row, new label of each column

    Examples
    --------
    >>> canonical([(7, 5), (5,)])[0] == canonical([(3,), (3, 4)])[0]
    True
    """
    labels = sorted({j for row in pattern for j in row})
    column_of = {j: len(pattern) + k for k, j in enumerate(labels)}
    near: list[list[int]] = [[column_of[j] for j in row] for row in pattern]
    near += [[] for _ in labels]
    for i, row in enumerate(near[: len(pattern)]):
        for j in row:
            near[j].append(i)
    kinds = [int(v >= len(pattern)) for v in range(len(near))]
    for _ in range(3):
        neighbourhoods = [(kinds[v], sorted(kinds[u] for u in near[v])) for v in range(len(near))]
        ranks = {repr(kind): k for k, kind in enumerate(sorted(neighbourhoods))}
        kinds = [ranks[repr(kind)] for kind in neighbourhoods]
    tally: dict[int, int] = {}
    for kind in kinds:
        tally[kind] = tally.get(kind, 0) + 1
    rarest = min(tally, key=lambda kind: (tally[kind], kind))
    starts = [v for v, kind in enumerate(kinds) if kind == rarest][:8]
    best: tuple[Pattern, list[int], dict[int, int]] | None = None
    for start in starts:
        new = _walk(near, kinds, start, len(pattern))
        rows: list[tuple[int, ...]] = [()] * len(pattern)
        for i in range(len(pattern)):
            rows[new[i]] = tuple(sorted(new[j] for j in near[i]))
        labelled = tuple(rows)
        if best is None or labelled < best[0]:
            best = labelled, new[: len(pattern)], {j: new[v] for j, v in column_of.items()}
    assert best is not None
    return best


def _walk(near: list[list[int]], kinds: list[int], start: int, n_rows: int) -> list[int]:
    """New labels, rows and columns apart, in breadth-first order from ``start``."""
    order, placed = [start], {start: 0}
    for v in order:
        fresh = [u for u in near[v] if u not in placed]
        # By kind, then by how early the neighbours were placed: ties that remain are arbitrary.
        fresh.sort(key=lambda u: (kinds[u], sorted(placed[t] for t in near[u] if t in placed)))
        for u in fresh:
            placed[u] = len(order)
            order.append(u)
    new = [0] * len(near)
    counts = [0, 0]
    for v in order:
        side = int(v >= n_rows)
        new[v] = counts[side]
        counts[side] += 1
    return new


def _threads(rows: Pattern, columns: Pattern) -> tuple[Thread, ...]:
    """The paths and cycles of a pattern in which no degree exceeds 2."""
    threads = []
    done: set[int] = set()
    for start in range(len(rows)):
        if start in done:
            continue
        if not rows[start]:
            continue
        group, degrees = [start], 0
        done.add(start)
        for i in group:
            degrees += len(rows[i])
            fresh = {k for j in rows[i] for k in columns[j]} - done
            done |= fresh
            group += fresh
        vertices = len(group) + len({j for i in group for j in rows[i]})
        threads.append(Thread(degrees, vertices == degrees))
    return tuple(threads)


def plan_rows(rows: Pattern) -> RookSweep | None:
    """Sweep by rows in the best of some greedy orders; None if all are too wide."""
    reach: dict[int, set[int]] = {}
    for i, row in enumerate(rows):
        for j in row:
            reach.setdefault(j, set()).add(i)
    best: RookSweep | None = RookSweep(pattern=(), order=(), operations=1) if not rows else None
    for start in sorted(range(len(rows)), key=lambda i: len(rows[i]))[: LIMITS.rook_starts]:
        plan = _greedy(rows, reach, start)
        if plan is not None and (best is None or plan.operations < best.operations):
            best = plan
        if best is not None and best.operations < LIMITS.rook_cheap:
            break
    return best


def _greedy(rows: Pattern, reach: dict[int, set[int]], start: int) -> RookSweep | None:
    left = {j: len(ends) for j, ends in reach.items()}
    live: set[int] = set()
    waiting = set(range(len(rows)))
    numbers: dict[tuple[int, ...], int] = {}
    kind = [numbers.setdefault(row, len(numbers)) for row in rows]
    alike: list[list[int]] = [[] for _ in numbers]  # equal rows, the first of them last
    for i in reversed(range(len(rows))):
        alike[kind[i]].append(i)
    kinds = {j: {kind[i] for i in ends} for j, ends in reach.items()}
    bits, total_bits = 0.0, sum(len(row).bit_length() for row in rows)
    order: list[int] = []
    operations = 0.0
    while waiting:
        near = {alike[k][-1] for j in live for k in kinds[j]} if order else {start}
        if near:
            i = min(
                near,
                key=lambda i: (
                    sum(j not in live for j in rows[i]) - sum(left[j] == 1 for j in rows[i]),
                    i,
                ),
            )
        else:
            i = min(waiting)
        waiting.remove(i)
        order.append(i)
        same = alike[kind[i]]
        if same[-1] == i:
            same.pop()
        else:  # a start in the middle
            same.remove(i)
        if not same:
            for j in rows[i]:
                kinds[j].discard(kind[i])
        live.update(rows[i])
        if len(live) > LIMITS.rook_widest:
            return None
        bits += len(rows[i]).bit_length()
        words = 1 + len(order) * min(bits, total_bits / 2) / 32
        operations += 2.0 ** len(live) * (len(rows[i]) + 1) * (LIMITS.rook_overhead + words)
        for j in rows[i]:
            left[j] -= 1
            if not left[j]:
                live.discard(j)
    pattern = tuple(rows[i] for i in order)
    return RookSweep(pattern=pattern, order=tuple(order), operations=operations)
