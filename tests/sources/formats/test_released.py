"""Released tables: cells against their meaning, graphs against comparing everybody with all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.base.frames import Frame
from anonymatch.tables.reading import released as module
from anonymatch.tables.reading.released import read_released
from anonymatch.tables.reading.released_cells import fits, is_plain, read_hierarchy, spelling
from anonymatch.tabular import read_text_table


@pytest.mark.parametrize(
    ("cell", "inside", "outside"),
    [
        ("*", ["20", "x"], []),
        ("***", ["20", "x"], []),
        ("", ["20", "x"], []),
        ("20-29", ["20", "20.0", "29", "24.5", "020"], ["19", "29.1", "30", "x", "2"]),
        ("-5--1", ["-5", "-3"], ["0", "-6"]),
        ("1.5 - 2", ["1.5", "2.0"], ["1"]),
        ("[20,30)", ["20", "29.99"], ["30", "19"]),
        ("(20, 30]", ["30", "21"], ["20"]),
        ("[20;30]", ["20", "30"], ["31"]),
        ("<30", ["29", "-4"], ["30", "x"]),
        ("<=30", ["30"], ["31"]),
        (">30", ["31", "1e9"], ["30"]),
        (">=30", ["30"], ["29"]),
        ("{a, b}", ["a", "b"], ["c", "a, b", "{a}"]),
        ("{20,30.0}", ["20.0", "30"], ["25"]),
        ("123**", ["12345", "12399"], ["123", "1239", "122", "23", "123456"]),
        ("2*", ["20", "29", "2x"], ["2", "200", "30"]),
        ("1**45", ["12345", "1xy45"], ["145", "12344"]),
        ("**345", ["12345"], ["345"]),
        ("Sm…", ["Sm", "Smith"], ["sm", "S"]),
        ("Sm...", ["Sm", "Smith"], ["sm", "S"]),
        ("NA", ["20", "x", "Any"], []),
        ("?", ["20", "x"], []),
        ("Any", ["20", "x"], []),
        ("20–29", ["20", "29"], ["30"]),
        ("20—29", ["20", "29"], ["30"]),
        ("20 to 29", ["20", "29"], ["30"]),
        ("20..29", ["20", "29"], ["30"]),
        ("]20,30]", ["21", "30"], ["20"]),
        ("[20,30[", ["20", "29"], ["30"]),
        ("]20;30[", ["21", "29"], ["20", "30"]),
        ("[20,∞)", ["20", "1e9"], ["19"]),
        ("(-inf, 20]", ["20", "-5"], ["21"]),
        ("[20,)", ["20", "99"], ["19"]),
        ("20+", ["20", "99"], ["19"]),
        ("20 and over", ["20", "99"], ["19"]),
        ("20 or more", ["20", "99"], ["19"]),
        ("≥20", ["20", "99"], ["19"]),
        ("over 20", ["21"], ["20"]),
        ("under 20", ["19"], ["20"]),
        ("≤20", ["20"], ["21"]),
        ("20±2", ["18", "22"], ["17", "23"]),
        ("20 +/- 2", ["18", "22"], ["17", "23"]),
        ("a|b", ["a", "b"], ["c"]),
        ("{a;b}", ["a", "b"], ["c"]),
        ("1995", ["1995", "1995-03-12", "1995-12-31"], ["1994-12-31", "19950312"]),
        ("1995-03", ["1995-03-01", "1995-03-31"], ["1995-04-01"]),
        ("1995-1999", ["1995-01-01", "1999-12-31", "1997"], ["2000-01-01", "1994-12-31"]),
        ("1995 to 1999", ["1995-01-01", "1999-12-31"], ["2000-01-01"]),
        ("1990s", ["1990-01-01", "1999-12-31"], ["2000-01-01", "1989-12-31"]),
        ("2020-01-05 to 2020-01-31", ["2020-01-05", "2020-01-31"], ["2020-02-01"]),
        ("2020-01 – 2020-02", ["2020-01-05", "2020-02-29"], ["2020-03-01"]),
        ("1995-**-**", ["1995-03-12"], ["1994-03-12", "1995"]),
        ("20", ["20", "20.0", " 20 "], ["2", "200", "020"]),
        ("007", ["007"], ["7"]),
        ("555-1234", ["555-1234", "600"], ["554"]),
        ("2020-01", ["2020-01", "2020-01-09"], ["2020", "1", "2020-02-01"]),
        ("2020-01-05", ["2020-01-05"], ["2020", "2020-01-06"]),
        ("-0", ["0", "-0.0"], ["1"]),
        ("[30,20]", ["[30,20]"], ["25"]),
        ("1e999-2", ["1e999-2"], ["1"]),
    ],
)
def test_what_lies_in_a_cell(cell: str, inside: list[str], outside: list[str]) -> None:
    values = list(dict.fromkeys(spelling(value) for value in [*inside, *outside]))
    fitting = dict(zip(values, fits(values, [spelling(cell)])[:, 0], strict=True))

    assert {value for value in values if fitting[value]} == {spelling(value) for value in inside}
    if is_plain(spelling(cell)):
        assert {spelling(value) for value in inside} == {spelling(cell)}


def test_a_value_that_is_not_known_lies_in_every_cell() -> None:
    assert fits([spelling("NA")], ["20", "{a}", "<3", "x*", "1995"]).all()


def save(folder: Path, name: str, columns: dict[str, list[str | None]]) -> Path:
    path = folder / name
    pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv(path)
    return path


AGES = st.sampled_from(["20", "25", "31", "39", None])
AGE_CELLS = st.sampled_from(["20-29", "[30,40)", "*", "25", "{20,39}", None])
CODES = st.sampled_from(["100", "101", "110"])
CODE_CELLS = st.sampled_from(["1**", "10*", "110"])
SEXES = st.sampled_from(["f", "m"])


@given(
    st.lists(st.tuples(AGES, CODES, SEXES), min_size=1, max_size=8),
    st.lists(st.tuples(AGE_CELLS, CODE_CELLS, SEXES), min_size=1, max_size=8),
)
def test_edges_are_those_of_comparing_everybody(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[tuple[str | None, ...]],
    rows: list[tuple[str | None, ...]],
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    names = ("age", "code", "sex")
    known, given_ = (
        save(folder, file, {name: [row[at] for row in side] for at, name in enumerate(names)})
        for file, side in (("known.csv", people), ("given.csv", rows))
    )
    observation = read_released(known, given_)
    assert observation.graph is not None
    lost = max(len(people) - len(rows), 0)
    expected = {
        (i, j)
        for i, person in enumerate(people)
        for j, row in enumerate(rows)
        if all(
            fits([spelling(value)], [spelling(cell)])[0, 0]
            for value, cell in zip(person, row, strict=True)
        )
    } | {(i, len(rows) + j) for i in range(len(people)) for j in range(lost)}

    edges = list(
        zip(observation.graph.rows().tolist(), observation.graph.indices.tolist(), strict=True)
    )
    assert set(edges) == expected
    assert edges == sorted(edges)
    assert observation.lost == lost


def test_names_and_columns_are_chosen_by_what_both_tables_have(tmp_path: Path) -> None:
    known = save(tmp_path, "k.csv", {"name": ["ann", "bob"], "age": ["1", "2"], "id": ["7", "8"]})
    given_ = save(tmp_path, "g.csv", {"age": ["1", "*"], "id": ["8", "7"]})
    both = read_released(known, given_).graph
    age = read_released(known, given_, identifiers=["age"], name="id").graph

    assert both is not None
    assert both.to_edges() == [("ann", "row 2")]
    assert age is not None
    assert age.to_edges() == [("7", "row 1"), ("7", "row 2"), ("8", "row 2")]


def test_people_without_a_name_of_their_own_are_numbered(tmp_path: Path) -> None:
    known = save(tmp_path, "k.csv", {"kind": ["a", "a"], "age": ["1", "2"]})
    given_ = save(tmp_path, "g.csv", {"age": ["*"]})
    observation = read_released(known, given_)

    assert observation.graph is not None
    assert observation.graph.users == ("person 1", "person 2")
    assert observation.graph.behaviours == ("row 1", "lost #1")
    assert observation.lost == 1


def test_parquet_is_the_same_as_text(tmp_path: Path) -> None:
    known = save(tmp_path, "k.csv", {"name": ["ann", "bob"], "age": ["23", "31"]})
    given_ = save(tmp_path, "g.csv", {"age": ["20-29", "*"]})
    pl.DataFrame({"name": ["ann", "bob"], "age": [23, 31]}).write_parquet(tmp_path / "k.parquet")

    assert read_released(tmp_path / "k.parquet", given_).graph == read_released(known, given_).graph


def test_people_who_are_alike_are_compared_once(tmp_path: Path) -> None:
    """A thousand people of four kinds; the edges are counted before any is made."""
    rng = np.random.default_rng(1)
    ages = [str(age) for age in rng.choice([21, 24, 33, 38], 1000)]
    known = save(tmp_path, "k.csv", {"age": list(ages)})
    given_ = save(tmp_path, "g.csv", {"age": [f"{age[0]}0-{age[0]}9" for age in ages]})
    release = read_released(known, given_).release
    twenties = sum(age < "30" for age in ages)

    assert release is not None
    assert len(release.kind_sizes) == len(release.class_sizes) == 2
    assert release.n_edges == twenties**2 + (1000 - twenties) ** 2


def test_large_tables_are_no_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EDGES", 100)
    path = save(tmp_path, "k.csv", {"age": ["1"] * 20})
    stars = save(tmp_path, "g.csv", {"age": ["*"] * 20})

    assert read_released(path, stars).graph is None
    assert am.audit(stars, original=path).count.log == pytest.approx(math.lgamma(21))


def test_notes_tell_who_fits_nothing(tmp_path: Path) -> None:
    known = save(tmp_path, "k.csv", {"age": ["1", "2"]})
    given_ = save(tmp_path, "g.csv", {"age": ["1", "3", "4"]})

    assert read_released(known, given_).notes[1:] == (
        "2 rows fit nobody: in row 2, no person has age '3'.",
        "1 person fits no row.",
    )


@pytest.mark.parametrize(
    ("known", "given_", "how", "says"),
    [
        ("a\n1\n", "b\n1\n", {}, "share no column"),
        ("a\n", "a\n1\n", {}, "it has columns and no rows"),
        ("", "a\n1\n", {}, "it is empty"),
        ("a,a\n1,2\n", "a\n1\n", {}, "column 'a' is there twice"),
        ("a,b\n1\n", "a\n1\n", {}, "line 2: 1 field"),
        ("a\n1\n", "a\n1\n", {"identifiers": ["z"]}, "the original table has no column 'z'"),
        ("a,z\n1,1\n", "a\n1\n", {"identifiers": ["z"]}, "the released table has no column 'z'"),
        ("a\n1\n", "a\n1\n", {"identifiers": []}, "identifiers is empty"),
        ("a\n1\n", "a\n1\n", {"identifiers": 7}, "identifiers must be a list"),
        ("a\n1\n", "a\n1\n", {"name": "z"}, "there is no column 'z'"),
        ("a,n\n1,x\n2,x\n", "a\n1\n", {"name": "n"}, "row 1: n is 'x', which is there twice"),
        ("a,n\n1,x\n2,\n", "a\n1\n", {"name": "n"}, "row 2: n is empty"),
    ],
)
def test_broken_tables_are_named(
    tmp_path: Path, known: str, given_: str, how: dict[str, object], says: str
) -> None:
    (tmp_path / "k.csv").write_text(known)
    (tmp_path / "g.csv").write_text(given_)
    with pytest.raises(am.InputError, match=says) as caught:
        read_released(tmp_path / "k.csv", tmp_path / "g.csv", **how)  # type: ignore[arg-type]

    assert "\n" not in str(caught.value)


def test_files_of_other_kinds_are_named(tmp_path: Path) -> None:
    path = save(tmp_path, "k.csv", {"a": ["1"]})
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(am.InputError, match="tells no known format of tables"):
        read_released(tmp_path / "x.json", path)
    (tmp_path / "x.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(am.InputError, match="line 2: byte 0xff is not UTF-8"):
        read_released(path, tmp_path / "x.csv")
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + b"\0" * 20 + b"PAR1")
    with pytest.raises(am.InputError, match="Parquet data is damaged"):
        read_released(path, tmp_path / "x.parquet")
    pl.DataFrame({"a": [[1]]}).write_parquet(tmp_path / "y.parquet")
    with pytest.raises(am.InputError, match="column 'a' holds List"):
        read_released(path, tmp_path / "y.parquet")


def test_dates_beyond_the_calendar_are_refused(tmp_path: Path) -> None:
    born = pl.Series("born", [0, None, 2**62]).cast(pl.Datetime("ms"))
    pl.DataFrame([born]).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(am.InputError, match="row 3: born is no date of the years 1 to 9999"):
        read_text_table(tmp_path / "a.parquet")


def test_people_left_out_of_a_release_are_not_identified(tmp_path: Path) -> None:
    """No row can be pia's or rex's; mia and noa share the two rows of the twenties."""
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("name,age\npia,77\nrex,78\nmia,23\nnoa,27\noli,31\n")
    given.write_text("age,illness\n20-29,flu\n20-29,cold\n30-39,cold\n")
    audit = am.audit(read_released(known, given))

    assert (audit.identified, audit.unreleased, audit.n_counted) == (1, 2, 3)
    assert [one.user for one in audit.worst] == ["oli", "mia", "noa"]
    assert audit.worst[0].reason != "nothing that came out can be this message"
    assert audit.users.select("user", "released").rows() == [
        ("pia", False), ("rex", False), ("mia", True), ("noa", True), ("oli", True),
    ]  # fmt: skip
    assert audit.entropy.value == pytest.approx(2 / 3)
    assert "2 people are not in the release: no row is compatible." in audit.notes[-1]
    assert "1 of 3 (33.3 %) is identified" in audit.verdict
    assert audit.to_dict()["unreleased"] == 2


def test_a_release_of_others_and_one_of_everybody_are_told(tmp_path: Path) -> None:
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("name,age\nmia,23\noli,31\n")
    given.write_text("age,illness\n20-29,flu\n")
    assert (
        am.audit(read_released(known, given)).verdict == "Everybody in the release is identified."
    )
    given.write_text("age,illness\n20-29,flu\n30-39,flu\n")
    whole = am.audit(read_released(known, given))

    assert whole.unreleased == 0
    assert whole.users.get_column("released").all()


def test_other_sources_know_no_release() -> None:
    audit = am.audit(am.complete(3))

    assert not hasattr(audit, "unreleased")
    assert "released" not in audit.users.columns


def test_the_reason_of_the_worst_is_theirs_whoever_is_left_out(tmp_path: Path) -> None:
    """However many come before them who are in no row."""
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("name,age\n" + "".join(f"p{k},{90 + k}\n" for k in range(9)) + "oli,31\n")
    given.write_text("age,illness\n30-39,flu\n")
    (worst,) = am.audit(read_released(known, given), top=1).worst

    assert worst.user == "oli"
    assert worst.reason == "nobody else fits row 1"


@pytest.mark.parametrize("argument", ["identifiers", "sensitive", "name"])
def test_a_misspelt_column_is_asked_about(tmp_path: Path, argument: str) -> None:
    (tmp_path / "people.csv").write_text("name,age,zip\nmia,23,1010\nnoa,27,1020\n")
    (tmp_path / "rows.csv").write_text("age,zip,illness\n20-29,10**,flu\n20-29,10**,cold\n")
    wrong: dict[str, Any] = {"identifiers": "age,zipp", "sensitive": "illnessx", "name": "namex"}
    meant = {"identifiers": "zip", "sensitive": "illness", "name": "name"}[argument]

    with pytest.raises(am.InputError, match=f"; did you mean '{meant}'\\?") as error:
        read_released(tmp_path / "people.csv", tmp_path / "rows.csv", **{argument: wrong[argument]})

    assert "rename" not in str(error.value)


def test_a_released_table_alone_is_told_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("age,zip,illness\n20-29,10**,flu\n20-29,10**,cold\n")

    with pytest.raises(am.InputError, match="looks like a released table") as error:
        am.audit(tmp_path / "rows.csv")

    assert "original" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "line"), [('1010;"10**;*\n', 1), ('1010;10**;*\n10"20;10**;*\n', 2)]
)
def test_broken_quotes_in_a_hierarchy_are_refused_with_their_line(
    tmp_path: Path, text: str, line: int
) -> None:
    (tmp_path / "zip.csv").write_text(text + "1030;10**;*\n")

    with pytest.raises(am.InputError, match=rf"zip\.csv: line {line}: a quote"):
        read_hierarchy(tmp_path / "zip.csv")


def test_quotes_in_a_hierarchy_may_hold_separators_and_lines(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text('"Graz; Styria";"Austria\n(south)";*\nLima;Peru;*\n')

    levels = read_hierarchy(tmp_path / "city.csv")

    assert len(levels) == 2
    assert "Peru" in levels["Lima"]


def test_the_table_of_people_turns_into_pandas_as_others_do(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age\nmia,23\nnoa,27\n")
    (tmp_path / "rows.csv").write_text("age,illness\n20-29,flu\n20-29,cold\n")

    users = am.audit(tmp_path / "rows.csv", original=tmp_path / "people.csv").users

    assert type(users) is Frame
    assert "released" in users.columns


def test_an_empty_list_of_sensitive_columns_means_none(tmp_path: Path) -> None:
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("name,age\nmia,23\nnoa,27\n")
    given.write_text("age,illness\n20-29,flu\n20-29,cold\n")

    for empty in ((), "", [""]):
        seen = read_released(known, given, sensitive=empty)
        assert seen.release is not None
        assert seen.release.sensitive == {}
        assert seen.notes[0] == "Identifiers (guessed): age; name (guessed): name."


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("Graz;Austria;Europe\nParis;France\n", "line 2: 2 levels, but the first line has 3"),
        ("Graz;Austria;Europe\n", "it lacks 'Paris', a value of column 'city'"),
    ],
)
def test_a_hierarchy_that_lacks_something_says_what(tmp_path: Path, levels: str, said: str) -> None:
    known, given, above = (tmp_path / name for name in ("known.csv", "given.csv", "levels.csv"))
    known.write_text("person,city\nann,Graz\nbob,Paris\n")
    given.write_text("city,illness\nAustria,flu\nEurope,cold\n")
    above.write_text(levels)

    with pytest.raises(am.InputError, match=said):
        read_released(known, given, hierarchies={"city": above})


def test_tolerance_of_a_column_of_words_is_refused(tmp_path: Path) -> None:
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("person,sex\nann,F\nbob,M\n")
    given.write_text("sex,illness\nF,flu\n*,cold\n")

    with pytest.raises(am.InputError, match="'sex', of which no value is a number"):
        read_released(known, given, tolerance={"sex": 2})


def test_many_classes_are_compared_as_few_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.tables.reading import release as releases

    rng = np.random.default_rng(5)
    ages, zips = rng.integers(20, 60, 40), rng.integers(1000, 1010, 40)
    cells = [f"{age - rng.integers(5)}-{age + rng.integers(5)}" for age in ages.tolist()]
    codes = [f"{zip_}" if rng.random() < 0.7 else "*" for zip_ in zips.tolist()]
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("age,zip\n" + "".join(f"{a},{z}\n" for a, z in zip(ages, zips, strict=True)))
    given.write_text("age,zip\n" + "".join(f"{a},{z}\n" for a, z in zip(cells, codes, strict=True)))
    edges = []
    monkeypatch.setattr(releases, "_JOIN", 10**6)
    for most in (0, 10**6):
        monkeypatch.setattr(releases, "_FEW_VECTORS", most)
        graph = read_released(known, given, identifiers=["age", "zip"], sensitive=[]).graph
        assert graph is not None
        edges.append(graph.to_edges())

    assert edges[0] == edges[1]


def test_columns_of_a_release_without_the_original_ask_for_it(tmp_path: Path) -> None:
    given = tmp_path / "given.csv"
    given.write_text("user,behaviour\na,b\n")
    with pytest.raises(
        am.InputError, match="released table beside the original one; give original"
    ):
        am.audit(given, identifiers=["age"])


def test_a_folder_is_no_released_table(tmp_path: Path) -> None:
    known = tmp_path / "known.csv"
    known.write_text("person,age\nann,23\n")
    with pytest.raises(am.InputError, match="it is a folder; give a file in it"):
        am.audit(tmp_path, original=known)


def test_whoever_is_not_in_the_release_needs_no_row(tmp_path: Path) -> None:
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("person,age\nann,27\nbob,50\ncem,31\n")
    given.write_text("age,illness\n30-39,flu\n20-39,cold\n")

    reasons = {one.user: one.reason for one in am.audit(read_released(known, given)).worst}

    assert reasons == {"ann": "nothing but row 2 fits", "cem": "nobody else fits row 1"}


def test_people_of_a_table_without_a_graph_are_told_who_needs_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.tables.reading import released

    monkeypatch.setattr(released, "MOST_EDGES", 0)
    known, given = tmp_path / "known.csv", tmp_path / "given.csv"
    known.write_text("person,age\nann,23\nbob,27\ncem,31\n")
    given.write_text("age,illness\n20-29,flu\n20-29,cold\n20-39,hiv\n")
    seen = read_released(known, given)

    reasons = {one.user: one.reason for one in am.audit(seen).worst}

    assert seen.graph is None
    assert reasons["cem"] == "nothing but row 3 fits"
    assert "1 candidate of 3 can only be somebody else's" in reasons["ann"]


def observe_texts(folder: Path, original: str, released: str, **how: Any) -> Any:
    (folder / "original.csv").write_text(original)
    (folder / "released.csv").write_text(released)
    return read_released(folder / "original.csv", folder / "released.csv", **how)


def test_columns_match_without_spaces_and_case(tmp_path: Path) -> None:
    observation = observe_texts(
        tmp_path,
        "person, Age, zip\nann,23,1010\nbob,31,1020\n",
        "AGE ,ZIP,illness\n20-29,1010,flu\n30-39,1020,cold\n",
    )

    assert observation.notes[0] == (
        "Identifiers (guessed): Age, zip; sensitive (guessed): illness; name (guessed): person."
    )
    given = observe_texts(
        tmp_path,
        "person, Age, zip\nann,23,1010\nbob,31,1020\n",
        "AGE ,ZIP,illness\n20-29,1010,flu\n30-39,1020,cold\n",
        identifiers="age",
        sensitive="Illness",
        tolerance={"AGE": 1},
    )
    assert [column.name for column in given.release.columns] == ["Age"]


def test_columns_that_differ_by_case_in_one_table_stay_apart(tmp_path: Path) -> None:
    observation = observe_texts(tmp_path, "a,A,b\n1,2,3\n1,3,4\n", "a,A,B\n1,2,3\n1,3,4\n")

    assert [column.name for column in observation.release.columns] == ["a", "A", "b"]
    with pytest.raises(
        am.InputError, match=r"original.csv: line 1: two columns are called 'a', but"
    ):
        observe_texts(tmp_path, "a, a\n1,2\n", "a\n1\n")


def test_a_column_of_nearly_the_same_name_is_warned_about(tmp_path: Path) -> None:
    observation = observe_texts(
        tmp_path,
        "age,marital-status\n23,single\n31,married\n",
        "age,marital_status\n20-29,single\n30-39,married\n",
    )

    assert observation.notes[1] == (
        "Column 'marital_status' of the release is not compared with column 'marital-status' of "
        "the original, whose name is nearly the same. If both are the same, rename one of them."
    )


def test_values_that_differ_by_leading_zeros_are_warned_about(tmp_path: Path) -> None:
    original = "person,age,zip\nann,23,01010\nbob,31,02020\n"
    warning = "'01010' of the original and '1010' of the release differ only by leading zeros"
    observation = observe_texts(
        tmp_path, original, "age,zip\n23,01010\n31,02020\n23,1010\n", identifiers="age,zip"
    )

    assert warning in " ".join(observation.notes)
    with pytest.raises(am.InputError, match="'1010' differ only by leading zeros"):
        am.audit(
            write_text(tmp_path / "two.csv", "age,zip\n23,1010\n31,02020\n"),
            original=tmp_path / "original.csv",
            identifiers="age,zip",
        )
    starred = observe_texts(
        tmp_path, original, "age,zip\n23,101*\n31,0202*\n31,*\n", identifiers="age,zip"
    )
    assert "'101*' of the release differ only by leading zeros" in " ".join(starred.notes)
    plain = observe_texts(tmp_path, original, "age,zip\n23,0101*\n31,02020\n")
    assert "zeros" not in " ".join(plain.notes)


def write_text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_question_mark_of_the_original_is_a_value(tmp_path: Path) -> None:
    original = "person,work\nann,?\nbob,Private\ncem,State\n"
    observation = observe_texts(tmp_path, original, "work,pay\n?,low\nPrivate,high\n*,low\n")

    assert observation.graph.to_edges() == [
        ("ann", "row 1"), ("ann", "row 3"), ("bob", "row 2"), ("bob", "row 3"), ("cem", "row 3"),
    ]  # fmt: skip
    assert not any("read as" in note for note in observation.notes)
    told = observe_texts(
        tmp_path, original, "work,pay\n?,low\nPrivate,high\n*,low\n", missing=["?"]
    )
    assert ("cem", "row 1") in told.graph.to_edges()
    assert ("ann", "row 2") in told.graph.to_edges()
    assert told.notes[2].startswith("1 cell of the original is read as unknown")


def test_a_set_that_holds_a_question_mark_holds_that_value(tmp_path: Path) -> None:
    observation = observe_texts(
        tmp_path,
        "person,work\nann,?\nbob,Private\ncem,State\n",
        'work\n"{?,Private}"\n"{?,Private}"\nState\n',
    )

    assert observation.graph.degrees.tolist() == [2, 2, 1]


def test_cells_that_are_read_as_unknown_are_counted(tmp_path: Path) -> None:
    observation = observe_texts(
        tmp_path,
        "person,work,age\nann,State,\nbob,Private,30\ncem,State,40\n",
        "work,age,pay\nNA,30,low\nNA,40,high\n,*,low\n",
    )

    assert observation.notes[1] == (
        "3 cells of the release are read as suppressed: any value may be behind them (empty 1, "
        "'NA' 2). Set which texts mean that with missing=."
    )
    assert observation.notes[2].startswith("1 cell of the original is read as unknown to the")
    told = observe_texts(
        tmp_path,
        "person,work,age\nann,State,\nbob,Private,30\ncem,State,40\n",
        "work,age,pay\nState,30,low\n-,40,high\n,*,low\n",
        missing="-,n.a.",
    )
    assert "'-' 1" in told.notes[1]


def test_blank_lines_at_the_end_are_no_rows(tmp_path: Path) -> None:
    observation = observe_texts(
        tmp_path, "person,age\nann,23\nbob,31\n\n\n", "age,zip\r\n20-29,1\r\n,\r\n\r\n"
    )

    assert (observation.release.n_people, observation.release.n_rows) == (2, 2)
