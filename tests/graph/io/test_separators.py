"""Tables with semicolons, as ARX and spreadsheets write them, are read wherever CSV is."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.mixes import Measured, open_observation, synthesize, write_messages
from anonymatch.planning.files import read_arrivals
from anonymatch.tabular import separator_in


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("user,behaviour", ","),
        ("user;behaviour", ";"),
        ("user\tbehaviour", "\t"),
        ('"a,b";user', ";"),
        ("user,what;ever", ","),
        ("user", ","),
        ("", ","),
    ],
)
def test_the_header_tells_the_separator(header: str, separator: str) -> None:
    assert separator_in(header, ",") == separator
    assert separator_in(header, "\t") == "\t"


def test_edges_with_semicolons_are_edges(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('user;behaviour\nann;"x;y"\nann;z\nbob;z\n')

    graph = am.read(tmp_path / "a.csv")

    assert graph.to_edges() == [("ann", "x;y"), ("ann", "z"), ("bob", "z")]


def test_a_wrong_line_with_semicolons_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user;behaviour;weight\nann;x;1\nbob;y;two\n")
    (tmp_path / "b.csv").write_text("user;behaviour\nann;x\nbob;y;z\n")

    with pytest.raises(am.InputError, match=r"a\.csv: line 3"):
        am.read(tmp_path / "a.csv")
    with pytest.raises(am.InputError, match=r"b\.csv: line 3: 3 fields"):
        am.read(tmp_path / "b.csv")


def test_a_log_with_semicolons_is_the_same_log(tmp_path: Path) -> None:
    write_messages(synthesize("window:1,5", messages=40, seed=1), tmp_path / "log.csv")
    text = (tmp_path / "log.csv").read_text()
    (tmp_path / "semi.csv").write_text(text.replace(",", ";"))

    one, other = (
        open_observation(tmp_path / name, law="window:1,5") for name in ("log.csv", "semi.csv")
    )

    assert one.graph == other.graph
    assert one.truth is not None
    assert other.truth is not None
    assert one.truth.tolist() == other.truth.tolist()


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time;direction;name\n0,5;in;ann\n1,5;out;x\n")

    with pytest.raises(am.InputError, match=r"line 2: the time is '0,5'; .* a point and no comma"):
        open_observation(path, law="window:0,5")


def test_released_tables_as_arx_writes_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name;age;zip\nmia;23;1010\nnoa;27;1020\n")
    (tmp_path / "rows.csv").write_text("age;zip;illness\n20-29;10**;flu\n20-29;10**;cold\n")

    seen = open_observation(tmp_path / "rows.csv", original=tmp_path / "people.csv")

    assert seen.graph is not None
    assert seen.graph.n_edges == 4


def test_rounds_arrivals_and_measured_delays_may_have_semicolons(tmp_path: Path) -> None:
    rows = "".join(
        f"{k};{side};{name}{k % 3}\n"
        for k in range(20)
        for side, name in (("in", "a"), ("out", "x"))
    )
    (tmp_path / "rounds.csv").write_text("round;direction;name\n" + rows)
    times = "".join(f"{k};in\n" for k in range(40))
    (tmp_path / "arrivals.csv").write_text("time;direction\n" + times)
    (tmp_path / "delays.csv").write_text(
        "delay;place\n" + "".join(f"{k};here\n" for k in range(1, 21))
    )

    assert am.disclosure.read_rounds(tmp_path / "rounds.csv").n_rounds == 20
    assert len(read_arrivals(tmp_path / "arrivals.csv")) == 40
    assert Measured(tmp_path / "delays.csv").mean_delay == pytest.approx(10.5, abs=1)
