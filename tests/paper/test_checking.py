"""check() as callers see it: choices, errors, progress, and what a run shares."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import anonymatch.theory.claims.question
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.running.budget import Budget
from anonymatch.theory.claims import Verdict, check, questions
from anonymatch.theory.claims.question import ClaimContext
from anonymatch.theory.claims.small_graphs import Search, survey


def test_claims_come_in_the_order_of_the_paper() -> None:
    finding = check(["stirling", "figure-6", "figure-7"])

    assert finding.ids == ("figure-6", "figure-7", "stirling")
    assert finding.counts == {
        "holds": 2,
        "misprint": 1,
        "holds under a condition": 0,
        "fails": 0,
    }
    assert str(finding).startswith("3 statements: 2 hold, 1 misprint")


def test_claims_are_listed_with_what_the_paper_says() -> None:
    listed = questions()

    assert len(listed) == 48
    assert "K_{k,k}" in listed["construction-copies"]


def test_an_unknown_claim_is_refused_with_those_that_may_be_meant() -> None:
    with pytest.raises(InputError, match="did you mean lemma-equity"):
        check("lemma-equality")
    with pytest.raises(InputError, match="known ones: figure-1, figure-2"):
        check(["figure-1", "qqqq"])
    with pytest.raises(InputError, match="no claim 7"):
        check([7])  # type: ignore[list-item]
    with pytest.raises(InputError, match="ids of claims"):
        check(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no claim 'figure-3' was checked"):
        check("figure-2")["figure-3"]


def test_the_budget_is_held_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise RuntimeError("started")

    monkeypatch.setattr(ClaimContext, "prepare", never)
    with pytest.raises(BudgetError, match="checking these claims"):
        check(thorough=True, budget=1)
    with pytest.raises(BudgetError):
        check("theorem-bregman", thorough=True, budget=Budget(memory=1e6))
    with pytest.raises(RuntimeError, match="started"):
        check("theorem-bregman", budget=5)


def test_progress_is_in_predicted_seconds_and_ends_at_the_total() -> None:
    observed: list[tuple[float, float]] = []
    with ThreadPoolExecutor(2) as executor:
        finding = check(
            ["many-steps", "figure-2"],
            executor=executor,
            progress=lambda done, total: observed.append((done, total)),
        )

    done = [step[0] for step in observed]
    assert done == sorted(done)
    assert observed[-1][0] == pytest.approx(observed[-1][1])
    assert len({total for _, total in observed}) == 1
    assert finding["many-steps"].verdict is Verdict.FAILS


def test_a_claim_without_searches_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise RuntimeError("searched")

    monkeypatch.setattr(anonymatch.theory.claims.question, "survey", never)

    assert check("figure-2", thorough=True).thorough
    with pytest.raises(RuntimeError, match="searched"):
        check("equal-sets")


def test_the_search_is_done_once_for_all_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(n: int, **keywords: object) -> object:
        sizes.append(n)
        return survey(n, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(anonymatch.theory.claims.question, "survey", counted)
    check(["theorem-bregman", "equal-sets", "many-steps"])

    assert sizes == [1, 2, 3, 4, 5]


def test_a_thorough_run_can_be_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six users take long: here the largest search is one of four."""
    monkeypatch.setattr(anonymatch.theory.claims.question, "SEARCH", Search(largest=4))
    first = check("equal-sets", thorough=True, folder=tmp_path)

    assert "up to 4 users (362 up to order)" in first["equal-sets"].searched
    assert (tmp_path / "classes-4-users-4-behaviours.npz").exists()
    assert check("equal-sets", thorough=True, folder=tmp_path)["equal-sets"].finding == (
        first["equal-sets"].finding
    )


def test_a_folder_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        check("figure-2", folder=tmp_path / "none")
