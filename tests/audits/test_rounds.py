"""Audits of message logs that say in which round each message was seen."""

from __future__ import annotations

from pathlib import Path

import anonymatch as am
from anonymatch.report import audit_html


def log_with_rounds(folder: Path, *, rounds: bool = True) -> Path:
    """A threshold mix of 4, of users who write to the same two behaviours."""
    log = am.sources.synthesize_rounds(30, users=10, friends=2, batch=4, seed=3)
    rows = ["time,direction,user,behaviour" + ",round" * rounds]
    for t in range(log.n_rounds):
        senders = log.sender[log.sent[t] : log.sent[t + 1]].tolist()
        end = f",{t}" * rounds
        rows += [f"{10 * t + k},in,{log.users[s]},{end}" for k, s in enumerate(senders)]
        rows += [f"{10 * t + 5},out,,{log.behaviours[r]}{end}" for r in log.received_in(t).tolist()]
    path = folder / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_log_with_rounds_shows_how_long_anonymity_lasts(tmp_path: Path) -> None:
    audit = am.audit(log_with_rounds(tmp_path), law="threshold:4")

    assert audit.disclosure is not None
    assert audit.disclosure.half_life is not None
    assert not any("ignored columns" in note for note in audit.notes)
    assert "How it falls with the rounds" in audit_html(audit)
    [gate] = am.check_gates(audit, {"half-life": 1000})
    assert not gate.reached


def test_a_log_without_rounds_has_no_half_life(tmp_path: Path) -> None:
    audit = am.audit(log_with_rounds(tmp_path, rounds=False), law="threshold:4")

    assert audit.disclosure is None
    assert "How it falls with the rounds" not in audit_html(audit)
