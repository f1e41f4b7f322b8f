"""How files are read is one value; and reading them is not paid for before it is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.mixes import ReadOptions, open_observation

LOG = "time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n"


def test_options_and_keywords_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    options = ReadOptions(law="window:1,3")
    by_options = open_observation(path, options)

    assert by_options.graph == open_observation(path, law="window:1,3").graph
    assert by_options.graph != open_observation(path, options, law="window:1,5").graph
    assert am.audit(path, **options.given()).bits == am.audit(path, law="window:1,3").bits
    with pytest.raises(TypeError, match="unexpected keyword argument 'lawe'"):
        open_observation(path, lawe="window:1,3")


def test_what_is_of_other_sources_is_named() -> None:
    assert ReadOptions(law="window:1,3", loss=0.0).unused("edges") is None
    assert ReadOptions(strays=0).unused("edges") == ("strays", frozenset({"mixmatch"}))
    assert ReadOptions(loss=0.1).unused("nym") is None


def test_subpackages_import_no_readers_and_no_special_functions() -> None:
    heavy = ["polars", "scipy.special", "scipy.stats", "networkx", "pandas", "dask"]
    code = (
        "import sys, anonymatch.audits, anonymatch.mixes, anonymatch.tables, anonymatch.rings\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
