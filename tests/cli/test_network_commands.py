"""Networks of mixes from the shell: logs of links made up and audited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_audit_commands import answer, run

import anonymatch as am


@pytest.fixture
def links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "links.csv"
    arguments = ("--network", "2x2", "--law", "exponential:2", path, "--messages", 80)
    code, out, _ = run(capsys, "synthesize", *arguments)
    assert code == 0
    assert "80 messages, 240 link events" in out
    return path


def test_an_audit_of_links_answers_on_one_screen(
    capsys: pytest.CaptureFixture[str], links: Path
) -> None:
    code, out, _ = run(capsys, "audit", links, "--source", "network", "--law", "exponential")
    assert code == 0
    for part in (
        "a network of 4 mixes in 2 layers",
        "about who sent what",
        "histories",
        "ceiling of the entropy",
        "Compared with the ground truth",
        "met ",
    ):
        assert part in " ".join(out.split()), part
    assert max(map(len, out.splitlines())) <= 80


def test_an_audit_of_links_as_json_is_the_library_s(
    capsys: pytest.CaptureFixture[str], links: Path
) -> None:
    record = answer(capsys, "audit", links, "--law", "exponential", "--corrupt", "m1,m2")
    result = am.audit(links, law="exponential", corrupt=("m1", "m2")).to_dict()
    for name in ("entropy", "bits", "ceiling", "count", "identified", "score", "worst"):
        assert record[name] == json.loads(json.dumps(result[name])), name


def test_thresholds_and_pages_work_for_networks(
    capsys: pytest.CaptureFixture[str], links: Path, tmp_path: Path
) -> None:
    page, users = tmp_path / "page.html", tmp_path / "users.csv"
    how = ("audit", links, "--law", "exponential", "--html", page, "--csv", users)
    assert run(capsys, *how, "--fail-under", "entropy=20")[0] == 1
    assert "Over time" in page.read_text("utf-8")
    assert len(users.read_text("utf-8").splitlines()) == 81
    assert run(capsys, "audit", links, "--law", "pool", "--fail-under", "entropy=0.5")[0] == 0


def test_losses_of_links_are_given_for_all_mixes_or_by_mix(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "links.csv"
    made = ("--network", "2x2", "--law", "exponential:2", path, "--messages", 200, "--loss", 0.05)
    assert run(capsys, "synthesize", *made)[0] == 0
    how = ("audit", path, "--source", "network", "--law", "exponential:2")
    one = answer(capsys, *how, "--loss", "0.05")
    by_mix = answer(capsys, *how, "--loss", "m1=0.05,m2=0.05,m3=0.05,m4=0.05")
    assert one["entropy"] == by_mix["entropy"]
    code, out, _ = run(capsys, *how, "--fail-under", "entropy=6")
    assert code == 1
    assert "(exact for these rates)" in " ".join(out.split())
    code, _, err = run(capsys, *how, "--loss", "m1=0.05,x=0.05")
    assert code == 2
    assert "--loss names 'x', and no packet passes such a mix" in err
    assert run(capsys, *how, "--loss", "m1=2")[0] == 2


def test_a_corrupt_mix_that_is_not_there_is_one_line(
    capsys: pytest.CaptureFixture[str], links: Path
) -> None:
    code, _, err = run(capsys, "audit", links, "--law", "exponential", "--corrupt", "m3,m9")
    assert code == 2
    assert "there is no mix 'm9' to be corrupt; mixes are 'm1', 'm2', 'm3', 'm4'" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("window:1,2",), "say where the log goes, too"),
        (("window:1,2", "a.csv", "--law", "window:1,3"), "the law is given twice"),
        (("window:1,2", "a.csv", "--link", "1"), "--link is for a network"),
        (("--network", "3x", "a.csv"), "no network '3x'"),
        (
            ("--network", "2x2", "--law", "pool:2,2", "--loss", "0.1", "a.csv"),
            "--loss in a network is for laws without flushes",
        ),
        (("--network", "2x2", "--rate", "0", "a.csv"), "rate"),
    ],
)
def test_what_cannot_be_made_up_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "synthesize", *arguments)
    assert code == 2
    assert says in err
    assert not list(tmp_path.iterdir())


def test_a_simulator_s_folder_needs_no_law(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).parents[2] / "examples" / "mixim"
    record = answer(capsys, "audit", folder)
    assert record["source"].startswith("MiXiM, a network of 9 mixes in 3 layers")
    ends = answer(capsys, "audit", folder, "--view", "ends", "--law", "erlang:3,0.8")
    assert ends["source"].startswith("Erlang")
