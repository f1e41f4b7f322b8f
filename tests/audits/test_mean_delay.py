"""The mean delay of a log without the truth."""

from __future__ import annotations

from pathlib import Path

import anonymatch as am


def test_a_departure_before_all_arrivals_is_nobodys_and_the_law_tells_the_mean_delay(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("time,direction,user,behaviour\n1,in,ann,\n0.5,out,,x\n")
    audit = am.audit(log, law="exponential:5")
    assert isinstance(audit, am.MixAudit)
    assert audit.cost.mean_delay == 5.0


def test_sums_tell_the_mean_delay_where_everything_left(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("time,direction,user,behaviour\n1,in,ann,\n2,in,bob,\n3,out,,x\n4,out,,y\n")
    audit = am.audit(log, law="exponential:5")
    assert isinstance(audit, am.MixAudit)
    assert audit.cost.mean_delay == 2.0
