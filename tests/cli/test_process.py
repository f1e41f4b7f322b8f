"""The program as a process: exit codes, one line of error, Ctrl-C, pipes, threads."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from json import loads
from pathlib import Path

import numpy as np
import pytest
from tests.patience import PATIENCE, patient_program

import anonymatch as am
from anonymatch.cli.commands.files import EXAMPLE

PROGRAM = patient_program()


def program(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload,no-any-return]


def random_graph(folder: Path, n: int, suffix: str = "npz") -> Path:
    """Random with density 1/2: no short cut but its size."""
    path = folder / f"random{n}.{suffix}"
    am.write(am.Graph.from_biadjacency(np.random.default_rng(1).integers(0, 2, (n, n))), path)
    return path


def test_python_runs_the_package_as_a_program() -> None:
    output = subprocess.run(
        [sys.executable, "-m", "anonymatch", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert output.stdout == f"anonymatch {am.__version__}\n"


INTERRUPTED_AMID_IMPORTS = """
import os, signal, sys

class Interrupting:
    left = None

    @classmethod
    def find_spec(cls, name, *_):
        if "anonymatch_start" not in sys.modules:  # not ours yet: who finds it may import too
            return
        if cls.left is None:
            cls.left = int(os.environ["INTERRUPT_AT"])
        cls.left -= 1
        if cls.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
"""
(ENTRY,) = entry_points(group="console_scripts", name="anonymatch")
SCRIPT = f"import sys; from {ENTRY.module} import {ENTRY.attr}; sys.exit({ENTRY.attr}())"
STARTS = {"script": ("-c", SCRIPT), "module": ("-m", "anonymatch")}


def interrupted_at(number: int, start: str, folder: Path, heard: bool = True) -> tuple[int, str]:
    """Exit code and errors of a demonstration with Ctrl-C amid so manieth an import."""
    folder.joinpath("sitecustomize.py").write_text(INTERRUPTED_AMID_IMPORTS)
    ignoring = [] if heard else ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    done = subprocess.run(
        [*ignoring, sys.executable, *STARTS[start], "demo"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder), "INTERRUPT_AT": str(number)},
    )
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_ctrl_c_amid_any_import_is_one_line(start: str, tmp_path: Path) -> None:
    """From the first import of the package to the last, which are made where they are used."""
    numbers = (1, 2, 3, 10, 40, 100, 200, 300, 500, 700)

    ends = {number: interrupted_at(number, start, tmp_path) for number in numbers}

    assert ends == dict.fromkeys(numbers, (130, "interrupted\n"))


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_a_program_that_was_told_to_ignore_ctrl_c_goes_on(start: str, tmp_path: Path) -> None:
    """Scripts that run a program in the background let it ignore Ctrl-C."""
    assert interrupted_at(100, start, tmp_path, heard=False) == (0, "")


def test_importing_the_package_leaves_ctrl_c_alone() -> None:
    """It is a program's business: also of one that is run by -m, and of the commands' own."""
    code = "import signal, anonymatch.cli.console; print(signal.getsignal(signal.SIGINT))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "default_int_handler" in done.stdout


INTERRUPTED_BEFORE_RENAMING = """
import os, signal, sys, threading

def interrupt(event, arguments):
    if event != "os.rename" or not str(arguments[1]).endswith("made.csv"):
        return
    for _ in range(int(os.environ["INTERRUPTS"])):
        os.kill(os.getpid(), signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        threading.Event().wait()  # the main thread handles the signal

sys.addaudithook(interrupt)
"""


@pytest.mark.grid
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "command",
    [
        ("design", "--users", "60", "--edges", "300", "--out"),  # on a thread of its own
        ("synthesize", "window:1,5", "--messages", "300"),  # on the main thread
    ],
    ids=lambda command: command[0],
)
def test_ctrl_c_leaves_no_unfinished_file_behind(
    command: tuple[str, ...], times: int, tmp_path: Path
) -> None:
    """Ctrl-C comes when the unfinished file is written and not yet renamed."""
    hooks, folder = tmp_path / "hooks", tmp_path / "folder"
    hooks.mkdir()
    folder.mkdir()
    hooks.joinpath("sitecustomize.py").write_text(INTERRUPTED_BEFORE_RENAMING)
    done = subprocess.run(
        [sys.executable, *STARTS["script"], *command, str(folder / "made.csv")],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(hooks), "INTERRUPTS": str(times)},
    )

    assert (done.returncode, done.stderr) == (130, b"interrupted\n")
    assert not any(folder.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("threads", [(), ("--threads", "1")], ids=["all cores", "one thread"])
def test_ctrl_c_ends_a_long_count_at_once(tmp_path: Path, threads: tuple[str, ...]) -> None:
    """Of a table: polars reads it and leaves a signal handler of its own behind."""
    path = random_graph(tmp_path, 38, "csv")
    command = [*PROGRAM, "count", str(path), "--budget", "1e9", *threads]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            wait_for_work(running)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()

    assert (running.returncode, out, err) == (130, b"", b"interrupted\n")


MARKS_WHEN_USEFUL = """
import os, pathlib
from anonymatch.running.cancel import CancelToken

class Useful:
    def __get__(self, token, kind):
        return getattr(token, "_useful", False)
    def __set__(self, token, value):
        token._useful = value
        if value:
            pathlib.Path(os.environ["USEFUL"]).touch()

CancelToken.useful = Useful()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("json", [True, False])
def test_ctrl_c_during_an_estimate_tells_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, json: bool
) -> None:
    path, useful = tmp_path / "hard.npz", tmp_path / "useful"
    monkeypatch.setenv("USEFUL", str(useful))
    am.write(am.random_regular(1000, 10, seed=1), path)
    python, option, code = PROGRAM
    command = [python, option, MARKS_WHEN_USEFUL + code, "count", str(path)]
    command += ["--json"] if json else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            wait_for_work(running)
            while running.poll() is None and not useful.exists():
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()

    assert (running.returncode, err) == (130, b"interrupted\n")
    if json:
        record = loads(out)
        assert record["interrupted"] is True
        assert not record["exact"]
        assert record["proven"][0] <= record["low"] <= record["high"] <= record["proven"][1]
        assert record["low"] - 0.2 < 1358.15 < record["high"] + 0.2  # of 200 seconds: +- 0.013
    else:
        assert out.startswith(b"Interrupted: ")
        assert b"1,000 users" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("audit", "HARD"), "auditing"),
        (("compare", "HARD", "HARD"), "auditing"),
        (("attack", "HARD"), "attacking"),
        (("improve", "HARD"), "improving"),
        (("posterior", "HARD"), "probabilities"),
        (("sample", "HARD", "--size", "1000000"), "drawing"),
        (("paper", "--thorough"), "checking"),
        (("rounds", "ROUNDS"), "rounds of"),
        (("rounds", "ROUNDS", "--compare"), "comparing"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_long_work_shows_a_bar_and_ends_on_ctrl_c(
    tmp_path: Path, arguments: tuple[str, ...], shown: str
) -> None:
    files = {"HARD": random_graph(tmp_path, 38), "ROUNDS": tmp_path / "rounds.parquet"}
    log = am.disclosure.synthesize_rounds(30_000, users=1000, batch=12)
    am.disclosure.write_rounds(log, files["ROUNDS"])
    given = [str(files.get(text, text)) for text in arguments]
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    command = [*PROGRAM, *given, "--budget", "1e9"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as running:
        os.close(theirs)
        try:
            text = read_terminal(mine, until=shown)
            running.send_signal(signal.SIGINT)
            text += read_terminal(mine)
            out, _ = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
            os.close(mine)

    assert shown in text
    assert text.endswith("interrupted\r\n")
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l")  # a hidden cursor comes back
    assert "Traceback" not in text
    assert (running.returncode, out) == (130, b"")


def wait_for_work(running: subprocess.Popen[bytes]) -> None:
    """Until a core has been busy for two seconds: the count is under way then."""
    deadline = time.monotonic() + PATIENCE
    ticks = os.sysconf("SC_CLK_TCK")
    while time.monotonic() < deadline:
        fields = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks > 2:
            return
        time.sleep(0.05)
    raise AssertionError("the count did not start")


@pytest.mark.grid(quick=2)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("mebibytes", [200, 600, 1000, 1500])
def test_too_few_addresses_are_one_line(mebibytes: int, start: str, tmp_path: Path) -> None:
    """Under a limit (ulimit -v) libraries would end the process in their own way."""
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,in,ann\n1,out,x\n")
    command = [sys.executable, *STARTS[start], "audit", str(path), "--law", "window:0,5"]
    limited = ["sh", "-c", f'ulimit -v {1024 * mebibytes}; exec "$@"', "sh", *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "GiB of addresses on this machine, and the limit is" in done.stderr
    assert "ulimit -v" in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    am.write(am.Graph.from_rows([[i, i + 1] for i in range(20_000)], n_behaviours=20_001), path)
    command = [*PROGRAM, "posterior", str(path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        message = running.stderr.read()

    assert (message, running.returncode) == (b"", 0)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_missed_gate_is_told_to_nobody_too(
    tmp_path: Path, more: tuple[str, ...], unbuffered: str
) -> None:
    """Whoever does not read the page still learns the answer by the exit code."""
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,in,ann\n1,out,x\n")
    reading, writing = os.pipe()
    os.close(reading)
    command = [*PROGRAM, "audit", str(path), "--law", "window:0,5", "--fail-under", "bits=3"]
    done = subprocess.run(
        [*command, *more],
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        check=False,
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (1, b"")


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        command = [*PROGRAM, "count", str(EXAMPLE)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the answer")


@pytest.mark.grid
@pytest.mark.parametrize(
    ("closed", "code", "message"),
    [
        (">&-", 2, "error: standard output is closed; let the answer go somewhere\n"),
        ("2>&-", 0, ""),
        (">&- 2>&-", 2, ""),
    ],
)
def test_closed_streams_are_no_surprise(closed: str, code: int, message: str) -> None:
    command = ["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, "count", str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (code, message)
    assert bool(done.stdout) == (code == 0)


@pytest.mark.slow
def test_one_thread_is_one_thread(tmp_path: Path) -> None:
    """Seconds of the core cannot exceed seconds of the clock."""
    code = (
        "import sys, time; from anonymatch.cli import main; "
        "w, c = time.monotonic(), time.process_time(); main(sys.argv[1:]); "
        "print(time.process_time() - c, time.monotonic() - w, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "count", str(random_graph(tmp_path, 28))]

    done = subprocess.run([*command, "--threads", "1"], capture_output=True, text=True, check=True)
    work, clock = (float(value) for value in done.stderr.split())

    assert work < 1.05 * clock + 0.1


def test_a_terminal_gets_colour_and_answers_stay_clean(tmp_path: Path) -> None:
    """On a terminal figures are coloured; NO_COLOR is respected; the bar leaves nothing behind."""
    coloured, plain = (on_a_terminal(more) for more in ({}, {"NO_COLOR": "1"}))

    assert "\x1b[1;36m272" in coloured
    assert "36m" not in plain
    assert "272" in plain


def on_a_terminal(more: dict[str, str]) -> str:
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **more}
    for name in {"NO_COLOR", "FORCE_COLOR"} - set(more):
        environment.pop(name, None)
    command = [*PROGRAM, "count", str(EXAMPLE)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        text = read_terminal(mine)
    os.close(mine)
    assert running.returncode == 0
    return text


def read_terminal(terminal: int, until: str | None = None) -> str:
    """What was written to a terminal: up to a word, or to the end."""
    text = b""
    while until is None or until.encode() not in text:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux tells the end of a terminal so
            break
        if not piece:
            break
        text += piece
    return text.decode()
