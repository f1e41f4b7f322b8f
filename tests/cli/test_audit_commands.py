"""The main job from the shell: audit, compare, convert and synthesize."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.pages import audit_html

import anonymatch as am
from anonymatch.audits import FIGURES
from anonymatch.cli import main
from anonymatch.cli.commands.files import EXAMPLE
from anonymatch.running.checkpoint import read_checkpoint


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    record = json.loads(out)
    assert isinstance(record, dict)
    return record


@pytest.fixture
def log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "log.csv"
    assert run(capsys, "synthesize", "window:1,5", path, "--messages", 60)[0] == 0
    return path


def test_audit_answers_on_one_screen(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    code, out, _ = run(capsys, "audit", log, "--law", "window:1,5", "--top", 3)

    assert code == 0
    for part in (
        "entropy per message",
        "joint bits per message",
        "worst 5 %, 1 %",
        "identified",
        "Worst off",
        "Compared with the ground truth",
    ):
        assert part in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_the_mean_over_truths_and_the_one_truth_of_the_steps_are_told_apart(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    page = tmp_path / "audit.html"
    _, out, _ = run(capsys, "audit", log, "--law", "window:1,5", "--html", page)
    (tmp_path / "g.csv").write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
    _, drawn, _ = run(capsys, "audit", tmp_path / "g.csv")

    screen, other = (" ".join(text.split()) for text in (out, drawn))
    assert re.search(
        r"exposing user \d+ removes [\d.]+ bits of [\d.]+, on average over all", screen
    )
    assert "For the ground truth in the log, after 10 exposures one after another, " in screen
    assert "For one sampled matching (seed 0), after 1 exposure" in other
    words = " ".join(page.read_text(encoding="utf-8").split())
    assert "as a mean over all its possible matches" in words
    assert "for this matching may differ from the mean above" in words


@pytest.mark.slow
def test_the_two_bounds_of_an_audit_have_names_of_their_own(log: Path) -> None:
    audit = am.audit(log, law="window:1,5")

    assert FIGURES["reached"].title == "share of the candidates' bound"
    page = audit_html(audit)
    assert "matchings, of the edges&#39; bound" in page
    assert "share of the bound" not in page


def test_audit_as_json_is_the_library_s(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    record = answer(capsys, "audit", log, "--law", "window:1,5")
    result = am.audit(log, law="window:1,5").to_dict()

    for name in (
        "count",
        "entropy",
        "entropy_1%",
        "bits",
        "identified",
        "worst",
        "campaign",
        "score",
        "one_step",
    ):
        assert record[name] == result[name]
    assert record["gates"] == []


@pytest.mark.grid
@pytest.mark.parametrize(("users", "density", "budget"), [(22, 0.5, 5), (40, 0.3, 0.5)])
def test_an_audit_that_is_resumed_says_the_same(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    users: int,
    density: float,
    budget: float,
) -> None:
    monkeypatch.setattr("anonymatch.running.budget._RECORDS_PAY_FROM", 0.0)
    path, run_file = tmp_path / "seen.csv", tmp_path / "run.sqlite"
    am.write(am.random_density(users, density, seed=1), path)
    command = ("audit", path, "--budget", budget)
    resumed = (*command, "--resume", run_file)
    records = [answer(capsys, *arguments) for arguments in (command, resumed, resumed)]

    assert sum(job.recorded for job in read_checkpoint(run_file).jobs) > 0
    for record in records:
        del record["seconds"]  # the time of each run
    assert records[0] == records[1] == records[2]


def test_audit_saves_page_and_table(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    page, table = tmp_path / "audit.html", tmp_path / "users.csv"
    code, _, err = run(capsys, "audit", log, "--law", "window:1,5", "--html", page, "--csv", table)

    assert code == 0
    assert f"wrote {page}" in err
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert pl.read_csv(table).height == 60


@pytest.mark.grid(quick=2)
@pytest.mark.parametrize(
    ("gate", "code", "message"),
    [
        ("--fail-under bits=0.1", 0, "is reached"),
        ("--fail-under bits=9", 1, "is missed"),
        ("--fail-under k=1,worst=1,receivers=1", 0, "is reached"),
        ("--fail-over identified=1,surest=1", 0, "is kept"),
        ("--fail-over surest=0.01", 1, "is exceeded"),
        ("--fail-under bits=0.1 --fail-over surest=0.01", 1, "is reached"),
    ],
)
def test_thresholds_decide_the_exit_code(
    capsys: pytest.CaptureFixture[str], log: Path, gate: str, code: int, message: str
) -> None:
    result, out, _ = run(capsys, "audit", log, "--law", "window:1,5", *gate.split())

    assert result == code
    assert message in out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "needs a law"),
        (("--law", "widow:1,5"), "widow"),
        (("--law", "window:1,5", "--fail-under", "bats=3"), "bats=3"),
        (("--law", "window:1,5", "--fail-under", "surest=0.5"), "belongs to --fail-over"),
        (("--law", "window:1,5", "--fail-over", "surest=50"), "give a number from 0 to 1"),
        (("--law", "window:1,5", "--html", "/nowhere/a.html"), "/nowhere"),
        (("--law", "window:1,5", "--csv", "a.docx"), "suffix"),
        (("--law", "window:1,5", "--source", "pigeons"), "pigeons"),
        (("--law", "window:3,5"), "nobody can have sent 4 messages out, first "),
    ],
)
def test_what_cannot_be_audited_gets_one_line(
    capsys: pytest.CaptureFixture[str], log: Path, arguments: tuple[str, ...], part: str
) -> None:
    code, out, err = run(capsys, "audit", log, *arguments)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert part in err


def test_tables_of_edges_need_no_law(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")

    assert answer(capsys, "audit", path)["count"]["value"] == "2"


def test_flow_pairs_are_not_called_messages(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "audit", Path(__file__).parents[2] / "examples" / "flows")

    assert code == 0
    assert out.startswith("flows: 5 flows of initiators, 5 of responders")
    assert "message" not in out


def test_compare_one_log_under_two_laws(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    code, out, _ = run(capsys, "compare", log, "--law", "window:1,5", "--law", "window:0,9")

    assert code == 0
    assert "window:0,9 has more entropy per message" in out
    text = " ".join(out.split())
    assert "A: window:1,5: 60 messages in, 60 out, window law, 1 to 5 s" in text
    assert "below 5" in text
    assert "equally likely. An attacker who knows more" in text
    record = answer(capsys, "compare", log, log, "--law", "window:1,5")
    assert record["verdict"] == "All have the same entropy per message."
    assert len(record["audits"]) == 2


def test_a_law_that_the_truth_does_not_fit_is_said_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "log.csv"
    am.mixes.write_messages(am.mixes.synthesize("exponential:3", messages=200, seed=0), log)
    code, out, _ = run(capsys, "audit", log, "--law", "window:0,12")
    text = " ".join(out.split())

    assert code == 0
    assert "true pairs do not agree with the law" in text
    assert "well calibrated" not in text
    assert "The law does not agree with the ground truth" in text
    _, out, _ = run(capsys, "compare", log, "--law", "exponential:3", "--law", "window:0,12")
    text = " ".join(out.split())
    assert "window:0,12: The law does not agree with the ground truth" in text
    assert "The law of window:0,12 does not agree with the ground truth in its log, so the" in text
    assert "exponential:3: The law does not" not in text


def test_ceiling_below_the_entropy_without_the_ends_is_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    random = np.random.default_rng(1)
    came = np.sort(random.uniform(0, 120, 600))
    left = np.sort(came + random.exponential(3, 600))
    rows = [f"{time},in,u{k}," for k, time in enumerate(came)]
    rows += [f"{time},out,,b{k}" for k, time in enumerate(left)]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["time,direction,user,behaviour", *rows]))
    audit = am.audit(log, law="exponential:3")
    assert audit.ceiling is not None
    assert audit.entropy.value > audit.ceiling.value
    _, out, _ = run(capsys, "audit", log, "--law", "exponential:3")
    assert re.search(
        r"with the messages near the ends of the log, 9\d\S* % of", " ".join(out.split())
    )


def test_compare_needs_two(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    assert run(capsys, "compare", log, "--law", "window:1,5")[0] == 2
    code, _, err = run(
        capsys, "compare", log, log, log, "--law", "window:1,5", "--law", "window:0,9"
    )
    assert code == 2
    assert "2 times for 3 files" in err


def test_logs_become_edge_lists(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    edges = tmp_path / "edges.csv"
    code, _, _ = run(capsys, "convert", log, edges, "--law", "window:1,5")
    audit = am.audit(log, law="window:1,5", steps=0)

    assert code == 0
    assert am.count(am.read(edges)).value == audit.count.value
    code, _, _ = run(capsys, "convert", log, edges, "--law", "exponential:3")
    audit = am.audit(log, law="exponential:3", steps=0)
    assert code == 0
    assert am.count(am.read(edges)).value == audit.count.value


def test_synthetic_logs_are_the_same_every_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second, other = (tmp_path / f"{name}.csv" for name in "abc")
    for path, seed in ((first, 1), (second, 1), (other, 2)):
        run(capsys, "synthesize", "pool:5,2", path, "--messages", 40, "--seed", seed)

    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != other.read_bytes()


# ---- what is refused in one line


@pytest.mark.parametrize("allowed", [("--memory", 0.001), ("--memory", 0.001, "--budget", 0)])
@pytest.mark.parametrize("law", ["window:0,5000", "erlang:5,5000"])
def test_making_the_graph_keeps_to_the_memory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, law: str, allowed: tuple[object, ...]
) -> None:
    path = tmp_path / "log.csv"
    assert run(capsys, "synthesize", "window:1,5", path, "--messages", 600)[0] == 0
    code, out, err = run(capsys, "audit", path, "--law", law, *allowed)

    assert (code, out) == (2, "")
    assert "allow it with" in err


def test_no_budget_still_makes_a_small_graph(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    out = tmp_path / "edges.csv"

    assert run(capsys, "convert", log, out, "--law", "window:1,5", "--budget", 0)[0] == 0
    assert am.read(out).n_users == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rate", 0), "give a rate above 0"),
        (("--rate", "1e308"), "rate must be a number from 1e-12 to 1e+12"),
        (("--users", 10**20), "users must be a whole number from 1 to"),
        (("--messages", 10**20), "messages must be a whole number from 1 to"),
    ],
)
def test_absurd_logs_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    code, _, err = run(capsys, "synthesize", "window:0,1", tmp_path / "log.csv", *arguments)

    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "law", ["window:0,1e30", "exponential:1e-30", "erlang:2,1e30", "timed:1e30"]
)
def test_extreme_laws_give_no_warnings(
    capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder, tmp_path: Path, law: str
) -> None:
    path = tmp_path / "log.csv"
    made = run(capsys, "synthesize", law, path, "--messages", 5, "--rate", "1e12")
    run(capsys, "audit", path, "--law", law)

    assert made[0] in (0, 2)
    assert not [str(warning.message) for warning in recwarn]


LAW = ("--law", "window:1,5")


@pytest.mark.grid(quick=14)
@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "LOG", "LOG", *LAW),
        ("audit", "LOG", *LAW, "--csv", "LOG"),
        ("audit", "LOG", *LAW, "--html", "LOG"),
        ("audit", "LOG", *LAW, "--resume", "LOG"),
        ("audit", "in.csv", *LAW, "--departures", "LOG", "--csv", "LOG"),
        ("audit", "in.csv", "--original", "LOG", "--csv", "LOG"),
        ("compare", "in.csv", "LOG", *LAW, "--html", "LOG"),
        ("posterior", "LOG", "--out", "LOG"),
        ("sample", "LOG", "--out", "LOG"),
        ("metrics", "LOG", "--out", "LOG"),
        ("improve", "LOG", "--out", "LOG"),
        ("attack", "in.csv", "--truth", "LOG", "--resume", "LOG"),
        ("attack", "LOG", "--resume", "LOG"),
        ("count", "LOG", "--resume", "LOG"),
    ],
)
@pytest.mark.parametrize("name", ["log.csv", "link.csv", "folder/../log.csv"])
def test_no_command_writes_over_what_it_reads(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log.csv"
    log.write_text("nothing that a reader would take")  # so that it is refused before it is read
    Path("folder").mkdir()
    Path("link.csv").symlink_to(log)
    given = [name if text == "LOG" else text for text in arguments[:-1]]
    code, out, err = run(capsys, *given, log if arguments[-1] == "LOG" else arguments[-1])

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "it is the file to read; give another name to write to" in err
    assert log.read_text() == "nothing that a reader would take"


def test_a_page_spares_the_stages_of_a_search_and_the_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage, example = tmp_path / "classes-2-users-2-behaviours.npz", tmp_path / "example.csv"
    monkeypatch.setattr("anonymatch.cli.commands.files.LOG", example)
    for path in (stage, example):
        path.write_text("kept")
    for arguments in (
        ("paper", "--folder", tmp_path, "--html", stage),
        ("demo", "--html", example),
    ):
        code, out, err = run(capsys, *arguments)

        assert (code, out) == (2, "")
        assert "it is the file to read; give another name to write to" in err
    assert stage.read_text() == example.read_text() == "kept"


def test_sampled_is_a_word_and_no_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        code, _, err = run(capsys, "attack", EXAMPLE, "--truth", "sampled", "--resume", "sampled")

        assert (code, "it is the file to read" in err) == (0, False)


def test_no_file_is_written_twice(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    path = tmp_path / "all.csv"
    code, _, err = run(capsys, "audit", log, *LAW, "--csv", path, "--html", path)

    assert code == 2
    assert "it would be written twice" in err
    assert not path.exists()


def test_files_of_a_simulator_s_folder_are_not_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sent, received = tmp_path / "SentMessages.csv", tmp_path / "ReceivedMessages.csv"
    for path in (sent, received):
        path.write_text("kept")
    for source in (tmp_path, sent):
        code, _, err = run(capsys, "audit", source, *LAW, "--csv", received)
        assert code == 2
        assert "it is the file to read" in err
    code, _, err = run(capsys, "audit", tmp_path / "log.csv", *LAW, "--csv", received)

    assert "it is the file to read" not in err  # beside some other file it is just a name
    assert sent.read_text() == received.read_text() == "kept"


@pytest.mark.parametrize(
    "arguments",
    [
        ("design", "--users", 4, "--edges", 8, "--out"),
        ("improve", "no.csv", "--out"),
        ("paper", "--html"),
        ("demo", "--html"),
    ],
)
def test_nowhere_to_write_is_said_before_any_work(
    capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...]
) -> None:
    code, out, err = run(capsys, *arguments, "/nowhere/a.csv")

    assert (code, out) == (2, "")
    assert "its folder does not exist" in err


def test_no_losses_and_no_cover_can_be_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """0 was refused as a set size that is not above 0."""
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,in,a\n1,in,b\n2,out,x\n3,in,c\n4,out,y\n")
    how = ("audit", path, "--law", "exponential:1")
    record = answer(capsys, *how, "--loss", 0, "--cover-rate", 0)

    assert not any("estimated" in note for note in record["notes"])
    for option, value, why in (
        ("--loss", 1, "give a probability, from 0 to below 1"),
        ("--loss", "nan", "give a probability, from 0 to below 1"),
        ("--cover-rate", "inf", "give a rate, 0 or more"),
    ):
        code, _, err = run(capsys, *how, option, value)
        assert code == 2
        assert why in err


# ---- what is said


def test_a_synthetic_log_flags_its_cover_and_losses(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    how = "--messages", 200, "--loss", "0.1", "--cover", "0.3"
    assert run(capsys, "synthesize", "exponential:5", path, *how)[0] == 0
    table = pl.read_csv(path)
    observed = answer(capsys, "audit", path, "--law", "exponential:5", "--cover-visible")
    hidden = answer(capsys, "audit", path, "--law", "exponential:5")

    assert table.filter(direction="out")["cover"].sum() > 0
    assert table.filter(direction="in")["lost"].sum() > 0
    assert observed["n_messages"] == observed["n_departures"] < hidden["n_messages"] == 200
    assert hidden["score"]["calibrated"]


@pytest.mark.slow
def test_probabilities_given_departure_are_headed_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, page = tmp_path / "log.csv", tmp_path / "page.html"
    run(capsys, "synthesize", "exponential:5", path, "--messages", 100, "--loss", "0.1")
    _, lossy, _ = run(capsys, "audit", path, "--law", "exponential:5", "--html", page)
    _, clean, _ = run(capsys, "audit", path, "--law", "exponential:5", "--cover-visible")

    assert "if the message departed" in lossy
    assert "probability if departed" in page.read_text()
    assert "about " in lossy.partition("lost  ")[2].partition("\n")[0]
    assert "if departed" not in clean


@pytest.mark.slow
def test_thresholds_on_a_page_keep_the_capitals_of_names(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    run(capsys, "audit", log, "--law", "window:1,5", "--html", page, "--fail-under", "entropy=1")

    assert "Mean Shannon entropy" in page.read_text()
    assert "Mean shannon" not in page.read_text()


def test_one_bit_is_no_bits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, page = tmp_path / "pairs.csv", tmp_path / "page.html"
    path.write_text("user,behaviour\na,x\na,y\nb,x\nb,y\n")
    _, out, _ = run(capsys, "audit", path, "--html", page)

    assert "1 bit " in out
    assert not re.search(r"(?<!, )\b1 bits", out)  # "1, 1 bits" are two figures
    assert ">1 bits" not in page.read_text()


def test_what_is_found_wrong_while_solving_names_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = am.mixes.synthesize("pool:10,5", messages=100, loss=0.2, seed=1)
    path, wide, none = tmp_path / "pool.csv", tmp_path / "wide.csv", tmp_path / "none.csv"
    am.mixes.write_messages(log, path)
    log = am.mixes.synthesize("window:1,4", messages=300, loss=0.1, cover=0.2)
    am.mixes.write_messages(log, wide)
    none.write_text("user,behaviour\na,x\nb,x\n")
    for arguments, message in (
        ((path, "--law", "pool:10,5", "--loss", 0), f"error: {path}: flush at "),
        (
            (wide, "--law", "window:1,1.1", "--cover-rate", 1, "--lost", 0),
            f"error: {wide}: nothing explains the log: some message in can be no message out",
        ),
        ((none,), f"error: {none}: no perfect matching"),
        ((path, "--law", "pol:10,5"), "error: no law 'pol:10,5'"),
    ):
        code, out, err = run(capsys, "audit", *arguments)

        assert (code, out) == (2, "")
        assert err.startswith(message)
        assert err.count(".csv:") <= 1
        assert err.count("\n") == 1


def test_messages_inside_at_the_start_can_be_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,out,w\n1,in,a\n2,in,b\n2.5,out,x\n3,in,c\n4,out,y\n")
    how = ("audit", path, "--law", "exponential:1")
    record = answer(capsys, *how, "--cover-rate", 0, "--loss", 0, "--inside-at-start", 1.5)

    assert record["rates"] == {
        "loss": {"rate": 0.0, "number": None, "origin": "given", "error": None},
        "cover_rate": {"rate": 0.0, "number": None, "origin": "given", "error": None},
        "inside_at_start": {"rate": 1.5, "number": None, "origin": "given", "error": None},
    }
    assert record["cost"]["cover"] == 0.0
    assert any("came in before the log" in note for note in record["notes"])
    for options, why in (
        (("--inside-at-start", -1), "give a number of messages, 0 or more"),
        (("--inside-at-start", "nan"), "give a number of messages, 0 or more"),
        (("--inside-at-start", 2, "--cover", 1), "; give --cover-rate instead"),
        (("--cover-rate", 0), "inside when the log begins (--inside-at-start)"),
    ):
        code, out, err = run(capsys, *how, *options)
        assert (code, out) == (2, "")
        assert why in " ".join(err.split())
    code, _, err = run(capsys, "audit", path, "--law", "window:0,9", "--inside-at-start", 2)
    assert code == 2
    assert "--inside-at-start is for exponential mixes" in " ".join(err.split())
