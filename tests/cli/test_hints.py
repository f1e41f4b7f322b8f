"""What errors and notes advise can be typed: options on the command line, keywords in Python."""

from __future__ import annotations

import ast
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.base.text import Argument, as_option
from anonymatch.cli import main
from anonymatch.cli.app import option_names
from anonymatch.cli.commands.files import EXAMPLE
from anonymatch.mixes import Messages, observe, open_observation

PACKAGE = Path(am.__file__).parent
LOG = EXAMPLE.with_name("mix_log.csv")
KEYWORD = re.compile(r"\b[a-z_]+=(?!NUMBER)|\b[a-z]+_[a-z_]+\b|\(cover:|\(lost:")
FILES_AND_VALUES = re.compile(
    r"\bclosed_form\b|\blow_rank\b|\S*(?:\.csv|flows)\b|'[^' ]*'|\S+=NUMBER"
)


def named_arguments() -> list[tuple[str, str]]:
    """Where the package names an argument in a message, and which."""
    result = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Argument":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    result.append((f"{path.name}:{node.lineno}", str(first.value)))
    return result


def test_every_argument_that_a_message_names_is_an_option() -> None:
    named, known = named_arguments(), option_names()

    assert len(named) > 30
    assert [argument for argument in named if as_option(Argument(argument[1])) not in known] == []


@pytest.mark.slow
def test_no_message_writes_a_keyword_into_its_text() -> None:
    """Whoever raises an error says Argument(...), so that others can word it."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name not in ("InputError", "BudgetError", "StoppedError", "Message"):
                continue
            texts = [
                part.value
                for argument in node.args  # type: ignore[attr-defined]
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
            of_calls = {
                part.value
                for call in calls
                if getattr(call.func, "id", "") in ("Call", "Argument")
                for part in ast.walk(call)
                if isinstance(part, ast.Constant)
            }
            wrong += [
                (path.name, text)
                for text in texts
                if text not in of_calls and re.search(r"[;(] ?(give |with )?[a-z_]+[=:] ?$", text)
            ]

    assert wrong == []


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, " ".join(output.err.split())


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    """Three recordings, an hour after each other."""
    for number in range(3):
        begin = number * 3600 * 10**9

        def side(name: str, sent: int, received: int, begin: int = begin) -> dict[str, object]:
            return {
                "nym_identity": name,
                "to_gateway": [[begin + sent * 10**6, 2413]],
                "from_gateway": [[begin + received * 10**6, 1675]],
            }

        path = tmp_path / "flows" / str(number)
        path.mkdir(parents=True)
        pair = {"initiator": side(f"i{number}", 0, 900), "responder": side(f"r{number}", 500, 400)}
        (path / "flowpair.json").write_text(json.dumps(pair))
    return tmp_path / "flows"


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--law", "window:1,2"), "allow for cover traffic (--cover 6)"),
        (("--law", "window:1,2", "--cover", 1), "--cover is 1, but"),
        (("--law", "window:1,6", "--lost", 0, "--cover", 3), "--lost is 0, but"),
        (("--law", "window:1,6", "--unit", "ms"), "leave --unit ms out"),
        (("--law", "window:1,6", "--unit", "msec"), "not 'msec'; did you mean 'ms'?"),
        (("--departures", LOG, "--original", LOG), "--departures is for message logs and --orig"),
        (("--law", "window:1,6", "--align", "start"), "--align is for mixmatch"),
        (("--law", "window:1,6", "--longest-delay", 2), "--longest-delay is for mixmatch"),
        (("--law", "window:1,6", "--source", "mesages"), "did you mean 'messages'?"),
        (("--law", "windw:1,6"), "did you mean 'window'?"),
        (("--law", "window:1,6", "--fail-under", "bist=3"), "did you mean 'bits'?"),
        (("--law", "window:1,6", "--fail-over", "identifed=3"), "did you mean 'identified'?"),
        ((), "give --law, one of window:1,5"),
        (("--laww", "window:1,6"), "did you mean --law"),
    ],
)
def test_errors_of_an_audit_speak_of_options(
    capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], expected: str
) -> None:
    code, out, err = run(capsys, "audit", LOG, *arguments)

    assert (code, out) == (2, "")
    assert expected in err
    assert not KEYWORD.search(FILES_AND_VALUES.sub("", err))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--law", "threshold:5"), "give --law window:0,SECONDS or --longest-delay"),
        (("--law", "window:0,5", "--longest-delay", 2), "leave --law or --longest-delay out"),
        (("--longest-delay", 1e9), "--longest-delay must be from"),
        (("--align", "strat"), "--align must be 'start', not 'strat'; did you mean 'start'?"),
        (
            ("--unit", "ms"),
            "--unit is for messages and network, and this is mixmatch; leave it out",
        ),
    ],
)
def test_errors_of_flow_pairs_speak_of_options(
    capsys: pytest.CaptureFixture[str], flows: Path, arguments: tuple[object, ...], expected: str
) -> None:
    code, out, err = run(capsys, "audit", flows, *arguments)

    assert (code, out) == (2, "")
    assert expected in err
    assert not KEYWORD.search(FILES_AND_VALUES.sub("", err))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("aduit", LOG), "did you mean 'audit'? See 'anonymatch --help'"),
        (("count", EXAMPLE, "--method", "rysre"), "did you mean 'ryser'?"),
        (("attack", EXAMPLE, "--strategy", "entrop"), "--strategy must be one of"),
        (("attack", EXAMPLE, "--strategy", "entrop"), "did you mean 'entropy'?"),
        (("attack", EXAMPLE, "--samples", 3, "--truth", "sampled"), "leave out --truth or --sam"),
        (("design", "--users", 10, "--edges", 15, "--min-part", 3), "or --min-part 1"),
        (("design", "--users", 10, "--edges", 15, "--min-part", 11), "--min-part is 11"),
        (("attack", EXAMPLE, "--samples", 1), "--samples must be a whole number from 2, not 1"),
        (("synthesize", "window:1,5", "out.csv", "--loss", 2), "--loss must be a number from 0 to"),
        (("synthesize", "pool:0,5", "out.csv"), "law 'pool:0,5': batch must be a whole number"),
        (("runs", "nowhere.run"), "--resume makes one"),
        (("count", LOG), "anonymatch convert FILE OUT --law LAW"),
    ],
)
def test_errors_of_other_commands_speak_of_options(
    capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], expected: str
) -> None:
    code, _, err = run(capsys, *arguments)

    assert code == 2
    assert expected in err
    assert not KEYWORD.search(FILES_AND_VALUES.sub("", err))


def test_notes_speak_of_options_wherever_the_command_line_writes_them(
    capsys: pytest.CaptureFixture[str], flows: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    _, out, _ = run(capsys, "audit", flows, "--html", page)
    _, record, _ = run(capsys, "audit", flows, "--json")

    assert "--align start" in " ".join(out.split())
    assert any("--align start" in note for note in json.loads(record)["notes"])
    assert "--align start" in page.read_text()
    assert any("align='start'" in note for note in am.audit(flows).notes)


def test_recordings_that_begin_together_hide_each_other(
    capsys: pytest.CaptureFixture[str], flows: Path
) -> None:
    _, apart, _ = run(capsys, "audit", flows, "--law", "erlang:3,0.05", "--json")
    _, together, _ = run(
        capsys, "audit", flows, "--law", "loopix:3,0.05", "--align", "start", "--json"
    )

    assert json.loads(apart)["identified"] == 3
    assert json.loads(together)["identified"] == 0


def log_of(came: list[float], left: list[float]) -> Messages:
    return Messages(
        arrivals=np.array(came, dtype=np.float64),
        departures=np.array(left, dtype=np.float64),
        senders=tuple(f"u{i}" for i in range(len(came))),
        receivers=tuple(f"b{j}" for j in range(len(left))),
    )


def refused(log: Messages, law: str, **options: Any) -> am.InputError | None:
    try:
        observe(log, law, **options)
    except am.InputError as error:
        return error
    return None


def test_the_number_that_an_error_advises_is_enough() -> None:
    draw = np.random.default_rng(5)
    followed = {"cover": 0, "lost": 0}
    for _ in range(300):
        came, left = (np.sort(draw.integers(0, 12, draw.integers(1, 7))) for _ in range(2))
        log = log_of(came.tolist(), left.tolist())
        law = str(draw.choice(["window:1,3", "window:0,2", "exponential:2", "timed:3"]))
        refusal = refused(log, law)
        if refusal is not None:
            (advised,) = (each for each in refusal.message.pieces if isinstance(each, Argument))
            followed[advised.name] += 1
            assert refused(log, law, **{advised.name: advised.value}) is None

    assert min(followed.values()) > 5


def test_how_many_messages_misfit_is_told() -> None:
    log = log_of([0, 50, 60], [1, 2, 3, 80, 90])
    with pytest.raises(am.InputError) as caught:
        observe(log, "window:0,2")

    assert str(caught.value) == (
        "no message out fits 2 messages in, first 'u1' at 50 s, under the window law, 0 to 2 s; "
        "check times and law, or allow for losses (lost=2)"
    )


def test_an_error_keeps_its_arguments_through_files_and_processes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,in,ann\n9,out,x\n")
    with pytest.raises(am.InputError) as caught:
        open_observation(path, law="window:0,1")
    travelled = pickle.loads(pickle.dumps(caught.value))

    assert travelled.message.pieces == caught.value.message.pieces
    assert "--cover 1" in travelled.message.worded(as_option)
    assert "cover=1" in str(travelled)
