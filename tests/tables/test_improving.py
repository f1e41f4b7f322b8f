"""What to change in a release: targets are reached, and cells hold what they held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.running import Budget
from anonymatch.tables import Release, generalise, parse_target, write_generalised
from anonymatch.tables.joining import JoinedClasses
from anonymatch.tables.notions import ReleaseFacts


def audit(folder: Path, people: dict[str, Any], rows: dict[str, Any], **how: Any) -> am.TableAudit:
    pl.DataFrame(people).cast(pl.String).write_csv(folder / "original.csv")
    pl.DataFrame(rows).cast(pl.String).write_csv(folder / "released.csv")
    return am.audit_table(folder / "released.csv", original=folder / "original.csv", **how)


def recoded(folder: Path, number: int, seed: int = 1) -> Release:
    """Rows at three levels of detail."""
    rng = np.random.default_rng(seed)
    ages, zips = rng.integers(20, 80, number), rng.integers(1000, 1040, number)
    levels = rng.choice(3, number, p=[0.4, 0.4, 0.2])
    cells = [
        (f"{age}", f"{zip_}") if level == 0
        else (f"{age // 10}0-{age // 10}9", f"{zip_ // 10}*") if level == 1
        else ("*", "10**")
        for age, zip_, level in zip(ages.tolist(), zips.tolist(), levels.tolist(), strict=True)
    ]  # fmt: skip
    ills = rng.choice(["flu", "cold", "hiv"], number, p=[0.5, 0.3, 0.2])
    result = audit(
        folder,
        {"name": [f"p{k}" for k in range(number)], "age": ages, "zip": zips},
        {"age": [a for a, _ in cells], "zip": [z for _, z in cells], "illness": ills},
    )
    assert result.observation.release is not None
    return result.observation.release


@pytest.mark.grid
@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("k-anonymity", 5),
        ("(1,k)", 40),
        ("(k,1)", 8),
        ("(k,k)", 12),
        ("global (1,k)", 30),
        ("prosecutor risk", 0.15),
        ("journalist risk", 0.1),
        ("marketer risk", 0.03),
        ("l-diversity", 3),
        ("entropy l-diversity", 2.0),
        ("recursive c", 3.0),
        ("t-closeness", 0.25),
    ],
)
@pytest.mark.parametrize("suppress", [0, 15])
def test_what_was_reached_is_what_an_audit_of_the_changed_table_says(
    tmp_path: Path, key: str, target: float, suppress: int
) -> None:
    release = recoded(tmp_path, 120)
    found = generalise(release, {key: target}, suppress=suppress, budget=Budget.of(30))
    write_generalised(found, tmp_path / "released.csv", tmp_path / "better.csv")
    again = am.audit(tmp_path / "better.csv", original=tmp_path / "original.csv")

    assert found.reached
    assert len(found.left_out) <= suppress
    assert again.notions[key] == pytest.approx(found.after[key])
    value = again.notions[key]
    assert value is not None
    assert (
        value <= target + 1e-9
        if "risk" in key or key in ("recursive c", "t-closeness")
        else (value >= target - 1e-9)
    )
    assert again.table is not None
    lost = len(found.left_out) / release.n_rows
    after = again.table.utility.loss * (1 - lost) + lost
    assert after == pytest.approx(found.loss)
    assert sum(step.loss for step in found.steps) == pytest.approx(found.loss - found.loss_before)


def test_thousands_of_classes_are_joined_with_what_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.tables import joining

    release = recoded(tmp_path, 400)
    whole = generalise(release, {"k-anonymity": 4}, budget=Budget.of(30))
    monkeypatch.setattr(joining, "_ALL", 10)
    near = generalise(release, {"k-anonymity": 4}, budget=Budget.of(30))

    assert near.reached
    assert near.loss < whole.loss + 0.05


def test_greedy_steps_come_near_to_the_best_way_of_all(tmp_path: Path) -> None:
    gaps = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        ages = rng.choice([21, 25, 33, 38, 52, 57], 18)
        release = audit(
            tmp_path, {"age": ages}, {"age": [f"{age}" for age in ages]}, quasi_identifiers="age"
        ).observation.release
        assert release is not None
        found = generalise(release, {"k-anonymity": 4}, budget=Budget.of(30))
        assert found.reached
        assert found.optimum is not None
        assert found.optimum <= found.loss + 1e-12
        gaps.append(found.loss - found.optimum)

    assert float(np.mean(gaps)) < 0.1


def test_values_that_no_cell_had_lie_in_the_cells_that_hold_them(tmp_path: Path) -> None:
    """People outside of a release of plain values come in again where ranges hold them."""
    release = audit(
        tmp_path,
        {"age": [20, 21, 22, 23, 30]},
        {"age": ["20", "23", "30"]},
        quasi_identifiers="age",
    ).observation.release
    assert release is not None
    found = generalise(release, {"(k,1)": 4}, budget=Budget.of(5))

    assert found.release.people_that_fit.min() >= 4


def test_a_target_is_reached_by_cells_that_hold_what_they_held(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    ages = rng.integers(20, 60, 30)
    result = audit(
        tmp_path, {"age": ages}, {"age": [f"{age // 5 * 5}-{age // 5 * 5 + 4}" for age in ages]}
    )
    release = result.observation.release
    assert release is not None
    found = generalise(release, {"k-anonymity": 6}, budget=Budget.of(20))

    assert found.reached
    assert (found.after["k-anonymity"] or 0) >= 6
    old, new = release.columns[0], found.release.columns[0]
    before = old.between(np.arange(len(old.values)), old.cell_of)
    after = new.between(np.arange(len(new.values)), new.cell_of)
    assert (after >= before).all()
    assert [step.rows for step in found.steps]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (["1000", "1010", "2000"], ["{1000,2000}", "1…", "{1000,2000}"]),
        (["22", "25", "abc"], ["20-29", "20-29", "abc"]),
        (["Smith", "Snow", "Smyth"], ["Sm...", "Sn...", "Sm..."]),
        (
            ["2020-01-03", "2020-02-07", "2020-01-30"],
            ["2020-01", "2020-02-05 to 2020-02-09", "2020-01"],
        ),
    ],
)
def test_joined_cells_hold_what_both_held_whatever_they_say(
    tmp_path: Path, values: list[str], cells: list[str]
) -> None:
    result = audit(tmp_path, {"x": values}, {"x": cells}, quasi_identifiers="x")
    release = result.observation.release
    assert release is not None
    found = generalise(release, {"k-anonymity": 3}, budget=Budget.of(5))
    write_generalised(found, tmp_path / "released.csv", tmp_path / "better.csv")
    again = am.audit(
        tmp_path / "better.csv", original=tmp_path / "original.csv", quasi_identifiers="x"
    )

    assert found.reached
    assert again.notions["k-anonymity"] == found.after["k-anonymity"] == 3


def test_a_changed_table_has_the_separator_of_the_released_one(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name;age\na;21\nb;22\n")
    (tmp_path / "released.csv").write_text('age;illness\n21;"flu; cold"\n22;cold\n')
    found = am.audit(tmp_path / "released.csv", original=tmp_path / "people.csv")
    assert found.observation.release is not None
    changed = generalise(found.observation.release, {"k-anonymity": 2.0}, budget=Budget())
    write_generalised(changed, tmp_path / "released.csv", tmp_path / "better.csv")

    text = (tmp_path / "better.csv").read_text()
    assert text == 'age;illness\n21-22;"flu; cold"\n21-22;cold\n'


def test_codes_are_joined_to_what_both_begin_with(tmp_path: Path) -> None:
    result = audit(
        tmp_path,
        {"name": ["a", "b"], "zip": ["12010", "13010"]},
        {"zip": ["120**", "130**"], "illness": ["flu", "cold"]},
        quasi_identifiers="zip",
    )
    assert result.observation.release is not None
    changed = generalise(result.observation.release, {"k-anonymity": 2.0}, budget=Budget())
    assert changed.cells()["zip"] == ["1****", "1****"]


@pytest.mark.slow
def test_where_all_ways_are_tried_the_best_one_is_written(tmp_path: Path) -> None:
    better = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ages = rng.choice([21, 25, 33, 38, 52, 57], 14)
        release = audit(
            tmp_path, {"age": ages}, {"age": [f"{age}" for age in ages]}, quasi_identifiers="age"
        ).observation.release
        assert release is not None
        found = generalise(release, {"k-anonymity": 4}, budget=Budget.of(30))
        write_generalised(found, tmp_path / "released.csv", tmp_path / "better.csv")
        again = am.audit(
            tmp_path / "better.csv", original=tmp_path / "original.csv", quasi_identifiers="age"
        )

        assert again.table is not None
        assert again.table.utility.loss == pytest.approx(found.optimum)
        assert again.notions["k-anonymity"] == found.after["k-anonymity"]
        assert sum(step.loss for step in found.steps) == pytest.approx(
            found.loss - found.loss_before
        )
        assert found.greedy is not None
        better += found.greedy > found.loss + 1e-9

    assert better  # greedy steps are not always the best


def test_rows_that_somebody_needs_are_not_left_out_of_more_rows_than_people(
    tmp_path: Path,
) -> None:
    people = {"age": [21, 45, 63]}
    rows = {"age": ["21", "45", "63", "20-29", "20-29"], "illness": list("abcde")}
    release = audit(tmp_path, people, rows, quasi_identifiers="age").observation.release
    assert release is not None

    found = generalise(release, {"k-anonymity": 2}, suppress=3, budget=Budget.of(30))
    write_generalised(found, tmp_path / "released.csv", tmp_path / "better.csv")
    again = am.audit(
        tmp_path / "better.csv", original=tmp_path / "original.csv", quasi_identifiers="age"
    )

    assert found.reached
    assert (again.notions["k-anonymity"] or 0) >= 2


def test_a_table_with_semicolons_is_read_and_written_with_them(tmp_path: Path) -> None:
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    original.write_text("person;age;zip\nann;23;1010\nbob;27;1020\n")
    released.write_text("age;zip;illness\n20-29;101*;flu, mild\n20-29;10**;cold\n")
    result = am.audit(released, original=original)
    assert result.observation.release is not None

    found = generalise(result.observation.release, {"k-anonymity": 2}, budget=Budget.of(30))
    write_generalised(found, released, tmp_path / "better.csv")

    assert (tmp_path / "better.csv").read_text() == (
        "age;zip;illness\n20-29;10**;flu, mild\n20-29;10**;cold\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k=5", "which k"),
        ("k-anonymity=0", "1 or more"),
        ("t-closeness=-1", "0 or more"),
        ("prosecutor=50", "from 0 to 1"),
        ("nope=2", "no privacy model 'nope'"),
    ],
)
def test_a_target_that_cannot_be_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(am.InputError, match=said):
        parse_target(text)


def test_other_names_of_a_notion_are_targets_too() -> None:
    assert parse_target("prosecutor=0.2") == ("prosecutor risk", 0.2)
    assert parse_target("1k=5") == ("(1,k)", 5.0)


def test_a_notion_of_which_the_release_says_nothing_is_no_target(tmp_path: Path) -> None:
    release = audit(tmp_path, {"age": [21, 22]}, {"age": ["20-29", "*"]}).observation.release
    assert release is not None
    with pytest.raises(am.InputError, match="all people of the original are released"):
        generalise(release, {"presence": 0.5}, budget=Budget.of(30))
    with pytest.raises(am.InputError, match="needs a sensitive column"):
        generalise(release, {"l-diversity": 2}, budget=Budget.of(30))


def test_values_of_rows_left_out_are_no_part_of_closeness(tmp_path: Path) -> None:
    people = {"age": [21, 22, 23, 31, 32, 33]}
    rows = {"age": ["20-29"] * 3 + ["30-39"] * 2 + ["33"], "pay": ["1", "2", "3", "1", "3", "90"]}
    how = {"quasi_identifiers": "age", "sensitive": "pay"}
    release = audit(tmp_path, people, rows, **how).observation.release
    assert release is not None

    joined = JoinedClasses(release)
    joined.leave_out(int(release.class_of[5]))
    found = ReleaseFacts(joined.joined_release()[0], budget=Budget.of(30)).notion("t-closeness")
    again = audit(tmp_path, people, {name: column[:5] for name, column in rows.items()}, **how)

    assert again.notions["t-closeness"] == pytest.approx(found.value)


@pytest.mark.grid
@pytest.mark.parametrize("suppress", [0, 10])
def test_all_of_several_targets_are_reached(tmp_path: Path, suppress: int) -> None:
    release = recoded(tmp_path, 150)
    targets = {"k-anonymity": 4.0, "l-diversity": 3.0, "t-closeness": 0.4, "journalist risk": 0.2}
    found = generalise(release, targets, suppress=suppress, budget=Budget.of(30))
    write_generalised(found, tmp_path / "released.csv", tmp_path / "better.csv")
    again = am.audit(tmp_path / "better.csv", original=tmp_path / "original.csv").notions

    assert found.reached
    assert again["k-anonymity"] is not None
    assert again["k-anonymity"] >= 4
    assert again["l-diversity"] is not None
    assert again["l-diversity"] >= 3
    assert again["t-closeness"] is not None
    assert again["t-closeness"] <= 0.4
    assert [one["notion"] for one in found.to_dict()["targets"]] == list(targets)
    assert found.headline().count("as good as the target of") == len(targets)


def test_improve_takes_several_targets_and_names_a_repeated_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from anonymatch.cli import main

    recoded(tmp_path, 60)
    given = [
        "table",
        "improve",
        str(tmp_path / "released.csv"),
        "--original",
        str(tmp_path / "original.csv"),
    ]
    out = tmp_path / "better.csv"
    both = ["--target", "k-anonymity=3", "--target", "l-diversity=2", "--out", str(out)]

    assert not main([*given, *both])
    again = am.audit(out, original=tmp_path / "original.csv").notions
    assert again["k-anonymity"] is not None
    assert again["k-anonymity"] >= 3
    assert again["l-diversity"] is not None
    assert again["l-diversity"] >= 2
    capsys.readouterr()
    assert main([*given, "--target", "1k=3", "--target", "(1,k)=4"]) == 2
    assert "the target (1,k) is given twice; keep one" in capsys.readouterr().err


def test_steps_to_improve_do_not_depend_on_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import itertools
    import time

    release = recoded(tmp_path, 150)
    first = generalise(release, {"k-anonymity": 10.0}, budget=Budget.of(0.01))
    now = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: 1e-3 * next(now))
    again = generalise(release, {"k-anonymity": 10.0}, budget=Budget.of(0.01))

    assert [step.after for step in again.steps] == [step.after for step in first.steps]
    assert again.to_dict() == first.to_dict()


def test_improve_of_many_different_ranges_keeps_to_its_budget(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    number = 300
    ages, starts, widths = (rng.integers(*ends, number) for ends in ((18, 80), (0, 15), (15, 30)))
    result = audit(
        tmp_path,
        {"name": [f"p{k}" for k in range(number)], "age": ages},
        {"age": [f"{low}-{high}" for low, high in zip(ages - starts, ages + widths, strict=True)]},
        budget=0.5,
    )
    release = result.observation.release
    assert release is not None

    assert not generalise(release, {"k-anonymity": 4}, budget=Budget.of(0.1)).reached
    assert generalise(release, {"k-anonymity": 4}, budget=Budget.of(30)).reached
