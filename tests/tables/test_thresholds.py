"""Thresholds of released tables: risks are shares, c of recursive diversity is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.audits import check_gates


@pytest.fixture
def release(tmp_path: Path) -> am.Audit:
    (tmp_path / "people.csv").write_text("person,age\nann,23\nbob,27\ncem,24\ndan,31\n")
    (tmp_path / "released.csv").write_text(
        "age,illness\n20-39,flu\n20-39,flu\n20-39,flu\n20-39,cold\n"
    )
    return am.audit(tmp_path / "released.csv", original=tmp_path / "people.csv")


def test_c_of_recursive_diversity_may_be_above_1(release: am.Audit) -> None:
    reached, missed = (
        check_gates(release, {"recursive c": threshold})[0] for threshold in (4.0, 2.0)
    )

    assert release.table is not None
    assert release.table.notions["recursive c"].value == 3.0  # three flu against one cold
    assert (reached.reached, missed.missed) == (True, True)


def test_a_risk_above_1_is_refused(release: am.Audit) -> None:
    with pytest.raises(am.InputError, match="journalist risk=3 is a share"):
        check_gates(release, {"journalist risk": 3.0})
