"""Every claim: its verdict, alone and with the others, and the numbers that it must find."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

from anonymatch.counting.reference import permanent
from anonymatch.graph.graph import Graph
from anonymatch.theory.claims import Checks, Claim, Verdict, check

HOLDS, MISPRINT, CONDITION, FAILS = Verdict

EXPECTED = {
    "figure-1": MISPRINT,
    "figure-2": HOLDS,
    "figure-3": HOLDS,
    "figure-4": CONDITION,
    "figure-5": MISPRINT,
    "figure-6": HOLDS,
    "figure-7": HOLDS,
    "figures-8-9": HOLDS,
    "definition-bipartite": MISPRINT,
    "theorem-permanent": HOLDS,
    "theorem-bregman": CONDITION,
    "lemma-partition": HOLDS,
    "two-sizes": MISPRINT,
    "removing-edges": FAILS,
    "lemma-equity": CONDITION,
    "equity-difference": MISPRINT,
    "bound-exponent": MISPRINT,
    "regular-degrees": MISPRINT,
    "complete-factor": MISPRINT,
    "construction-copies": CONDITION,
    "crown-count": HOLDS,
    "crown-limit": MISPRINT,
    "theorem-limit": CONDITION,
    "highest-order": FAILS,
    "leftover-bound": HOLDS,
    "leftover-permutations": HOLDS,
    "leftover-limit": MISPRINT,
    "spare-range": CONDITION,
    "spare-bound": MISPRINT,
    "spare-order": FAILS,
    "equal-sets": FAILS,
    "random-expectation": HOLDS,
    "stirling": MISPRINT,
    "random-degrees": CONDITION,
    "expected-remaining": HOLDS,
    "remaining-edges": MISPRINT,
    "remaining-optimal": CONDITION,
    "lemma-deanonymisation": FAILS,
    "conjecture": FAILS,
    "many-steps": FAILS,
    "rescaled-metric": CONDITION,
    "appendix-power-mean": MISPRINT,
    "appendix-product": MISPRINT,
    "appendix-induction": MISPRINT,
    "appendix-exponent": MISPRINT,
    "appendix-fixed-points": HOLDS,
    "lemma-log": HOLDS,
    "many-steps-partitions": HOLDS,
}
KINDS = {"theorem", "lemma", "corollary", "figure", "formula", "conjecture", "definition"} | {
    "appendix",
    "text",
}


@pytest.fixture(scope="module")
def checks() -> Checks:
    return check()


def rows_of(claim: Claim, text: str) -> list[list[Any]]:
    """The table whose text begins like this."""
    (finding,) = (e.data["rows"] for e in claim.evidence if e.text.startswith(text))
    return list(finding)


def test_every_claim_has_the_expected_verdict(checks: Checks) -> None:
    assert {claim.id: claim.verdict for claim in checks} == EXPECTED


@pytest.mark.grid(quick=5)
@pytest.mark.parametrize("name", EXPECTED)
def test_each_claim_can_be_checked_alone(name: str, checks: Checks) -> None:
    (claim,) = check(name)

    assert claim.verdict is EXPECTED[name]
    assert claim.finding == checks[name].finding


def test_claims_say_everything_in_plain_words(checks: Checks) -> None:
    assert [claim.number for claim in checks] == list(range(1, 49))
    for claim in checks:
        assert claim.kind in KINDS
        assert claim.section
        assert claim.searched
        assert claim.statement.endswith(".")
        assert claim.finding.endswith(".")
        assert any(letter.isdigit() for letter in claim.finding)
        assert (claim.corrected is None) == (claim.verdict is HOLDS)
        if claim.verdict is FAILS:
            assert claim.counterexample is not None
        if claim.counterexample is not None:
            assert Graph.from_rows(claim.counterexample).n_users == len(claim.counterexample)


def test_evidence_is_fit_for_json(checks: Checks) -> None:
    again = json.loads(json.dumps(checks.to_dict(), allow_nan=False))

    assert again == checks.to_dict()
    for claim in checks:
        for evidence in claim.evidence:
            assert evidence.text
            for series in evidence.data.get("series", ()):
                assert len(series["x"]) == len(series["y"]) > 1
            if "columns" in evidence.data:
                width = len(evidence.data["columns"])
                assert all(len(row) == width for row in evidence.data["rows"])


def test_the_limit_is_tabulated_for_three_kinds_of_b(checks: Checks) -> None:
    series = {line["name"]: line for line in checks["theorem-limit"].evidence[0].data["series"]}
    at = {name: dict(zip(line["x"], line["y"], strict=True)) for name, line in series.items()}

    assert at["b = 1"][10] == pytest.approx(0.894, abs=5e-4)
    assert at["b = 1"][100] == pytest.approx(0.978, abs=5e-4)
    assert at["b = k / 2"][100] == pytest.approx(0.328, abs=5e-4)
    assert at["b = k / 2"][10**6] == pytest.approx(0.033, abs=5e-4)
    assert at["b = k - 1"][10] == pytest.approx(0.363, abs=5e-4)
    assert at["b = k - 1"][1000] == pytest.approx(0.0344, abs=5e-5)


def test_the_lemma_is_refuted_with_484_against_492(checks: Checks) -> None:
    claim = checks["lemma-deanonymisation"]
    table = {(row[0], row[7]): row for row in rows_of(claim, "Graphs against H")}

    assert table[10, "K44 + X6"][2:7] == ["B", 1936, 484, 1968, 492]
    assert table[15, "2 K44 + K22 + (K55 - e)"][4:7:2] == [21296, 22464]
    assert claim.counterexample is not None
    assert len(claim.counterexample) == 10
    assert sum(row.count("1") for row in claim.counterexample) == 40


def test_the_conjecture_is_refuted_where_it_is_known_to_fail(checks: Checks) -> None:
    finding: dict[Any, Any] = {
        (row[0], row[1]): (Fraction(row[4]), Fraction(row[6]))
        for row in rows_of(checks["conjecture"], "Graphs against H")
    }

    assert finding == {
        (4, 14): (Fraction(25, 7), 4),
        (5, 23): (Fraction(206, 13), 16),
        (6, 33): (Fraction(5090, 71), 72),
        (7, 22): (Fraction(186, 11), 18),
        (7, 23): (Fraction(150, 7), 24),
        (10, 39): (363, 378),
        (14, 55): (8712, 9072),
    }
    beaten = rows_of(checks["conjecture"], "Where H is beaten")
    assert [row[:2] for row in beaten] == [[4, 14], [5, 23]]


def test_later_exposures_refute_the_extension_to_many_steps(checks: Checks) -> None:
    claim = checks["many-steps"]
    four = rows_of(claim, "Matchings that remain after 0, 1, ... de-anonymised users, n = 4")
    five = rows_of(claim, "Matchings that remain after 0, 1, ... de-anonymised users, n = 5")

    assert four[0] == ["H", "optimal", 9, 3, 1, 1]
    assert four[2] == ["1011/1011/0111/0111", "optimal", 8, 3, "5/4", 1]
    assert [row[4] for row in five] == ["31/11", "31/11", "10/3", "10/3", "61/20", "18/5"]
    assert claim.counterexample is not None
    assert permanent([[int(bit) for bit in row] for row in claim.counterexample]) == 8


def test_best_graphs_that_expose_a_user_are_found(checks: Checks) -> None:
    rows = rows_of(checks["equal-sets"], "The only best graph")

    assert [row[:3] for row in rows] == [[4, 10, 6], [5, 16, 18], [5, 17, 24]]


def test_larger_graphs_have_more_matchings_than_h(checks: Checks) -> None:
    rows = rows_of(checks["highest-order"], "Graphs against H")

    assert {(row[0], row[3], row[5]) for row in rows} >= {
        (8, 81, 96),
        (10, 1936, 1968),
        (15, 85184, 110592),
        (24, 4931550625, 7464960000),
    }
    (curve,) = (e.data["series"][0] for e in checks["highest-order"].evidence if "series" in e.data)
    ratio = dict(zip(curve["x"], curve["y"], strict=True))
    assert ratio[5] == pytest.approx(1.009, abs=5e-4)
    assert ratio[10] == pytest.approx(1.247, abs=5e-4)
    assert ratio[1000] == pytest.approx(math.sqrt(2000 * math.pi) / math.exp(2), rel=0.01)


def test_stirling_is_off_by_a_square(checks: Checks) -> None:
    (row, *_) = rows_of(checks["stirling"], "ln(expectation / bound)")

    assert [round(value, 2) for value in row[2:]] == [-31.58, -31.25, -62.5]
