"""A format is a module and a row of the table."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import pytest

import anonymatch as am
from anonymatch.graph import FORMATS, format_of
from anonymatch.graph.inputs import Parts, edge_list
from anonymatch.graph.io.files import FileFormat
from anonymatch.tabular import Source


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_reads_back_what_it_wrote(tmp_path: Path, suffix: str) -> None:
    graph = am.Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])
    for name in [suffix, f"{suffix}.gz"][: 1 + FORMATS[suffix].packed]:
        am.write(graph, tmp_path / f"graph{name}")

        assert am.read(tmp_path / f"graph{name}") == graph


@pytest.mark.parametrize("name", ["a", "a.xls", "a.gz", "a.npz.gz", "a.csv.xz", ".csv"])
def test_other_suffixes_are_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(am.InputError, match=r"known are .csv .tsv .* and .gz after .csv .tsv .mtx"):
        format_of(Path(name))


def test_a_format_of_a_test_is_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("anonymatch.graph.io.arrows")

    def read(source: Source) -> tuple[Parts, list[str]]:
        lines = source.text().splitlines()
        return edge_list([line.split(" -> ") for line in lines], None, None), []

    def write(graph: am.Graph, stream: BinaryIO) -> None:
        stream.writelines(
            f"{user} -> {behaviour}\n".encode() for user, behaviour in graph.to_edges()
        )

    module.read, module.write = read, write  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMATS, ".arrows", FileFormat(module="arrows", packed=True))
    graph = am.Graph.from_edges([("ann", "x"), ("bob", "y")])

    for name in ("a.arrows", "a.arrows.gz"):
        am.write(graph, tmp_path / name)
        assert am.read(tmp_path / name) == graph
    with pytest.raises(am.InputError, match=r"\.arrows"):
        format_of(Path("a.unknown"))
