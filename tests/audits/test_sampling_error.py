"""How much figures vary with the traffic: errors, comparisons and gates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.audits import check_gates, compare
from anonymatch.cli import main
from anonymatch.mixes import synthesize, write_messages
from anonymatch.mixes.logs.observing import observe

LAW = "exponential:5"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def audits(number: int, messages: int = 1000, law: str = LAW) -> list[am.MixAudit]:
    logs = [synthesize(law, messages=messages, seed=seed) for seed in range(number)]
    return [am.audit(observe(log, law), steps=0) for log in logs]


def spread(values: list[float]) -> float:
    return float(np.std(values, ddof=1))


def typical(errors: list[float | None]) -> float:
    return float(np.sqrt(np.mean(np.square([0.0 if e is None else e for e in errors]))))


def test_entropy_error_matches_the_spread_over_logs_of_one_system() -> None:
    some = audits(40)

    assert typical([a.entropy_error for a in some]) == pytest.approx(
        spread([a.entropy.value for a in some]), rel=0.35
    )


@pytest.mark.slow
@pytest.mark.parametrize(("law", "messages"), [(LAW, 1000), ("timed:10", 600)])
def test_sampling_errors_match_the_spread_over_300_logs(law: str, messages: int) -> None:
    some = audits(300, messages, law)

    assert typical([a.entropy_error for a in some]) == pytest.approx(
        spread([a.entropy.value for a in some]), rel=0.15
    )
    for share in (0.05, 0.01):
        errors = [a.entropy_quantile_error(share) for a in some]
        values = [a.entropy_quantile(share).value for a in some]
        assert typical(errors) == pytest.approx(spread(values), rel=0.25)


def claims(some: list[am.MixAudit]) -> tuple[int, int]:
    """How many pairs there are, and for how many an entropy is claimed to differ."""
    pairs = list(zip(some[::2], some[1::2], strict=True))
    best = [compare(pair, ["x", "y"]).rows[0].best for pair in pairs]
    return len(pairs), sum(each is not None for each in best)


def test_compare_claims_no_difference_between_logs_of_one_system() -> None:
    some = audits(20)
    pairs, claimed = claims(some)

    assert pairs == 10
    assert claimed <= 2
    first = compare(some[:2], ["x", "y"])
    assert first.verdict.startswith(
        "The difference in entropy per message is within the sampling error of the traffic"
    )
    assert first.rows[0].errors == pytest.approx([some[0].entropy_error, some[1].entropy_error])
    assert "within sampling error" in first.rows[0].judgement


@pytest.mark.slow
def test_compare_claims_a_difference_for_5_percent_of_300_pairs_of_one_system() -> None:
    pairs, claimed = claims(audits(600))

    assert pairs == 300
    assert 4 <= claimed <= 28


def test_compare_claims_a_difference_between_two_systems() -> None:
    pair = [audits(1)[0], audits(1, law="exponential:10")[0]]

    assert compare(pair, ["five", "ten"]).rows[0].best == 1


def test_audits_of_the_same_log_have_no_sampling_error_between_them() -> None:
    log = synthesize(LAW, messages=300, seed=1)
    pair = [am.audit(observe(log, law, loss=0.0, cover_rate=0.0)) for law in (LAW, "erlang:2,2.5")]
    row = compare(pair, ["one", "two"]).rows[0]

    assert row.errors == (0.0, 0.0)
    assert row.best is not None


def test_sources_without_times_have_no_sampling_error() -> None:
    audit = am.audit(am.partition([2, 4]))

    assert not hasattr(audit, "entropy_error")
    assert "entropy_error" not in audit.to_dict()


def test_one_or_few_messages_have_an_error_or_none() -> None:
    for messages in (1, 2, 3, 9, 20):
        log = synthesize(LAW, messages=messages, seed=2)
        audit = am.audit(observe(log, LAW, whole_log=True))
        errors = (audit.entropy_error, audit.entropy_quantile_error(0.01))
        assert all(error is None or error >= 0.0 for error in errors)
        assert (errors[0] is None) == (audit.n_counted < 2)


def test_gates_are_decided_by_the_log_and_name_the_sampling_error() -> None:
    audit = audits(1)[0]
    value, error = audit.entropy.value, audit.entropy_error
    assert error is not None
    near, far, missed = value - error, value - 5 * error, value + error
    gate = check_gates(audit, {"entropy": near})[0]
    assert gate.reached
    assert gate.passed
    assert "within sampling error" in gate.text
    strict = check_gates(audit, {"entropy": near}, strict=True)[0]
    assert strict.reached
    assert not strict.passed
    clear = check_gates(audit, {"entropy": far}, strict=True)[0]
    assert clear.passed
    assert "sampling" not in clear.text
    below = check_gates(audit, {"entropy": missed})[0]
    assert not below.passed
    assert "is missed, within sampling error" in below.text


def test_strict_gate_within_sampling_error_ends_with_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    write_messages(synthesize(LAW, messages=1000, seed=0), path)
    audit = audits(1)[0]
    assert audit.entropy_error is not None
    near = audit.entropy.value - audit.entropy_error
    given = ("audit", path, "--law", LAW, "--fail-under", f"entropy={near}")

    code, out, _ = run(capsys, *given)
    assert code == 0
    assert "within sampling error" in " ".join(out.split())
    assert "sampling error" in out
    code, out, _ = run(capsys, *given, "--strict")
    assert code == 1
    assert "fails with --strict" in " ".join(out.split())
    code, out, _ = run(capsys, *given, "--strict", "--json")
    assert code == 1
    assert '"within_sampling_error": true' in out or '"within_sampling_error":true' in out
