"""What a Design is to its users: a line, a graph, files, plain values; and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.theory.designs import design, layout
from anonymatch.theory.designs.tuning import DesignTuning

REQUESTS = [(8, 24), (10, 43), (6, 20), (13, 61), (9, 35)]


def test_one_line_says_what_it_is() -> None:
    assert str(design(8, 24)) == (
        "8 users, 24 edges: 96 matchings (2^6.585), 80.8 % of the bound; "
        "complete 4 + 2 x complete 2"
    )
    assert str(design(6, 20, method="paper")).endswith("; 2 x complete 3 + 2 spare")
    assert "2^21791061.11 matchings, 100 % of the bound" in str(design(10**7, 10**8))
    assert "between 2^" in str(design(1000, 600_000))
    assert "at least" in str(design(1000, 600_000))


def test_a_count_of_ten_thousand_digits_is_multiplied_out_and_a_longer_one_is_not() -> None:
    assert design(10_000, 100_000).count == math.factorial(10) ** 1000
    longer = design(20_000, 200_000)
    assert longer.value is None
    assert (longer.count.exact, longer.count.log) == (True, longer.log)
    assert design(20_000, 200_000).log == pytest.approx(2000 * math.log(math.factorial(10)))


@pytest.mark.parametrize("method", ["best", "paper"])
@pytest.mark.parametrize(("n", "m"), [*REQUESTS, (1000, 600_000), (5000, 50_000)])
def test_plain_values_survive_json(n: int, m: int, method: str) -> None:
    result = design(n, m, method=method)
    record = json.loads(json.dumps(result.to_dict()))

    assert record["users"] == n
    assert record["count"] == (None if result.value is None else str(digits_of(result.value)))
    assert record["ratio"] == result.ratio
    assert [part["number"] for part in record["parts"]] == [part.number for part in result.parts]
    assert record["attack"] == (None if result.attack is None else record["attack"])


def digits_of(value: int) -> str:
    """Digits without Python's limit on their number."""
    digits: list[str] = []
    while value >= 10**4000:
        value, low = divmod(value, 10**4000)
        digits.append(f"{low:04000d}")
    return str(value) + "".join(reversed(digits))


def test_parts_say_how_many_matchings_each_has() -> None:
    complete, pairs = design(8, 24).parts

    assert (complete.kind, complete.size, complete.edges, complete.number) == ("complete", 4, 16, 1)
    assert (complete.count, pairs.count, pairs.number) == (24, 2, 2)
    assert pairs.log == math.log(2)
    assert str(pairs) == "2 x complete 2 (4 edges)"


def test_assignment_names_the_part_of_each_user() -> None:
    assert design(8, 24).assignment().tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    large = design(10**6, 10**7).assignment()
    assert len(large) == 10**6
    assert int(large[-1]) == 10**5 - 1


def test_users_of_one_part_share_behaviours_and_others_do_not() -> None:
    result = design(13, 61)
    graph, part = result.graph(spare=False), result.assignment()

    assert (part[graph.rows()] == part[graph.indices]).all()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz", ".json"])
@pytest.mark.parametrize(("n", "m"), REQUESTS)
def test_files_hold_the_graph(n: int, m: int, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"design{suffix}"
    result = design(n, m)
    result.write(path)
    graph = am.read(path)

    assert [*map(str, graph.users)] == [*map(str, range(n))]
    assert [*map(str, graph.behaviours)] == [*map(str, range(n))]
    assert graph.to_rows() == result.graph().to_rows()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_are_written_piece_by_piece(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts and spare edges are cut anywhere."""
    monkeypatch.setattr(layout, "TUNING", DesignTuning(piece=7))
    for n, m in [(13, 61), (20, 101), (9, 79)]:
        result = design(n, m, method="paper")
        pieces = [len(row) for row, _ in layout.edges(result.composition)]
        result.write(tmp_path / f"design{suffix}")

        assert max(pieces) <= 9
        assert am.read(tmp_path / f"design{suffix}").to_rows() == result.graph().to_rows()


def test_a_file_without_spare_edges(tmp_path: Path) -> None:
    result = design(6, 20, method="paper")
    result.write(tmp_path / "design.csv", spare=False)

    assert am.read(tmp_path / "design.csv").n_edges == 18


def test_an_interrupted_file_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: pl.DataFrame, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", broken)
    (tmp_path / "design.csv").write_text("old")

    with pytest.raises(am.InputError, match=r"cannot write it .No space left on device."):
        design(8, 24).write(tmp_path / "design.csv")
    assert (tmp_path / "design.csv").read_text() == "old"
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_missing_folder_is_named(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match="nowhere"):
        design(8, 24).write(tmp_path / "nowhere" / f"design{suffix}")


def test_a_graph_that_is_too_large_is_refused() -> None:
    with pytest.raises(am.InputError, match=r"at most 2147483647 edges.*write\(\)"):
        design(10**6, 10**10).graph()


def test_what_does_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.theory.designs.layout.free_memory", lambda: 1000)

    with pytest.raises(am.InputError, match=r"a graph of 100 edges .*GiB are free; write\(\)"):
        design(20, 100).graph()
    with pytest.raises(am.InputError, match="the parts of 100 users"):
        design(100, 1000).assignment()


def test_rivals_have_fewer_matchings() -> None:
    result = design(100, 500)
    ring, random, regular = result.rivals()

    assert ring.exact
    assert ring.log == pytest.approx(am.count(am.ring(100, 5)).log)
    assert random.log == pytest.approx(
        math.lgamma(101) + math.log(math.comb(500, 100)) - math.log(math.comb(10_000, 100))
    )
    assert regular.log == pytest.approx(200 * math.log(5) - math.log(math.comb(500, 100)))
    assert all(rival.log < result.log for rival in (ring, random, regular))
    assert not design(10**6, 10**7).rivals()[0].exact


def test_the_default_exposes_nobody_where_that_is_possible() -> None:
    assert design(6, 12).smallest_group == 2
    assert design(6, 11).smallest_group == 1
    assert "exposed" in design(6, 11).note
    assert design(1, 1).count == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: design(4, 3), "3 edges are too few for 4 users; give 4 to 16"),
        (lambda: design(4, 17), "17 edges are too many for 4 users; give 4 to 16"),
        (lambda: design(1, 2), "2 edges are too many for 1 user; give 1 to 1"),
        (lambda: design(0, 0), "users must be a whole number from 1, not 0"),
        (lambda: design(-3, 9), "users must be a whole number from 1, not -3"),
        (lambda: design(4.0, 8), "users must be a whole number from 1, not 4.0"),  # type: ignore[arg-type]
        (lambda: design(4, "8"), "edges must be a whole number from 0, not '8'"),  # type: ignore[arg-type]
        (lambda: design(True, 1), "users must be a whole number from 1, not True"),
        (
            lambda: design(4, 8, method="bset"),
            "method must be 'best' or 'paper', not 'bset'; did you mean 'best'?",
        ),
        (
            lambda: design(4, 8, objective="fame"),
            "objective must be 'matchings' or 'after_attack', not 'fame'",
        ),
        (
            lambda: design(4, 8, min_part=5),
            "min_part is 5, more than there are users (4); lower it",
        ),
        (lambda: design(4, 8, min_part=0), "min_part must be a whole number from 1, not 0"),
        (lambda: design(4, 8, min_part=2.5), "min_part must be a whole number from 1, not 2.5"),  # type: ignore[arg-type]
        (
            lambda: design(4, 7, min_part=3),
            "closed groups take two edges a user: give 8 edges or more, or min_part=1",
        ),
    ],
)
def test_bad_requests_are_refused_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(am.InputError) as error:
        call()

    assert str(error.value) == words


def test_numpy_integers_are_welcome() -> None:
    assert design(np.int64(8), np.int32(24)).count == 96  # type: ignore[arg-type]
    with pytest.raises(am.InputError, match="whole number"):
        design(np.bool_(True), 1)  # type: ignore[arg-type]


def test_a_count_at_any_size_compares_as_a_whole_number() -> None:
    small, huge = design(10, 40).count, design(10**6, 10**7 + 3).count

    assert small == int(small) == small.value
    assert small != small.value + 1
    assert int(small) - 1 < small <= design(10, 41).count
    assert str(small) == str(small.value)
    assert math.isfinite(huge.log2)
    assert huge.low <= huge.log <= huge.high
    with pytest.raises(ValueError, match="not known exactly"):
        int(design(1000, 600_000, method="paper").count)
