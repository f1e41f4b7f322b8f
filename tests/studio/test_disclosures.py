"""What the page of rounds asks for: a log of a file or of four numbers, looked at once."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.disclosure import Disclosure, RoundLog, RoundsOptions
from anonymatch.studio.pages.rounds import RoundsRequest
from anonymatch.studio.session import Remembered

SMALL = RoundsRequest(users=5, friends=2, batch=2, rounds=6, seed=3)


def log_of(request: RoundsRequest) -> RoundLog:
    log = request.log()
    assert isinstance(log, RoundLog)
    return log


def of_file(path: Path, name: str = "mine.csv") -> RoundsRequest:
    return RoundsRequest(name=name, path=path, token="t")


@pytest.mark.parametrize("request_", [RoundsRequest(), SMALL])
def test_an_address_leads_back_to_the_same_rounds(request_: RoundsRequest) -> None:
    again = RoundsRequest.of({name: str(value) for name, value in request_.values().items()})

    assert again == request_


@pytest.mark.parametrize(
    "query",
    [
        {"users": "1", "friends": "9", "batch": "9"},
        {"users": "3"},
        {"users": "10000000", "rounds": "-4", "batch": "nan"},
    ],
)
def test_any_address_gives_a_log_that_can_be_made(query: dict[str, str]) -> None:
    request = RoundsRequest.of(query)

    assert request.batch <= request.users
    assert request.friends <= request.users
    assert log_of(request).n_rounds == request.rounds


def test_options_of_the_attack_are_in_the_address_and_the_command() -> None:
    target = str(log_of(SMALL).users[0])
    query = {"users": "5", "rounds": "6", "attack.method": "sda", "attack.target": target}
    request = RoundsRequest.of(query | {"attack.law": "measured:/etc/passwd"})
    again = RoundsRequest.of({name: str(value) for name, value in request.values().items()})

    assert again == request
    assert request.read == RoundsOptions(method="sda", target=target)
    assert request.command().endswith(f"--method sda --target '{target}' --budget 20")
    assert str(request.find().target) == target


def test_python_lines_give_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines: dict[str, object] = {}
    exec(SMALL.python().replace("print", "repr"), lines)
    found = lines["found"]

    assert isinstance(found, Disclosure)
    assert found.decay.equals(SMALL.find().decay)
    assert (tmp_path / "rounds.html").exists()


def test_command_lines_give_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in SMALL.command().splitlines():
        assert main([*shlex.split(line)[1:], "--json"]) == 0
    *_, last = capsys.readouterr().out.strip().splitlines()

    bits = [point["bits"] for point in json.loads(last)["curve"]]
    expected = [None if one.bits is None else one.bits.value for one in SMALL.find().curve]
    # In a file users are in the order in which they first come: chains draw other matchings.
    assert [value["value"] for value in bits] == pytest.approx(expected, abs=0.06)


def test_rounds_of_a_file_are_those_of_the_library(tmp_path: Path) -> None:
    log = log_of(SMALL)
    am.disclosure.write_rounds(log, tmp_path / "x.csv")
    request = of_file(tmp_path / "x.csv")

    assert request.values() == {"file": "t"}
    assert log_of(request).n_messages == log.n_messages
    assert request.command() == "anonymatch rounds mine.csv --budget 20"


def test_errors_and_notes_name_the_file_as_the_reader_does(tmp_path: Path) -> None:
    path = tmp_path / "token.csv"
    path.write_text("round,user,behaviour\n1,ann,x\n")

    with pytest.raises(am.InputError, match=r"^my log\.csv: line 2: there is a user and"):
        of_file(path, "my log.csv").find()

    path.write_text("round,user,behaviour\n2,ann,\n2,,x\n1,bob,\n1,,x\n")
    (note,) = of_file(path, "my log.csv").find().notes
    assert note.startswith("my log.csv: line 4: round 1 comes after round 2")
    assert of_file(path, "my log.csv").command() == "anonymatch rounds 'my log.csv' --budget 20"


def test_rounds_are_looked_at_once_until_their_file_is_gone(tmp_path: Path) -> None:
    am.disclosure.write_rounds(log_of(SMALL), tmp_path / "x.csv")
    answers, request = Remembered(), of_file(tmp_path / "x.csv")
    first = answers.once(request, request.find)

    assert answers.once(request, request.find) is first
    answers.forget("another")
    assert answers.known(request) is first
    answers.forget("t")
    assert answers.known(request) is None


def test_progress_is_told_and_may_stop_the_work() -> None:
    def stop(_done: float, _total: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        RoundsRequest(users=40, batch=8, rounds=500).find(stop)
