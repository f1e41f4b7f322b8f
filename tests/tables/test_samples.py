"""Releases with fewer rows than people: every figure against all assignments of rows to people."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import anonymatch as am
from anonymatch.audits import check_gates
from anonymatch.tables.reading import released

Table = dict[str, Any]
AGES = {"20-29": (20, 29), "[20,31)": (20, 30), "25-39": (25, 39), "*": (0, 99)}


def fits(age: int, sex: str, age_cell: str, sex_cell: str) -> bool:
    """The definition: every identifier of the person lies in the row's cell."""
    low, high = AGES[age_cell] if age_cell in AGES else (int(age_cell), int(age_cell))
    return low <= age <= high and sex_cell in ("*", sex)


def assignments(table: npt.NDArray[np.bool_]) -> Iterator[tuple[int, ...]]:
    """The row of each person, -1 for none, over all ways to give every row to one person."""
    people, rows = table.shape
    for owners in itertools.permutations(range(people), rows):
        if all(table[owner, row] for row, owner in enumerate(owners)):
            yield tuple(owners.index(one) if one in owners else -1 for one in range(people))


def draw(rng: np.random.Generator) -> tuple[Table, Table, npt.NDArray[np.bool_]]:
    """A table of people, a release of some of them, and which rows each person fits."""
    people = int(rng.integers(2, 7))
    rows = int(rng.integers(1, people + 1))
    ages, sexes = rng.choice([20, 25, 31, 39], people), rng.choice(["f", "m"], people)
    chosen = rng.permutation(people)[:rows]
    cells = []
    for one in chosen.tolist():
        own = [cell for cell, (low, high) in AGES.items() if low <= ages[one] <= high]
        cells.append(rng.choice([str(ages[one]), *own]))
    hidden = [rng.choice([sexes[one], "*"]) for one in chosen.tolist()]
    table = np.array(
        [
            [fits(age, sex, *cell) for cell in zip(cells, hidden, strict=True)]
            for age, sex in zip(ages.tolist(), sexes.tolist(), strict=True)
        ]
    )
    known = {"name": [f"p{k}" for k in range(people)], "age": ages, "sex": sexes}
    given = {"age": cells, "sex": hidden, "illness": rng.choice(["flu", "cold"], rows)}
    return known, given, table


def write(folder: Path, known: Table, given: Table) -> tuple[Path, Path]:
    paths = folder / "released.csv", folder / "original.csv"
    for path, table in zip(paths, (given, known), strict=True):
        pl.DataFrame(table).cast(pl.String).write_csv(path)
    return paths


@pytest.mark.grid
@pytest.mark.parametrize("by_classes", [False, True])
def test_figures_of_samples_are_those_of_all_assignments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, by_classes: bool
) -> None:
    if by_classes:
        monkeypatch.setattr(released, "MOST_EDGES", -1)
    rng = np.random.default_rng(7)
    sampled = open_values = 0
    for _ in range(40):
        known, given, table = draw(rng)
        release, original = write(tmp_path, known, given)
        audit = am.audit(
            release, original=original, identifiers="age,sex", sensitive="illness", steps=0
        )
        ways = np.array(list(assignments(table)))
        check_figures(audit, ways, table.shape[1])
        sampled += table.shape[0] > table.shape[1]
        open_values += check_values(audit, ways, given["illness"])

    assert sampled > 15
    assert open_values > 5


def check_figures(audit: am.TableAudit, ways: npt.NDArray[np.int64], rows: int) -> None:
    """One by one: the table of people, means, thresholds and JSON."""
    chances = np.array([(ways == row).mean(axis=0) for row in range(rows)]).T
    outcomes = np.column_stack((chances, (ways < 0).mean(axis=0)))
    best, presence = chances.max(axis=1), chances.sum(axis=1)
    counted = presence > 0.0
    shannon = entropies(outcomes)
    frame = audit.users

    assert audit.n_counted == counted.sum()
    assert audit.identified == (best == 1.0).sum()
    near = {
        "probability": np.where(counted, best, 1.0),
        "departed": presence,
        "lost": 1.0 - presence,
        "shannon": shannon,
        "shannon_all": shannon,
        "effective": np.exp2(shannon),
        "min_entropy": -np.log2(outcomes.max(axis=1)),
        "renyi2": -np.log2((outcomes**2).sum(axis=1)),
        "guesses": (np.sort(outcomes)[:, ::-1] * np.arange(1, rows + 2)).sum(axis=1),
    }
    for name, true in near.items():
        assert frame[name].to_numpy() == pytest.approx(true, abs=1e-9), name
    allowed = (chances > 0.0).sum(axis=1)
    assert frame["allowed"].to_list() == np.maximum(allowed, 1).tolist()
    assert frame["released"].to_list() == [
        True if share == 1.0 else False if share == 0.0 else None for share in presence
    ]
    if presence.min() < 1.0:
        given = chances[counted] / presence[counted, None]
        some = frame.filter(pl.col("released").is_null() | pl.col("released"))
        assert some["probability_departed"].to_numpy() == pytest.approx(given.max(axis=1))
        assert some["shannon_departed"].to_numpy() == pytest.approx(entropies(given), abs=1e-9)
    gates = check_gates(audit, {"entropy": 1, "surest": 0.5, "identified": 0.1, "worst": 2})
    true_values = (
        shannon[counted].mean(),
        best[counted].max(),
        (best == 1.0).sum() / counted.sum(),
        np.exp2(shannon[counted]).min(),
    )
    assert [gate.figure.value for gate in gates] == pytest.approx(true_values)
    record = json.loads(audit.to_json())
    assert record["entropy"]["value"] == pytest.approx(true_values[0])
    assert record["surest"]["value"] == pytest.approx(true_values[1])
    assert record["identified"] == audit.identified
    worst = [one["probability"] for one in record["worst"]]
    assert worst == pytest.approx(sorted(best[counted], reverse=True))


def check_values(audit: am.TableAudit, ways: npt.NDArray[np.int64], values: list[str]) -> int:
    """Sensitive values; how many would be certain only if the person were in the release."""
    shares = {
        value: np.isin(ways, np.flatnonzero(np.array(values) == value)).mean(axis=0)
        for value in dict.fromkeys(values)
    }
    best = np.max(list(shares.values()), axis=0)
    presence = (ways >= 0).mean(axis=0)
    certain = {f"p{one}" for one in np.flatnonzero(best == 1.0).tolist()}
    present = np.flatnonzero(presence > 0.0)
    if_present = int((best[present] >= presence[present] - 1e-12).sum())
    assert audit.table is not None
    assert {one.person for one in audit.table.certain_values("illness")} == certain
    record = audit.table.to_dict()
    assert record["attributes"]["illness"]["certain"] == len(certain)
    assert record["attributes"]["illness"]["surest"] == pytest.approx(best.max())
    if not audit.table.release.lost:
        assert record["if_present"] is None
        return 0
    assert record["if_present"]["attributes"]["illness"]["certain"] == if_present
    one_row = [set(column[column >= 0].tolist()) for column in ways.T]
    assert record["if_present"]["identified"] == sum(len(rows) == 1 for rows in one_row)
    return if_present - len(certain)


def entropies(outcomes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    logs = np.log2(np.where(outcomes > 0.0, outcomes, 1.0))
    return np.asarray(-(outcomes * logs).sum(axis=1))


def test_two_equal_people_of_a_sample_do_not_both_hold_its_row(tmp_path: Path) -> None:
    release, original = write(
        tmp_path,
        {"name": ["ann", "bob", "cem"], "age": [21, 21, 35]},
        {"age": ["21", "35"], "illness": ["flu", "cold"]},
    )
    audit = am.audit(release, original=original)

    assert audit.users["probability"].to_list() == pytest.approx([0.5, 0.5, 1.0])
    assert audit.table is not None
    assert audit.table.headline(audit.identified, audit.n_counted) == (
        "1 of 3 people who may be in the release (33.3 %) is identified."
    )
    assert audit.table.sentences() == ("The illness of 1 person is certain.",)
    (if_present,) = audit.table.about_present()
    assert if_present == (
        "If the attacker knows that a person is in the release: 3 people would be identified, and "
        "the illness of 3 people would be certain."
    )
    page = tmp_path / "page.html"
    audit.report(page)
    assert "1 of 3 people who may be in the release (33.3 %) is identified." in page.read_text()
    assert "If the attacker knows that a person is in the release: 3 people" in page.read_text()


def test_a_row_of_one_person_alone_is_named_only_where_it_exists(tmp_path: Path) -> None:
    # Two equal people share the only two rows that nobody else fits: no row is of one alone.
    release, original = write(
        tmp_path,
        {"name": ["ann", "bob", "cem"], "age": [21, 21, 25]},
        {"age": ["21", "21", "20-29"], "illness": ["flu", "flu", "cold"]},
    )
    audit = am.audit(release, original=original)

    assert audit.table is not None
    certain, matched = audit.table.sentences()
    assert certain == "The illness of 3 people is certain."
    assert matched == (
        "Of 2 people only matching everybody shows it: ann fits row 3 too, but only cem can have "
        "it, so that ann has flu."
    )


def long_table(folder: Path) -> tuple[Path, Path]:
    """Ranges that overlap, of which each holds many people."""
    rng = np.random.default_rng(2)
    number = 3000
    ages, sizes = rng.integers(18, 90, number), rng.integers(150, 200, number)
    below, above = rng.integers(0, 20, (2, 2, number))
    return write(
        folder,
        {"name": [f"p{k}" for k in range(number)], "age": ages, "size": sizes},
        {
            "age": [f"{a}-{b}" for a, b in zip(ages - below[0], ages + above[0], strict=True)],
            "size": [f"{a}-{b}" for a, b in zip(sizes - below[1], sizes + above[1], strict=True)],
            "illness": rng.choice(["flu", "cold", "hiv"], number),
        },
    )


def test_audit_refuses_a_long_comparison_after_the_figures_of_equal_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.cli import main
    from anonymatch.tables.reading import release as classes

    release, original = long_table(tmp_path)
    monkeypatch.setattr(classes, "_LINK", 1e-4)  # as slow as a table of a hundred times the pairs
    code = main(["table", "audit", str(release), "--original", str(original), "--budget", "1"])
    shown = capsys.readouterr()

    assert code == 2
    assert "k-anonymity          1 " in shown.out
    assert "l-diversity          1 " in shown.out
    assert "t-closeness" in shown.out
    assert "The journalist risk is at most 100 %, and the marketer risk at most" in shown.out
    assert len(shown.err.strip().splitlines()) == 1
    assert "comparing people with rows would take about" in shown.err


def test_predicted_pairs_are_near_those_of_the_comparison(tmp_path: Path) -> None:
    from anonymatch.tables import read_released

    release, original = long_table(tmp_path)
    predicted: list[tuple[float, float]] = []
    table = read_released(original, release).release
    assert table is not None
    from anonymatch.tables import kinds_of_people, link_bytes

    kinds_of_people(table.columns, lambda *costs: predicted.append(costs))
    assert len(table.indices) > 100_000
    assert predicted[0][1] == pytest.approx(link_bytes(len(table.indices)), rel=0.3)


@pytest.mark.slow
def test_probabilities_beyond_the_budget_are_not_guessed(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ages, sexes = rng.integers(20, 60, 90), rng.choice(["f", "m"], 90)
    release, original = write(
        tmp_path,
        {"name": [f"p{k}" for k in range(90)], "age": ages, "sex": sexes},
        {
            "age": [f"{age - 3}-{age + 4}" for age in ages[:80].tolist()],
            "sex": ["*" if k % 3 else sex for k, sex in enumerate(sexes[:80].tolist())],
            "illness": ["flu", "cold"] * 40,
        },
    )
    audit = am.audit(release, original=original, budget=0, steps=0)
    record = json.loads(audit.to_json())

    assert record["entropy"]["value"] is None
    assert record["surest"]["value"] is None
    assert record["table"]["attributes"]["illness"]["surest"] is None
    assert record["privacy_models"]["presence"] is None
    assert audit.users["probability"].null_count() > 80
    assert audit.table is not None
    assert audit.table.sentences() == (
        "No person's illness is certain; the probabilities of guesses need a larger budget.",
    )
    audit.report(tmp_path / "page.html")
    known = am.audit(release, original=original, budget=3, steps=0)
    interval = audit.entropy
    assert interval.low <= known.entropy.value <= interval.high


def test_the_verdict_of_a_sample_names_an_unconditional_probability(tmp_path: Path) -> None:
    known = {"name": ["ann", "bob", "cem"], "age": [30, 30, 30]}
    release, original = write(tmp_path, known, {"age": [30, 30], "illness": ["flu", "cold"]})
    audit = am.audit(release, original=original, identifiers="age", sensitive="illness", steps=0)

    assert audit.verdict.endswith("the surest guess is ann with 33.3 %.")
