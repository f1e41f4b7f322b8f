"""What commands import: no more than they use, for that is most of the time of a short one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import json, sys
from anonymatch.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def imported_by(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
    return str(path)


def test_the_version_needs_no_command() -> None:
    modules = imported_by("--version")
    assert not {"click", "rich", "polars", "scipy", "anonymatch.counting"} & modules


def test_a_count_imports_no_other_command_and_no_report(pairs: str) -> None:
    modules = imported_by("count", pairs)
    rooms = {
        "anonymatch.audits",
        "anonymatch.reporting.html.document",
        "anonymatch.theory.designs",
        "anonymatch.sources",
    }
    assert not ({"jinja2", "scipy.special"} | rooms) & modules
    assert "anonymatch.cli.commands.auditing" not in modules


@pytest.mark.slow
def test_an_audit_without_a_report_draws_none(pairs: str) -> None:
    modules = imported_by("audit", pairs, "--json")
    assert not {"jinja2", "anonymatch.reporting.html.document"} & modules


def test_an_audit_of_one_exponential_mix_imports_no_tables_designs_attacks_or_methods(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.csv"
    rows = "0,in,ann,,1\n0.5,in,bob,,2\n2,out,,x,2\n3,out,,y,1\n"
    log.write_text(f"time,direction,user,behaviour,message\n{rows}")
    modules = imported_by("audit", str(log), "--law", "exponential:2")
    unused = {
        "polars",
        "scipy",
        "anonymatch.theory.attacks.campaign",
        "anonymatch.counting.planning.choose",
        "anonymatch.counting.blocks.tuning",
        "anonymatch.theory.designs.designer",
        "anonymatch.mixes.solvers.flushes.flush_chain",
    }
    assert not unused & modules
