"""Notions by name: against their definitions, and against pycanon where it has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.tables.reading.released_cells import fits as cells_fit
from anonymatch.tables.reading.released_cells import spelling

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "pycanon.json").read_text())


def audit(folder: Path, people: dict[str, Any], rows: dict[str, Any], **how: Any) -> am.TableAudit:
    pl.DataFrame(people).cast(pl.String).write_csv(folder / "original.csv")
    pl.DataFrame(rows).cast(pl.String).write_csv(folder / "released.csv")
    return am.audit_table(folder / "released.csv", original=folder / "original.csv", **how)


@pytest.mark.parametrize("number", range(len(GOLDEN["tables"])))
@pytest.mark.parametrize("column", ["illness", "pay"])
def test_notions_of_classes_are_those_of_pycanon(tmp_path: Path, number: int, column: str) -> None:
    golden = GOLDEN["tables"][number]
    rows = {name: [row[at] for row in golden["rows"]] for at, name in enumerate(GOLDEN["columns"])}
    people = {
        "age": [f"{age[0]}5" for age in rows["age"]],
        "zip": [f"{zip_[:2]}345" for zip_ in rows["zip"]],
    }
    found = audit(
        tmp_path, people, rows, quasi_identifiers=["age", "zip"], sensitive=column
    ).notions

    assert found["k-anonymity"] == golden["k"]
    assert found["l-diversity"] == golden["l"][column]
    entropy = found["entropy l-diversity"] or 0.0  # pycanon cuts 2.9999999999999996 to 2
    assert golden["entropy_l"][column] in (int(entropy), int(entropy + 1e-9))
    assert found["t-closeness"] == pytest.approx(golden["t"][column], abs=1e-12)


def test_notions_of_fits_are_their_definitions(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    tried = 0
    for _ in range(60):
        number = int(rng.integers(3, 9))
        ages = rng.choice(["20", "25", "31", "39"], number)
        zips = rng.choice(["100", "101", "110"], number)
        cells = [rng.choice([age, f"{age[0]}0-{age[0]}9", "*"]) for age in ages]
        parts = [rng.choice([zip_, f"{zip_[:2]}*", "***"]) for zip_ in zips]
        ills = rng.choice(["flu", "cold"], number)
        result = audit(
            tmp_path,
            {"name": [f"p{k}" for k in range(number)], "age": ages, "zip": zips},
            {"age": cells, "zip": parts, "illness": ills},
        )
        fits = within(ages, cells) & within(zips, parts)
        possible = allowed(fits)
        found = result.notions

        assert found["(1,k)"] == fits.sum(axis=1).min()
        assert found["(k,1)"] == fits.sum(axis=0).min()
        assert found["(k,k)"] == min(fits.sum(axis=1).min(), fits.sum(axis=0).min())
        assert found["global (1,k)"] == possible.sum(axis=1).min()
        assert found["prosecutor risk"] == pytest.approx(1 / (found["k-anonymity"] or 1))
        assert found["journalist risk"] == pytest.approx(1 / fits.sum(axis=0).min())
        assert found["marketer risk"] == pytest.approx((1 / fits.sum(axis=0)).mean())
        certain = {f"p{i}" for i in range(number) if len(set(ills[possible[i]])) == 1}
        by_matching = {
            f"p{i}" for i in range(number)
            if len(set(ills[possible[i]])) == 1 and len(set(ills[fits[i]])) > 1
        }  # fmt: skip
        assert result.table is not None
        known = result.table.certain_values("illness")
        assert {one.person for one in known} == certain
        told = {one.person for one in known if one.how != "all rows that fit say so"}
        assert told == by_matching
        lone = {f"p{i}" for i in range(number) if has_a_row_of_its_own(fits, i)} & by_matching
        assert {one.person for one in known if one.how == "nobody else fits their row"} == lone
        tried += bool(by_matching)

    assert tried > 5


def has_a_row_of_its_own(fits: np.ndarray[Any, np.dtype[np.bool_]], person: int) -> bool:
    """Whether a row is compatible with this person and nobody else."""
    return bool((fits[person] & (fits.sum(axis=0) == 1)).any())


def within(values: Any, cells: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Value by cell, each compared by itself."""
    return np.array(
        [[cells_fit([value], [spelling(cell)])[0, 0] for cell in cells] for value in values]
    )


def allowed(fits: np.ndarray[Any, np.dtype[np.bool_]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Pairs that are in some perfect matching, each tried by itself."""
    number = len(fits)
    result = np.zeros_like(fits)
    for i, j in np.argwhere(fits):
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(("p", k) for k in range(number) if k != i)
        graph.add_edges_from(
            (("p", a), ("r", b)) for a, b in np.argwhere(fits) if a != i and b != j
        )
        matched = nx.bipartite.maximum_matching(graph, [("p", k) for k in range(number) if k != i])
        result[i, j] = len(matched) == 2 * (number - 1)
    return result


@pytest.mark.slow
def test_large_tables_say_the_same_by_classes_as_small_ones_by_their_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.tables.reading import released

    rng = np.random.default_rng(3)
    for trial in range(25):
        number = int(rng.integers(3, 12))
        out = int(rng.integers(-2, 3)) if trial % 2 else 0
        ages, zips = rng.choice([20, 25, 31], number), rng.choice([100, 110], number)
        chosen = rng.permutation(np.append(np.arange(number), rng.integers(0, number, 3)))
        chosen = chosen[: max(number + out, 1)]
        if len(set(chosen.tolist())) < min(len(chosen), number):
            chosen = np.arange(min(number, max(number + out, 1)))
        people = {"name": [f"p{k}" for k in range(number)], "age": ages, "zip": zips}
        rows = {
            "age": [
                rng.choice([str(ages[k]), f"{ages[k] // 10}0-{ages[k] // 10}9"]) for k in chosen
            ],
            "zip": [rng.choice([str(zips[k]), "1**"]) for k in chosen],
            "illness": rng.choice(["flu", "cold"], len(chosen)),
        }
        small = audit(tmp_path, people, rows)
        with monkeypatch.context() as patched:
            patched.setattr(released, "MOST_EDGES", -1)
            large = audit(tmp_path, people, rows)

        assert small.observation.graph is not None
        assert large.observation.graph is None
        assert large.count.log == pytest.approx(small.count.log, abs=1e-9)
        assert large.verdict == small.verdict
        assert large.notions == small.notions
        for name in ("probability", "shannon", "shannon_all", "departed", "allowed", "guesses"):
            assert large.users[name].to_numpy() == pytest.approx(
                small.users[name].to_numpy(), abs=1e-9
            )


def test_a_table_that_keeps_an_id_and_an_illness_is_not_compared_by_them(tmp_path: Path) -> None:
    people = {
        "person": [f"p{k}" for k in range(8)], "id": range(8), "age": [20, 21, 22, 23] * 2,
        "illness": ["flu", "cold"] * 4,
    }  # fmt: skip
    rows = {"id": range(8), "age": ["20-29"] * 8, "illness": ["flu", "cold"] * 4}
    result = audit(tmp_path, people, rows)

    assert result.identified == 0
    assert result.notes[0] == (
        "Identifiers (guessed): age; sensitive (guessed): illness; name (guessed): person; "
        "left out, since it tells all rows apart: id."
    )
    told = audit(tmp_path, people, rows, quasi_identifiers=["age", "illness"], name="id")
    assert told.notes[0].startswith("Identifiers: age, illness; ")
    assert told.users["user"][0] == "0"


def test_a_cell_that_fits_nobody_is_named(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match="row 2: it fits nobody: no person has age '200-299'"):
        audit(tmp_path, {"age": ["20", "25"]}, {"age": ["20-29", "200-299"]})


def test_presence_is_the_probability_of_whoever_is_in_the_release_most_surely(
    tmp_path: Path,
) -> None:
    people = {"name": ["a", "b", "c", "d"], "age": [21, 22, 35, 36]}
    sampled = audit(tmp_path, people, {"age": ["20-29", "20-29", "30-39"], "illness": "flu"})
    whole = audit(tmp_path, people, {"age": ["20-29", "20-29", "30-39", "30-39"], "illness": "flu"})

    assert sampled.notions["presence"] == pytest.approx(1.0)  # a and b: both rows are theirs
    assert sampled.users["departed"].to_list() == pytest.approx([1.0, 1.0, 0.5, 0.5])
    assert whole.notions["presence"] is None


def test_who_is_in_the_release_most_surely_is_named_though_they_fit_unlike_rows(
    tmp_path: Path,
) -> None:
    people = {"name": ["a", "b", "c", "d"], "age": [21, 22, 35, 36]}
    rows = {"age": ["21", "20-29", "30-39"], "illness": ["flu", "cold", "flu"]}
    found = audit(tmp_path, people, rows)

    assert found.table is not None
    assert found.table.notions["presence"].decided_by == "a, b"  # a fits two rows, b one


def test_where_people_were_left_out_nobody_is_said_to_be_in_the_release(tmp_path: Path) -> None:
    people = {"name": ["a", "b", "c", "d"], "age": [21, 22, 35, 36]}
    found = audit(tmp_path, people, {"age": ["21", "20-29", "30-39"], "illness": "flu"})

    assert found.table is not None
    line = found.table.headline(found.identified, 4)
    assert line == "2 of 4 people who may be in the release (50 %) are identified."


def test_rows_that_others_have_are_of_all_who_can_have_them(tmp_path: Path) -> None:
    # Rows 2 and 3 need a and b, so that row 1 is of any of the others.
    people = {"name": ["a", "b", "c", "d", "e"], "age": [21, 22, 31, 32, 33]}
    rows = {"age": ["20-39", "21-21", "22-22"], "illness": ["flu", "cold", "cold"]}
    found = audit(tmp_path, people, rows)

    assert found.table is not None
    others = found.table.links.needed_by_others(int(found.table.release.kind_of[0]))
    assert others.rows.tolist() == [0]
    assert others.who == "c, d, e"
    assert others.in_words() == "1 row that would fit can only be of c, d, e"


def test_who_has_a_row_that_nobody_else_fits_is_told_in_a_sentence(tmp_path: Path) -> None:
    people = {"name": ["a", "b", "c"], "age": [21, 22, 35]}
    rows = {"age": ["21", "20-29", "30-39"], "illness": ["flu", "cold", "flu"]}
    found = audit(tmp_path, people, rows)

    assert found.table is not None
    certain, alone = found.table.sentences()
    assert certain == "The illness of 3 people is certain."
    assert alone == (
        "1 of them is compatible with rows of other values, but one row is compatible with this "
        "person alone."
    )


def test_a_row_that_fits_nobody_is_named_right_by_no_marketer(tmp_path: Path) -> None:
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    original.write_text("person,age\nann,23\nbob,27\n")
    released.write_text("age,illness\n20-29,flu\n20-29,cold\n60-69,flu\n")

    found = am.audit(released, original=original).notions

    assert found["marketer risk"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_presence_is_decided_by_those_who_are_in_the_release_most_surely(tmp_path: Path) -> None:
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    original.write_text("person,age\nann,23\nbob,27\ncem,31\ndan,45\n")
    released.write_text("age,illness\n31,flu\n45,cold\n20-29,hiv\n")

    found = am.audit(released, original=original).table

    assert found is not None
    assert found.notions["presence"].value == 1.0
    assert found.notions["presence"].decided_by == "cem, dan"


def test_rows_are_counted_though_people_were_left_out(tmp_path: Path) -> None:
    people = {"name": ["a", "b", "c", "d"], "age": [21, 22, 35, 36]}
    result = audit(tmp_path, people, {"age": ["20-29", "20-29", "30-39"], "illness": "flu"})

    assert (result.n_users, result.n_behaviours) == (4, 3)
