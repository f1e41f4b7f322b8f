"""Audits of message logs that say in which round each message was seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.pages import audit_html

import anonymatch as am


def log_with_rounds(folder: Path, *, rounds: bool = True) -> Path:
    """A threshold mix of 4, of users who write to the same two behaviours."""
    log = am.disclosure.synthesize_rounds(30, users=10, friends=2, batch=4, seed=3)
    return written(log, folder, rounds=rounds)


def written(log: am.disclosure.RoundLog, folder: Path, *, rounds: bool = True) -> Path:
    rows = ["time,direction,user,behaviour" + ",round" * rounds]
    for t in range(log.n_rounds):
        senders = log.sender[log.sent[t] : log.sent[t + 1]].tolist()
        end = f",{t}" * rounds
        rows += [f"{30 * t + k},in,{log.users[s]},{end}" for k, s in enumerate(senders)]
        rows += [
            f"{30 * t + 25},out,,{log.behaviours[r]}{end}" for r in log.received_in(t).tolist()
        ]
    path = folder / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_log_with_rounds_shows_how_long_anonymity_lasts(tmp_path: Path) -> None:
    audit = am.audit(log_with_rounds(tmp_path), law="threshold:4")

    assert audit.disclosure is not None
    assert audit.disclosure.half_life is not None
    assert not any("ignored columns" in note for note in audit.notes)
    assert "Anonymity by rounds seen" in audit_html(audit)
    [gate] = am.check_gates(audit, {"half_life": 1000})
    assert not gate.reached


@pytest.mark.slow
def test_a_log_without_rounds_has_no_half_life(tmp_path: Path) -> None:
    audit = am.audit(log_with_rounds(tmp_path, rounds=False), law="threshold:4")

    assert audit.disclosure is None
    assert "Anonymity by rounds seen" not in audit_html(audit)


@pytest.mark.slow
def test_a_half_life_whose_starts_disagree_fails_no_threshold_inside_its_interval(
    tmp_path: Path,
) -> None:
    log = am.disclosure.synthesize_rounds(120, users=80, batch=20, seed=1)
    audit = am.audit(written(log, tmp_path), law="threshold:20", budget=2)

    assert audit.disclosure is not None
    assert audit.disclosure.gap is not None
    assert audit.disclosure.gap > 0.1
    between = audit.disclosure.half_life_between
    assert between is not None
    record = audit.to_dict()["half_life"]
    assert record == {"value": None, "low": between.low, "high": between.high}
    inside = (between.low + between.high) / 2
    below, within, above = (
        am.check_gates(audit, {"half_life": threshold})[0]
        for threshold in (between.low / 2, inside, 2 * between.high)
    )
    assert (below.reached, within.reached, above.reached) == (True, None, False)
    assert (below.passed, within.passed, above.passed) == (True, None, False)
    assert "cannot be judged" in within.text
    assert "opposite starts differ by" in within.text
    page = audit_html(am.audit(am.complete(2)), gates=(within,))
    assert " OPEN</p>" in page
    assert " FAIL</p>" not in page


def test_starts_that_agree_leave_a_threshold_inside_the_interval_failed(tmp_path: Path) -> None:
    audit = am.audit(log_with_rounds(tmp_path), law="threshold:4")

    assert audit.disclosure is not None
    between = audit.disclosure.half_life_between
    assert between is not None
    [gate] = am.check_gates(audit, {"half_life": (between.low + between.high) / 2})
    assert gate.reached is False
    assert "not sure to be reached" in gate.text


@pytest.mark.slow
def test_a_half_life_beyond_the_log_is_at_least_its_rounds(tmp_path: Path) -> None:
    log = am.disclosure.synthesize_rounds(12, users=60, batch=4, seed=1)
    audit = am.audit(written(log, tmp_path), law="threshold:4")

    assert audit.disclosure is not None
    assert audit.disclosure.half_life_between is None
    gates = am.check_gates(audit, {"half_life": 12}) + am.check_gates(audit, {"half_life": 13})
    assert [gate.reached for gate in gates] == [True, False]
    assert gates[0].shown == "at least 12"
