"""Entropy over who wrote to whom, against a list of all matchings."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import Matrix, graph_of, weighted_matrices

import anonymatch as am
from anonymatch.counting.measures.messages import MessageClasses
from anonymatch.counting.measures.summary import metrics
from anonymatch.counting.reference import matchings

FACTS: list[dict[str, Any]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "measures.json").read_text()
)["messages"]


def classes_by_definition(
    matrix: Matrix, senders: list[int], receivers: list[int]
) -> Counter[tuple[tuple[int, int], ...]]:
    classes: Counter[tuple[tuple[int, int], ...]] = Counter()
    for matching in matchings(graph_of(matrix)):
        pairs = tuple(sorted((senders[i], receivers[j]) for i, j in enumerate(matching)))
        classes[pairs] += math.prod(Fraction(matrix[i][j]) for i, j in enumerate(matching))  # type: ignore[assignment]
    return classes


def bits(classes: Counter[Any]) -> float:
    total = sum(classes.values())
    return -math.fsum(float(w / total) * math.log2(w / total) for w in classes.values())


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["id"])
def test_known_classes(fact: dict[str, Any]) -> None:
    parties = list(fact["senders"]), list(fact["receivers"])
    figures = metrics(am.Graph.from_rows(fact["rows"]), messages=parties)

    assert isinstance(figures.messages, MessageClasses)
    assert [sorted(group) for group in figures.messages.groups] == [
        sorted(g) for g in fact["groups"]
    ]
    assert figures.message_bits == pytest.approx(fact["bits"], abs=5e-5)
    assert figures.message_share == pytest.approx(fact["share"], abs=5e-5)


@given(weighted_matrices(users=(1, 6), spare=2, matched=True), st.data())
def test_agrees_with_the_list_of_all_matchings(matrix: Matrix, data: st.DataObject) -> None:
    parties = st.integers(0, data.draw(st.integers(0, 4)))
    senders = [data.draw(parties) for _ in matrix]
    receivers = [data.draw(parties) for _ in matrix[0]]
    figures = metrics(graph_of(matrix), messages=(senders, receivers))

    expected = bits(classes_by_definition(matrix, senders, receivers))
    assert figures.message_bits == pytest.approx(expected, abs=1e-9)
    low, high = figures.intervals["message_bits"]
    assert low - 1e-12 <= expected <= high + 1e-12


def test_classes_of_one_message_a_user_are_matchings() -> None:
    graph = am.random_density(16, 0.4, seed=1)
    figures = metrics(graph, messages=(range(16), range(16)))

    assert figures.messages is not None
    assert figures.messages.groups == ()
    assert figures.message_share == pytest.approx(figures.degree)


def test_blocks_that_share_no_pair_are_independent() -> None:
    """200 batches among other people each: exact although there are 3^200 classes."""
    batches = 200
    senders = [f"s{k}{who}" for k in range(batches) for who in "AABB"]
    receivers = [f"r{k}{who}" for k in range(batches) for who in "XXYY"]
    figures = metrics(am.partition([4] * batches), messages=(senders, receivers))

    assert figures.message_bits == pytest.approx(batches * 1.2516291673878228)


def test_many_batches_of_the_same_people_add_up() -> None:
    """Ann wrote to X in k of n batches of two: a binomial distribution."""
    batches = 60
    figures = metrics(
        am.partition([2] * batches), messages=(list("AB") * batches, list("XY") * batches)
    )

    probabilities = [math.comb(batches, k) / 2**batches for k in range(batches + 1)]
    assert figures.message_bits == pytest.approx(
        -math.fsum(p * math.log2(p) for p in probabilities)
    )


def test_a_large_full_batch_of_few_people_is_a_table_of_counts() -> None:
    """Two senders and two receivers of 30 each: a hypergeometric distribution."""
    figures = metrics(am.complete(60), messages=(["A", "B"] * 30, ["X", "Y"] * 30))

    probabilities = [math.comb(30, k) ** 2 / math.comb(60, 30) for k in range(31)]
    assert figures.message_bits == pytest.approx(
        -math.fsum(p * math.log2(p) for p in probabilities)
    )


def test_the_order_of_messages_does_not_matter() -> None:
    rng = random.Random(3)
    matrix: Matrix = [[int(abs(i - j) < 4) for j in range(10)] for i in range(10)]
    senders, receivers = [i % 3 for i in range(10)], [j % 4 for j in range(10)]
    rows, columns = rng.sample(range(10), 10), rng.sample(range(10), 10)
    moved: Matrix = [[matrix[i][j] for j in columns] for i in rows]
    one = metrics(graph_of(matrix), messages=(senders, receivers))
    other = metrics(
        graph_of(moved), messages=([senders[i] for i in rows], [receivers[j] for j in columns])
    )

    assert one.message_bits == pytest.approx(other.message_bits, rel=1e-12)


def test_parties_may_be_given_by_name() -> None:
    pairs = [(m, out) for m in ("m1", "m2") for out in ("o1", "o2")]
    figures = metrics(
        am.Graph.from_edges(pairs),
        messages=({"m2": "ann", "m1": "ann"}, {"o1": "x", "o2": "y", "else": "z"}),
    )

    assert figures.message_bits == 0.0


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ((["A"], ["X", "Y"]), "1 senders are given for 2 messages in"),
        ((["A", "B"], {0: "X"}), "receivers lack 1"),
        (("AB", ["X", "Y"]), "senders must be a mapping or a list"),
        ((["A", "B"],), "messages must be a pair"),
        (([["A"], ["B"]], ["X", "Y"]), "senders must be names"),
    ],
)
def test_bad_parties_are_named(messages: Any, says: str) -> None:
    with pytest.raises(am.InputError, match=says):
        metrics(am.complete(2), messages=messages)


def test_cost_is_predicted_and_refused_beyond_the_budget() -> None:
    graph = am.random_density(40, 0.5, seed=2)
    with pytest.raises(am.BudgetError, match="classes of several messages") as refused:
        metrics(graph, messages=([i % 20 for i in range(40)],) * 2, budget=3.0)

    assert refused.value.seconds > 3.0


def test_progress_covers_counts_and_classes() -> None:
    steps: list[tuple[float, float]] = []
    metrics(
        am.random_density(14, 0.5, seed=0),
        messages=([i % 3 for i in range(14)], [j % 3 for j in range(14)]),
        progress=lambda done, total: steps.append((done, total)),
    )

    assert steps
    assert all(0 <= done <= total * (1 + 1e-9) for done, total in steps)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
