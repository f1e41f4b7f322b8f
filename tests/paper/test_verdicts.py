"""Verdicts follow from what is computed: other drawings, formulas or counts change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonymatch.graph.families import partition
from anonymatch.theory.claims import (
    Verdict,
    appendices,
    asymptotics,
    construction,
    exposing,
    figure_claims,
    foundations,
    named_graphs,
    optimality,
)
from anonymatch.theory.claims.appendices import Proof
from anonymatch.theory.claims.claim import all_questions
from anonymatch.theory.claims.named_graphs import PartitionGraph, compare, degree_sequences, precise
from anonymatch.theory.claims.pictures import PRINTED, Ellipse
from anonymatch.theory.claims.question import ClaimContext, judge, plain, trial

ASK = {question.id: question.ask for question in all_questions()}


def verdict(name: str, run: ClaimContext | None = None) -> Verdict:
    return ASK[name](ClaimContext() if run is None else run).verdict


def test_the_statement_as_written_comes_first() -> None:
    assert judge(True) is Verdict.HOLDS
    assert judge(True, corrected=True, conditional=True) is Verdict.HOLDS
    assert judge(False, corrected=True, conditional=True) is Verdict.MISPRINT
    assert judge(False, conditional=True) is Verdict.CONDITION
    assert judge(False) is Verdict.FAILS


def test_a_statement_that_was_tried_on_nothing_does_not_hold() -> None:
    assert not trial([], lambda: True).holds
    assert trial([(1, 2), (2, 1)], lambda a, b: a < b).failed == ((2, 1),)


# ---- drawings

Change = tuple[str, str, Any, Verdict]

CHANGES: list[Change] = [
    ("figure-1", "points", {"A": (0, 0), "B": (2, 0), "C": (2, -2), "D": (0, -2)}, Verdict.HOLDS),
    (
        "figure-1",
        "separate",
        {name: Ellipse(1, -1, 3, 3) for name in PRINTED.separate},
        Verdict.FAILS,
    ),
    ("figure-2", "neighbourhood_ring", PRINTED.neighbourhood_ring[:-1], Verdict.FAILS),
    ("figure-3", "relays", PRINTED.relays[:-1], Verdict.FAILS),
    ("figure-4", "groups_equal", PRINTED.neighbourhood_groups, Verdict.FAILS),
    (
        "figure-5",
        "two_regular",
        [line for line in PRINTED.two_regular if line != (1, 1)],
        Verdict.HOLDS,
    ),
    ("figure-6", "permutation_labels", PRINTED.permutation_labels[::-1], Verdict.FAILS),
    ("figure-7", "matrix_rows", PRINTED.matrix_rows[::-1], Verdict.FAILS),
    ("figures-8-9", "exposed_after", PRINTED.exposed_after[:-1], Verdict.FAILS),
    ("figures-8-9", "g_k", [*PRINTED.g_k, (0, 0)], Verdict.FAILS),
]


@pytest.mark.parametrize(("name", "what", "other", "expected"), CHANGES)
def test_another_drawing_has_another_verdict(
    name: str, what: str, other: Any, expected: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_claims, "PRINTED", replace(PRINTED, **{what: other}))

    assert verdict(name) is expected


# ---- formulas

Patch = tuple[str, object, dict[str, object], Verdict]

PATCHES: list[Patch] = [
    (
        "equity-difference",
        construction,
        {"paper_difference": construction.corrected_difference},
        Verdict.HOLDS,
    ),
    (
        "equity-difference",
        construction,
        {"corrected_difference": construction.paper_difference},
        Verdict.FAILS,
    ),
    ("two-sizes", construction, {"two_sizes": lambda n, k, d: n - k * d < d}, Verdict.HOLDS),
    ("crown-count", construction, {"series_of_crown": lambda k: k}, Verdict.FAILS),
    ("theorem-limit", asymptotics, {"FAMILIES": {"b = 1": lambda k: 1}}, Verdict.HOLDS),
    ("theorem-limit", asymptotics, {"FAMILIES": {"b = k - 1": lambda k: k - 1}}, Verdict.FAILS),
    ("theorem-limit", asymptotics, {"exact_ratio": lambda k, a, b: 1.0}, Verdict.FAILS),
    (
        "leftover-permutations",
        asymptotics,
        {"displayed_terms": lambda k, r: [Fraction(1)]},
        Verdict.FAILS,
    ),
    (
        "stirling",
        asymptotics,
        {
            "printed_expectation": asymptotics.corrected_expectation,
            "printed_bound": asymptotics.corrected_bound,
        },
        Verdict.HOLDS,
    ),
    ("stirling", asymptotics, {"below_bound": lambda n, k: k < 3}, Verdict.FAILS),
    ("random-expectation", asymptotics, {"expectation": lambda n, p: 1}, Verdict.FAILS),
    ("random-degrees", asymptotics, {"near_share": lambda n, k: 0.5}, Verdict.FAILS),
    (
        "random-degrees",
        asymptotics,
        {"near_share": lambda n, k: 1.0, "nobody_isolated": lambda n, k: 1.0},
        Verdict.HOLDS,
    ),
    (
        "lemma-deanonymisation",
        optimality,
        {"regular_duels": lambda: [named_graphs.Duel("K44 + 2 K22", partition([4, 2, 2]))]},
        Verdict.HOLDS,
    ),
    ("remaining-optimal", exposing, {"attains_bound": lambda graph: False}, Verdict.FAILS),
    ("lemma-equity", construction, {"not_larger": lambda degrees: False}, Verdict.FAILS),
    ("definition-bipartite", foundations, {"odd_cycle": lambda e, n: False}, Verdict.FAILS),
    ("theorem-permanent", foundations, {"edge_sets": lambda graph: 1}, Verdict.FAILS),
    ("appendix-power-mean", appendices, {"power_mean": lambda *_: True}, Verdict.HOLDS),
    ("appendix-product", appendices, {"by_entries": lambda proof: -1}, Verdict.FAILS),
    ("appendix-induction", appendices, {"inductive_bound": lambda *_: (1, 1)}, Verdict.FAILS),
    ("appendix-exponent", appendices, {"collects": lambda *_: False}, Verdict.FAILS),
    ("many-steps", exposing, {"beaten": lambda *_: []}, Verdict.HOLDS),
    ("removing-edges", optimality, {"bound_is_attained": lambda *_: True}, Verdict.HOLDS),
]


@pytest.mark.parametrize(
    ("name", "module", "other", "expected"), PATCHES, ids=[patch[0] for patch in PATCHES]
)
def test_other_formulas_have_another_verdict(
    name: str,
    module: object,
    other: dict[str, object],
    expected: Verdict,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for attribute, value in other.items():
        monkeypatch.setattr(module, attribute, value)

    assert verdict(name) is expected


# ---- counts


def tampered(change: Callable[[ClaimContext], None]) -> ClaimContext:
    run = ClaimContext()
    run.prepare("play")
    change(run)
    return run


def one_more(run: ClaimContext) -> None:
    finding = run.survey(4)
    finding.matchings[int(finding.matchings.argmax())] += 1


def uneven(run: ClaimContext) -> None:
    finding = run.survey(4)
    finding.through[int(finding.matchings.argmax())] = [[24, 0, 0, 0]] * 4


def better_later(run: ClaimContext) -> None:
    run.play(4).optimal[2, run.play(4).edges == 8] *= 2


def isolated_are_left_out(run: ClaimContext) -> None:
    for n in range(1, 6):
        finding = run.survey(n)
        some = (finding.degrees > 0).all(axis=0)
        for name in ("keys", "edges", "matchings", "through"):
            object.__setattr__(finding, name, getattr(finding, name)[some])


@pytest.mark.grid
@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("theorem-bregman", one_more, Verdict.FAILS),
        ("theorem-bregman", isolated_are_left_out, Verdict.HOLDS),
        ("lemma-partition", one_more, Verdict.FAILS),
        ("theorem-permanent", one_more, Verdict.FAILS),
        ("lemma-log", uneven, Verdict.FAILS),
        ("expected-remaining", one_more, Verdict.FAILS),
        ("many-steps-partitions", better_later, Verdict.FAILS),
    ],
)
def test_wrong_counts_have_another_verdict(
    name: str, change: Callable[[ClaimContext], None], expected: Verdict
) -> None:
    assert verdict(name, tampered(change)) is expected


# ---- what comparisons say of right and wrong inputs


def test_formulas_are_told_apart_in_the_last_digits() -> None:
    def nearly(a: Decimal) -> Decimal:
        return construction.true_difference(a) + Decimal(10) ** -39

    assert construction.same_to_all_digits(
        construction.corrected_difference, construction.true_difference, 7
    )
    assert not construction.same_to_all_digits(nearly, construction.true_difference, 7)
    assert float(precise(construction.true_difference, 2)) == pytest.approx(-0.0959, abs=1e-4)


def test_roots_are_compared_exactly() -> None:
    assert compare((2**60, 60), (2, 1)) == 0
    assert compare((2**60 + 1, 60), (2, 1)) == 1
    assert compare((2**60 - 1, 60), (2, 1)) == -1


def test_degree_sequences_are_all_there_are() -> None:
    falling = {
        tuple(sorted(degrees, reverse=True))
        for degrees in np.ndindex(5, 5, 5)
        if sum(degrees) == 6 and min(degrees) >= 1
    }

    assert set(degree_sequences(3, 6, 4)) == falling


def test_lines_of_the_proof_on_single_matrices() -> None:
    small, full = Proof.of(("10", "11")), Proof.of(("111", "111", "111"))

    assert not appendices.power_mean(small, 0, everywhere=True)
    assert appendices.power_mean(small, 0, everywhere=False)
    assert appendices.by_entries(full) == appendices.by_permutations(full) == 2**18
    assert not appendices.induction_holds(full, 0, (0, 1, 2), printed=True)
    assert appendices.induction_holds(full, 0, (0, 1, 2), printed=False)
    assert appendices.collects(5, 3, Fraction(1))
    assert not appendices.collects(5, 3, Fraction(2, 3) - 1)


def test_bounds_between_whole_numbers_of_edges_lie_between() -> None:
    low, middle, high = (optimality.log_bound(5, m)[0] for m in (10, 12, 15))
    value, root = optimality.log_bound(5, 12)[1]

    assert low < middle < high
    assert np.log(float(value)) / root == pytest.approx(middle)


def test_a_graph_is_over_the_bound_only_if_every_user_is() -> None:
    assert optimality._against([6, 6, 6, 6], (6, 1)) == 0
    assert optimality._against([6, 6, 6, 6], (5, 1)) == 1
    assert optimality._against([6, 6, 6, 6], (37, 2)) == -1


@pytest.mark.parametrize(("n", "m"), [(5, 10), (7, 21), (7, 22), (6, 20), (8, 24)])
def test_figures_of_partition_graphs_are_those_of_their_graphs(n: int, m: int) -> None:
    h = PartitionGraph(n, m)

    assert h.matchings == named_graphs.matchings(h.graph)
    assert h.attack == named_graphs.attack_value(h.graph)


def test_distances_must_shrink_for_a_limit() -> None:
    assert asymptotics.tends_to([0.5, 0.9, 0.9999], 1.0)
    assert not asymptotics.tends_to([0.9999, 0.99999, 0.9], 1.0)
    assert not asymptotics.tends_to([0.9, 0.99], 1.0)


def test_values_for_json_keep_their_digits() -> None:
    assert plain({"a": np.int64(3), 2: [Fraction(1, 3), Fraction(4), np.float64(0.5)]}) == {
        "a": 3,
        "2": ["1/3", 4, 0.5],
    }
    assert plain(10**40) == "1" + "0" * 40
    assert plain(float("-inf")) is None
