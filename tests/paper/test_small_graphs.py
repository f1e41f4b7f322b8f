"""The search over all small graphs: complete, without repeats, with the right figures."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.reference import permanent
from anonymatch.theory.claims import small_graphs
from anonymatch.theory.claims.foundations import against_bregman
from anonymatch.theory.claims.small_graphs import number_of_classes, survey

BEST: list[Any] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "search.json").read_text()
)["best"]


def smallest_form(rows: tuple[str, ...]) -> tuple[str, ...]:
    """The same for graphs that differ in orders only, by trying all orders."""
    n = len(rows)
    return min(
        tuple(sorted("".join(row[j] for j in order) for row in rows))
        for order in permutations(range(n))
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_graph_is_in_exactly_one_class(n: int) -> None:
    finding = survey(n)
    forms = [smallest_form(finding.rows(k)) for k in range(len(finding.keys))]
    lines = ["".join(bits) for bits in product("01", repeat=n)]

    assert len(forms) == len(set(forms))
    assert set(forms) == {smallest_form(rows) for rows in product(lines, repeat=n)}


@pytest.mark.parametrize("n", [4, 5])
def test_classes_are_different_and_as_many_as_there_are(n: int) -> None:
    """Burnside's lemma counts them; that none comes twice is seen from another canonical form."""
    finding = survey(n)
    every = range(len(finding.keys)) if n < 5 else range(0, len(finding.keys), 97)
    forms = {smallest_form(finding.rows(k)) for k in every}

    assert len(finding.keys) == number_of_classes(n, n)
    assert len(forms) == len(every)


def test_rows_of_six_behaviours_are_put_in_order_too() -> None:
    keys = small_graphs._extended(
        small_graphs._extended(np.array([small_graphs._start(6, k) for k in range(7)]), 2, 6), 3, 6
    )

    assert len(keys) == number_of_classes(3, 6)


@pytest.mark.parametrize("rows", range(1, 4))
@pytest.mark.parametrize("columns", range(1, 4))
def test_burnside_counts_what_a_list_of_all_graphs_has(rows: int, columns: int) -> None:
    forms = {
        min(
            tuple(sorted(tuple(row[j] for j in order) for row in matrix))
            for order in permutations(range(columns))
        )
        for matrix in product(product((0, 1), repeat=columns), repeat=rows)
    }

    assert number_of_classes(rows, columns) == len(forms)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_figures_are_those_of_counting(n: int) -> None:
    finding = survey(n)
    for k in range(0, len(finding.keys), 1 if n < 5 else 29):
        graph = finding.graph(k)
        matchings = permanent([[int(bit) for bit in row] for row in graph.to_rows()])

        assert finding.matchings[k] == matchings
        assert finding.edges[k] == graph.n_edges
        if matchings == 0:
            assert finding.attack_denominator[k] == 0
            assert not finding.through[k].any()
            continue
        through = am.posterior(graph).counts.to_dense()
        assert finding.through[k].tolist() == through.tolist()
        assert finding.attack(k) == min(
            Fraction(sum(value**2 for value in row), matchings) for row in through.tolist()
        )


@pytest.mark.parametrize("n", range(1, 6))
def test_best_graphs_are_the_known_ones(n: int) -> None:
    best = survey(n).best
    known = {m: (most, *attacks) for size, m, most, *attacks in BEST if size == n}

    assert best.keys() == known.keys()
    for m, (matchings, attack, attack_of_best) in known.items():
        finding = best[m]
        assert finding.matchings == matchings
        assert finding.attack == Fraction(attack)
        assert finding.attack_of_witness == Fraction(attack_of_best)
        assert am.count(am.Graph.from_rows(finding.witness)).value == matchings
        assert sum(map(int, "".join(finding.attack_witness))) == m


def test_the_best_graph_may_be_the_only_one_and_expose_a_user() -> None:
    """Ten edges among four users: six matchings only if one user is known."""
    finding = survey(4).best[10]

    assert (finding.matchings, finding.number) == (6, 1)
    assert am.forced(am.Graph.from_rows(finding.witness)) != []


@pytest.mark.parametrize("n", [2, 4, 5])
def test_no_graph_has_more_matchings_than_bregman_allows(n: int) -> None:
    assert against_bregman(survey(n))[0] == []


def test_the_check_of_bregman_can_fail() -> None:
    finding = survey(3)
    full = int(finding.matchings.argmax())
    finding.matchings[full] += 1

    assert against_bregman(finding)[0] == [full]


def test_finished_stages_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = survey(4, folder=tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"classes-{r}-users-4-behaviours.npz" for r in (2, 3, 4)]

    def never(*_: object) -> None:
        raise RuntimeError("a stage was computed again")

    monkeypatch.setattr(small_graphs, "_extended", never)
    assert survey(4, folder=tmp_path).keys.tolist() == first.keys.tolist()

    (tmp_path / names[-1]).unlink()
    with pytest.raises(RuntimeError, match="computed again"):
        survey(4, folder=tmp_path)


@pytest.mark.parametrize("spoil", [b"", b"PK\x03\x04 not a stage"])
def test_a_stage_that_is_not_whole_is_computed_again(tmp_path: Path, spoil: bytes) -> None:
    first = survey(4, folder=tmp_path)
    (tmp_path / "classes-3-users-4-behaviours.npz").write_bytes(spoil)

    assert survey(4, folder=tmp_path).keys.tolist() == first.keys.tolist()


def test_a_stage_of_another_size_is_not_taken(tmp_path: Path) -> None:
    survey(3, folder=tmp_path)
    other = tmp_path / "classes-2-users-3-behaviours.npz"
    other.rename(tmp_path / "classes-2-users-4-behaviours.npz")

    assert len(survey(4, folder=tmp_path).keys) == 317


def test_any_executor_will_do_and_progress_ends_at_the_total() -> None:
    observed: list[tuple[float, float]] = []
    with ThreadPoolExecutor(2) as executor:
        finding = survey(4, executor=executor, progress=lambda *step: observed.append(step))

    assert finding.keys.tolist() == survey(4).keys.tolist()
    assert [done for done, _ in observed] == sorted(done for done, _ in observed)
    assert observed[-1][0] == pytest.approx(observed[-1][1])


@pytest.mark.parametrize("n", [0, 7, True, 3.0])
def test_sizes_beyond_the_search_are_refused(n: int) -> None:
    with pytest.raises(am.InputError, match="from 1 to 6"):
        survey(n)


def test_a_folder_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match="no such folder"):
        survey(2, folder=tmp_path / "none")
