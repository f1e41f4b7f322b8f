"""The command watch as a process: lines in, figures out, and an end that is clear."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.patience import PATIENCE, patient_program
from tests.ports import free_port
from tests.watching.prometheus_server import POOL, RATE
from tests.watching.test_prometheus import recorded, server

PROGRAM = (*patient_program("anonymatch.monitoring.prometheus"), "watch")
EXAMPLES = Path(__file__).parents[2] / "examples"
GAUGES = EXAMPLES / "gauges.jsonl"


def watch(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], input=given, capture_output=True, text=True, check=False
    )


def line(**values: object) -> str:
    return json.dumps({"time": 0, "mix": "m", "inside": 3} | values) + "\n"


def test_lines_become_an_object_a_window() -> None:
    done = watch("--json", "--network", "3x1", given=GAUGES.read_text())

    reports = [json.loads(text) for text in done.stdout.splitlines()]

    assert (done.returncode, done.stderr) == (0, "")
    assert [report["time"] for report in reports] == [300, 600, 900, 1200, 1500, 1800]
    assert all(report["assumes"] == "assumes Poisson between samples" for report in reports)
    for report in reports:
        bits = {mix["mix"]: mix["bits"] for mix in report["mixes"]}
        assert bits["mix-3"] < 3 < 4.5 < bits["mix-1"]
        assert report["network"]["bits"] <= report["network"]["ceiling_bits"]


def test_people_are_told_the_assumption_and_the_worst_mix_first() -> None:
    done = watch(given=GAUGES.read_text())

    assert "Assumes Poisson between samples." in done.stdout
    assert done.stdout.index("mix-3") < done.stdout.index("mix-1")


def test_an_alarm_ends_with_code_1() -> None:
    at_the_end = watch("--alarm", "3", "--json", given=GAUGES.read_text())
    at_once = watch("--alarm", "3", "--json", "--exit", given=GAUGES.read_text())
    fine = watch("--alarm", "0.5", "--alarm-alone", "50%", "--json", given=GAUGES.read_text())

    assert [done.returncode for done in (at_the_end, at_once, fine)] == [1, 1, 0]
    assert len(at_the_end.stdout.splitlines()) == 6
    assert len(at_once.stdout.splitlines()) == 1
    assert "mix-3" in json.loads(at_once.stdout)["alarms"][0]


@pytest.mark.grid
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "standard input has no lines"),
        ("hello\n", "line 1: 'hello' is no JSON"),
        (line() + "{\n", "line 2: '{' is no JSON"),
        ("[1]\n", "line 1: give an object with time, mix, inside"),
        ('{"time": 1, "mix": "m"}\n', "line 1: there is no 'inside'"),
        (line(packet="x17"), "line 1: 'packet' is not read"),
        (line(inside=-1), "line 1: inside must be a number from 0, not -1"),
        (line(inside=True), "line 1: inside must be a number from 0"),
        (line(inside=float("nan")), "line 1: inside must be a number from 0"),
        (line(mix=""), "line 1: mix must be a name"),
        (line(time="noon"), "line 1: time must be a number, not 'noon'"),
        (line(time=30) + line(time=0), "line 2: time 0 is of a window that ended"),
        (line(time=0) + line(time=60) + line(time=30), "line 3: m: time goes back from 60 to 30"),
        (line() + line(time=60), "the lines are of 60 s, and figures are told from 300 s on"),
        ("x" * 20_000, "line 1: more than 10,000 bytes"),
    ],
)
def test_bad_lines_get_one_clear_line(given: str, expected: str) -> None:
    done = watch(given=given)

    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {expected}")
    assert done.stderr.count("\n") == 1


@pytest.mark.grid
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--pool", "x"], "error: --pool: this is for a server"),
        (["--once"], "error: --once: this is for a server"),
        (["--prometheus", "http://127.0.0.1:1"], "error: --prometheus needs --pool METRIC"),
        (["--prometheus", "http://127.0.0.1:1", "--pool", "x"], "error: --prometheus http://127."),
        (["--listen", "0.0.0.0:9464"], "error: --listen 0.0.0.0:9464: others could read"),
        (["--i-know"], "error: --i-know: nothing is told to others without --listen"),
        (["--exit"], "error: --exit: there is no alarm to end at"),
        (["--every", "60"], "error: --every must be at least 300 s, not 60"),
        (["--network", "free:3"], "error: --network free:3,9: free routes"),
        (["--alarm-alone", "2"], "error: invalid value for '--alarm-alone': 2 is out of range"),
    ],
)
def test_options_that_cannot_be_get_one_clear_line(arguments: list[str], expected: str) -> None:
    done = watch(*arguments)

    assert done.returncode == 2
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1


def test_ctrl_c_ends_at_once_while_it_waits_for_lines() -> None:
    with (
        free_port() as port,
        subprocess.Popen(
            [*PROGRAM, "--listen", str(port), "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(GAUGES.read_text().splitlines(keepends=True)[:40]))
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
            text = answer.read().decode()
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)  # its input is still open: only the signal ends it

    assert code == 130
    assert f'anonymatch_mix_bits{{mix="mix-1"}} {first["mixes"][0]["bits"]}' in text


def test_ctrl_c_ends_at_once_between_two_windows_of_a_server() -> None:
    with server(recorded()) as url:
        given = ["--prometheus", url, "--pool", POOL, "--rate", RATE, "--json"]
        with subprocess.Popen(
            [*PROGRAM, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            process.send_signal(signal.SIGINT)  # the next window ends in 300 s
            code = process.wait(200)

    assert code == 130
    assert [mix["mix"] for mix in first["mixes"]] == ["m1:9000", "m2:9000"]


def test_a_server_is_told_of_once() -> None:
    with server(recorded()) as url:
        done = watch("--prometheus", url, "--pool", POOL, "--rate", RATE, "--once", "--alarm", "4")

    assert done.returncode == 1
    assert "m2:9000: 3.2 own bits, and 4 are asked" in done.stdout


@pytest.mark.slow
def test_a_missing_mix_of_the_network_ends_with_code_1() -> None:
    with server(recorded()) as url:
        asked = ("--prometheus", url, "--pool", POOL, "--rate", RATE, "--once", "--network")
        missing, complete = watch(*asked, "3x3"), watch(*asked, "3x1")

    assert (missing.returncode, complete.returncode) == (1, 0)
    assert "network 3x3 has 9 mixes, and 3 give samples" in missing.stdout
    assert "s old. Assumes Poisson" in complete.stdout


def test_the_example_is_what_its_script_makes() -> None:
    spec = importlib.util.spec_from_file_location("gauges", EXAMPLES / "make_gauges.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)

    assert GAUGES.read_text().splitlines() == made.lines()
