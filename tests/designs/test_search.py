"""The search: it reaches what is known to be best, and keeps what it promises."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given as given_values
from hypothesis import settings
from hypothesis import strategies as st
from tests.designs.facts import TABLE, facts

import anonymatch as am
from anonymatch.theory.designs import design
from anonymatch.theory.designs.small import tally


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['n']}-{row['m']}")
def test_up_to_seven_users_nothing_is_better(row: dict[str, object]) -> None:
    n, m = int(str(row["n"])), int(str(row["m"]))
    most = design(n, m, min_part=1)
    safest = design(n, m, min_part=1, objective="after_attack")

    assert most.count == row["true_max"]
    assert most.proof.startswith("optimal")
    assert safest.attack == Fraction(str(row["attack_max"]))
    assert safest.proof.startswith("optimal")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_graphs_of_three_users(n: int) -> None:
    for m in range(n, n * n + 1):
        matrices = [
            tuple(sum(1 << c % n for c in chosen if c // n == row) for row in range(n))
            for chosen in combinations(range(n * n), m)
        ]
        results = [result for result in tally(matrices) if result.count]

        assert design(n, m, min_part=1).count == max(result.count for result in results)
        assert design(n, m, min_part=1, objective="after_attack").attack == max(
            result.count * result.attack for result in results
        )


@facts("true_max")
def test_largest_counts(given: dict[str, int], expected: dict[str, str]) -> None:
    assert design(given["n"], given["m"], min_part=1).count == int(expected["max_matchings"])


@facts("max_attack_value")
def test_largest_counts_after_an_attack(given: dict[str, int], expected: dict[str, str]) -> None:
    answer = design(given["n"], given["m"], min_part=1, objective="after_attack")

    assert answer.attack == Fraction(expected["value"])


@facts("best_H_at_least")
def test_known_goals(given: dict[str, int], expected: str) -> None:
    count = design(given["n"], given["m"], min_part=1).count

    assert count >= int(expected)


@pytest.mark.parametrize(
    ("n", "m", "count", "parts"),
    [
        (8, 24, 96, "complete 4 + 2 x complete 2"),
        (10, 40, 1968, "linked pair 6 + complete 4"),
        (15, 60, 110592, "near-complete 5 + 2 x complete 4 + complete 2"),
        (24, 120, 7464960000, "complete 6 + 3 x complete 5 + complete 3"),
        (7, 34, 470, "found 7"),
    ],
)
def test_designs_that_beat_the_paper(n: int, m: int, count: int, parts: str) -> None:
    answer = design(n, m)
    paper = design(n, m, method="paper")

    assert answer.count == count
    assert str(answer).endswith(parts)
    assert count > paper.count


@pytest.mark.parametrize(
    ("n", "m", "count"),
    [
        (9, 27, 216),
        (10, 30, 324),
        (8, 48, 4752),
        (9, 63, 43424),
        (10, 80, 440192),
        (11, 99, 4893072),
    ],
)
def test_literature_on_regular_graphs(n: int, m: int, count: int) -> None:
    """Merriell 1980 on three edges a user; McKay and Wanless 1998 on two missing ones."""
    answer = design(n, m, min_part=1).count

    assert answer is not None
    assert answer >= count


def test_matchings_and_safety_are_different_goals() -> None:
    most, safest = design(8, 24), design(8, 24, objective="after_attack")

    assert (most.value, most.attack) == (96, Fraction(24))
    assert (safest.value, safest.attack) == (81, Fraction(27))


@pytest.mark.parametrize(
    ("n", "m"), [(4, 10), (5, 16), (5, 17), (6, 14), (6, 23), (6, 26), (7, 19)]
)
def test_nobody_is_exposed_unless_that_is_allowed(n: int, m: int) -> None:
    """Here the graph with the most matchings exposes a user."""
    safe, free = design(n, m), design(n, m, min_part=1)

    assert safe.smallest_group >= 2
    assert free.smallest_group == 1
    assert safe.log < free.log


def brute_attack(graph: am.Graph) -> Fraction:
    through = am.posterior(graph).counts.to_dense().tolist()
    total = sum(through[0])
    return min(Fraction(sum(value * value for value in row), total) for row in through)


@st.composite
def requests(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 14))
    return n, draw(st.integers(n, n * n))


@given_values(
    requests(),
    st.sampled_from(["best", "paper"]),
    st.sampled_from(["matchings", "after_attack"]),
)
def test_a_design_is_the_graph_that_it_draws(
    request: tuple[int, int], method: str, objective: str
) -> None:
    n, m = request
    answer = design(n, m, method=method, objective=objective)
    graph = answer.graph()

    assert graph.n_edges == m
    assert answer.spare + sum(part.edges * part.number for part in answer.parts) == m
    assert sum(part.size * part.number for part in answer.parts) == n == len(answer.assignment())
    assert am.count(graph).value == answer.count
    assert am.count(answer.graph(spare=False)).value == answer.count
    assert answer.attack == brute_attack(graph)
    assert answer.ratio <= 1 + 1e-12
    assert min(len(block.users) for block in am.blocks(graph)) == answer.smallest_group


@given_values(requests(), st.integers(1, 14))
def test_groups_are_as_large_as_asked_for(request: tuple[int, int], least: int) -> None:
    n, m = request
    possible = least == 1 or (least <= n and m >= 2 * n)
    if not possible and least > 2:
        with pytest.raises(am.InputError):
            design(n, m, min_part=least)
        return
    answer = design(n, m, min_part=least)

    assert answer.smallest_group >= (least if possible else 1)
    assert am.count(answer.graph()).value == answer.count
    smallest = min(len(block.users) for block in am.blocks(answer.graph()))
    assert smallest == answer.smallest_group


@given_values(st.integers(1, 60), st.data())
def test_never_worse_than_the_paper(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(n, n * n))
    paper = design(n, m, method="paper")
    most = design(n, m, min_part=1)
    safest = design(n, m, min_part=1, objective="after_attack")

    assert most.ratio >= paper.ratio * (1 - 1e-12)
    assert safest.attack_log >= max(paper.attack_log, most.attack_log) - 1e-9


@given_values(st.integers(1, 12), st.data())
def test_more_edges_never_hurt(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(n, n * n))
    if m < n * n:
        fewer, more = design(n, m, min_part=1), design(n, m + 1, min_part=1)

        assert fewer.count <= more.count


# ---- proofs


@pytest.mark.parametrize(
    ("n", "m", "words"),
    [
        (9, 27, "attains the bound"),
        (10**6, 10**7, "attains the bound"),
        (10, 15, "two edges a user"),
        (10, 95, "missing edges"),
        (7, 30, "every graph"),
        (8, 24, "every graph"),
        (30, 31, "two edges a user"),
    ],
)
def test_what_is_proven_says_why(n: int, m: int, words: str) -> None:
    answer = design(n, m, min_part=1)

    assert answer.proof.startswith("optimal: ")
    assert words in answer.proof


def test_what_is_not_proven_says_so() -> None:
    assert design(10, 40).proof == "best of the families searched; not proven"
    assert "proven bounds" in design(1000, 600_000).proof
    assert "optimal" not in design(9, 27, objective="after_attack").proof


# ---- large ones


@given_values(st.integers(1, 10**9), st.floats(0, 1), st.sampled_from([1, 2, 3, 40]))
@settings(max_examples=12)
def test_any_size_is_answered(n: int, share: float, least: int) -> None:
    m = max(n, min(n * n, round(n ** (1 + share))))
    if least > 2 and (least > n or m < 2 * n):
        return
    for objective in ("matchings", "after_attack"):
        answer = design(n, m, min_part=least, objective=objective)

        assert sum(part.size * part.number for part in answer.parts) == n
        assert answer.spare + sum(part.edges * part.number for part in answer.parts) == m
        assert answer.ratio <= 1 + 1e-6
        assert answer.low <= answer.high * (1 + 1e-12) + 1e-12
        assert answer.smallest_group >= (1 if m < 2 * n or n == 1 else least)
        loss = answer.bound - answer.log
        assert -answer.ratio_log == pytest.approx(loss, rel=1e-9, abs=1e-9 + 1e-14 * answer.bound)


def test_large_designs_beat_the_paper() -> None:
    """Splitting off complete parts leaves a small rest, which is searched."""
    for n, m in [(24 + 5 * 10**6, 120 + 25 * 10**6), (10**7, 10**8 + 12_345)]:
        assert design(n, m).ratio > design(n, m, method="paper").ratio * 1.1


def test_ratio_of_a_large_design_is_that_of_its_small_rest() -> None:
    small, large = design(24, 120), design(24 + 5 * 10**6, 120 + 25 * 10**6)

    assert large.ratio == pytest.approx(small.ratio, rel=1e-12)
