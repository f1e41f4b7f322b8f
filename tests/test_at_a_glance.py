"""Results as people meet them in Python: a line at the prompt, a table in a notebook, help."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import polars as pl
import pytest

import anonymatch as am
from anonymatch.audits.figures import AuditFigure, extra_figure
from anonymatch.base.frames import Frame

NASTY = "<script>alert('x')</script>\x00\n& more"


def passage() -> Any:
    """Of a mix that is followed by what is inside: arrays of 300 messages."""
    log = am.mixes.synthesize("exponential:5", messages=300, seed=1)
    return am.audit(am.mixes.observe(log, "exponential:5"))


def nasty() -> am.Graph:
    return am.Graph.from_edges([(u, b) for u in (NASTY, "ann") for b in (NASTY, "y")])


RESULTS: dict[str, Callable[[], Any]] = {
    "graph": lambda: am.ring(6, 3),
    "large graph": lambda: am.ring(300, 3),
    "count": lambda: am.count(am.ring(6, 3)),
    "estimate": lambda: am.count(am.random_regular(60, 6, seed=1), budget=0.01),
    "no matching": lambda: am.count(am.Graph.from_rows(["100", "100", "111"])),
    "posterior": lambda: am.posterior(am.ring(6, 3)),
    "audit": passage,
    "audit of a graph": lambda: am.audit(nasty()),
    "design": lambda: am.design(users=10, edges=40),
    "attack": lambda: am.attack(nasty(), steps=2),
    "plan": lambda: am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2),
    "comparison": lambda: am.compare(
        [am.audit(am.ring(6, 3)), am.audit(am.partition([3, 3]))], ["ring", NASTY]
    ),
    "rounds": lambda: am.rounds(
        am.disclosure.synthesize_rounds(40, friends=2, users=12, batch=4), budget=2
    ),
    "observation": lambda: am.mixes.observe(
        am.mixes.synthesize("window:1,5", messages=100, seed=1), "window:1,5"
    ),
    "metrics": lambda: am.metrics(am.ring(6, 3)),
    "bounds": lambda: am.bounds(am.ring(6, 3)),
    "improvement": lambda: am.improve(am.ring(6, 2)),
    "exposures": lambda: am.exposures(am.ring(6, 3)),
    "checks": lambda: am.paper.check(["figure-2", "crown-limit"]),
}


@pytest.fixture(scope="module", params=list(RESULTS))
def result(request: pytest.FixtureRequest) -> Any:
    return RESULTS[request.param]()


def test_a_result_prints_one_short_line_without_arrays(result: Any) -> None:
    line = repr(result)

    assert line.startswith(f"{type(result).__name__}(")
    assert "\n" not in line
    assert len(line) <= 230
    assert "array(" not in line
    assert "object at 0x" not in line


def test_a_notebook_shows_a_small_table_in_which_all_text_is_escaped(result: Any) -> None:
    html = result._repr_html_()
    tree = ET.fromstring(html.replace("\u00a0", " "))

    assert len(html) < 20_000
    assert [each for each in tree.iter() if each.tag == "script"] == []
    assert "\x00" not in html
    rows = tree.findall(".//tbody/tr")
    assert rows
    assert all("".join(row.itertext()).strip() for row in rows)


def test_the_table_of_an_audit_is_that_of_its_figures() -> None:
    moons = AuditFigure(
        key="moons",
        title="moons per {user}",
        meaning="how many moons each {user} has",
        unit="number",
        better="",
        group="cost",
        value=lambda _: am.Interval(7.0, 7.0, 7.0),
        rests_on="log",
    )
    with extra_figure(moons):
        html = passage()._repr_html_()

    assert "moons\u00a0per\u00a0message" in html
    assert "how many moons each message has" in html


def test_small_graphs_are_drawn_and_large_ones_as_cells() -> None:
    small, large = (am.ring(size, 3)._repr_html_() for size in (6, 3000))

    assert small.count("<line") == 18
    assert "<line" not in large
    assert 32 <= large.count("<rect") <= 200


def test_a_matrix_of_cells_is_dark_where_edges_are() -> None:
    groups = am.partition([32, 32])._repr_html_()
    opacities = re.findall(r'fill-opacity="([\d.]+)"', groups)

    assert len(opacities) == 2 * 16 * 16
    assert set(opacities) == {"1.00"}


# ---- names and help


def test_dir_lists_public_names_alone() -> None:
    assert dir(am) == sorted(am.__all__)
    assert [name for name in dir(am) if name.startswith("_")] == ["__version__"]


FUNCTIONS = [name for name in am.__all__ if inspect.isfunction(getattr(am, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_names_every_option_with_its_meaning(name: str) -> None:
    function = getattr(am, name)
    text = inspect.getdoc(function) or ""
    _, _, after = text.partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", after)[0]
    entries = re.findall(
        r"^(\S[^\n:]*?)(?: : [^\n]+)?\n((?: .*\n?|\n)*)", f"{section}\n", re.MULTILINE
    )
    meanings = {
        each.strip("* "): meaning.strip() for names, meaning in entries for each in names.split(",")
    }
    options = inspect.signature(function).parameters.values()

    assert {option.name for option in options} <= set(meanings)
    assert [o.name for o in options if o.kind is o.KEYWORD_ONLY and not meanings[o.name]] == []
    assert not re.search(r"As (for|everywhere)", section)


def test_help_of_audit_names_everything_that_says_how_to_read_a_file() -> None:
    text = inspect.getdoc(am.audit) or ""
    own = inspect.signature(am.audit).parameters
    options = {each.name for each in fields(am.mixes.ReadOptions)} - set(own)

    assert [name for name in sorted(options) if f"``{name}``" not in text] == []


# ---- frames


def frames() -> list[pl.DataFrame]:
    audit = passage()
    disclosure = RESULTS["rounds"]()
    plan = RESULTS["plan"]()
    return [
        *(audit.users, am.metrics(nasty()).users),
        *(disclosure.profiles, disclosure.decay, plan.settings, plan.front),
    ]


def test_every_frame_of_a_result_goes_to_pandas() -> None:
    for frame in frames():
        assert isinstance(frame, Frame)
        assert frame.to_pandas().shape == frame.shape


_HIDDEN = """
import sys
sys.modules["pyarrow"] = None
import anonymatch as am
frame = am.metrics(am.Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])).users
table = frame.to_pandas()
print(list(table.columns) == frame.columns, table["user"].tolist(), table["degree"].tolist())
print(str(table["degree"].dtype), table["edge"].dtype == bool)
from anonymatch.base.frames import Frame
gaps = Frame({"name": ["a", None], "bits": [1.5, None]}).to_pandas()
print(gaps["name"].isna().tolist(), gaps["bits"].isna().tolist())
try:
    frame.to_pandas(use_pyarrow_extension_array=True)
except ModuleNotFoundError as error:
    print(error)
sys.modules["pandas"] = None
try:
    frame.to_pandas()
except ModuleNotFoundError as error:
    print(error)
"""


def test_frames_need_no_pyarrow_and_say_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HIDDEN], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "True ['ann', 'bob'] [2, 1]",
        "int64 True",
        "[False, True] [False, True]",
        "to_pandas needs pyarrow: pip install pyarrow",
        "to_pandas needs pandas: pip install pandas",
    ]
