"""Thresholds of released tables: risks are shares, c of recursive diversity is not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.audits import check_gates


@pytest.fixture
def release(tmp_path: Path) -> am.TableAudit:
    (tmp_path / "people.csv").write_text("person,age\nann,23\nbob,27\ncem,24\ndan,31\n")
    (tmp_path / "released.csv").write_text(
        "age,illness\n20-39,flu\n20-39,flu\n20-39,flu\n20-39,cold\n"
    )
    return am.audit_table(tmp_path / "released.csv", original=tmp_path / "people.csv")


def test_c_of_recursive_diversity_may_be_above_1(release: am.TableAudit) -> None:
    reached, missed = (
        check_gates(release, {"recursive c": threshold})[0] for threshold in (4.0, 2.0)
    )

    assert release.table is not None
    assert release.table.notions["recursive c"].value == 3.0  # three flu against one cold
    assert (reached.reached, missed.missed) == (True, True)


def test_a_risk_above_1_is_refused(release: am.TableAudit) -> None:
    with pytest.raises(am.InputError, match="journalist risk=3 is a share"):
        check_gates(release, {"journalist risk": 3.0})


def test_the_page_of_a_release_gives_intervals_where_figures_are_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ages, sexes = rng.integers(20, 60, 90), rng.choice(["f", "m"], 90)
    cells = [f"{age - 3}-{age + 4}" for age in ages[:80].tolist()]
    hidden = ["*" if k % 3 else sex for k, sex in enumerate(sexes[:80].tolist())]
    pl.DataFrame({"name": [f"p{k}" for k in range(90)], "age": ages, "sex": sexes}).write_csv(
        tmp_path / "people.csv"
    )
    pl.DataFrame({"age": cells, "sex": hidden, "illness": "flu"}).write_csv(tmp_path / "given.csv")
    found = am.audit(tmp_path / "given.csv", original=tmp_path / "people.csv", budget=1)

    assert found.confidence < 1.0
    found.report(tmp_path / "page.html")
    text = re.sub(r"<[^>]*>|\s+", " ", (tmp_path / "page.html").read_text())
    assert re.search(r"ways to match\s+2\^[\d.]+ to 2\^[\d.]+ ", text)
    assert re.search(r"entropy per person\s+[\d.]+ to [\d.]+ bits", text)
