"""Damaged files of every format give an answer or one clear line."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest
from benchmarks.fuzz.examples import examples
from benchmarks.fuzz.run import main, save
from benchmarks.fuzz.trial import ANSWER, REFUSAL, Case, Trials, case

CORPUS = Path(__file__).parents[2] / "golden" / "fuzz"
EXAMPLES = len(examples())
ROUNDS = 40


def stored(folder: Path) -> Case:
    about = json.loads((folder / "case.json").read_text())
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "case.json"
    }
    return Case(name=folder.name, files=files, path=about["path"], options=about["options"])


def test_every_example_is_read() -> None:
    with Trials.within() as trials:
        for example in examples():
            given = Case(
                name=example.name, files=example.files, path=example.path, options=example.options
            )
            assert trials.outcome(given) == ANSWER, example.name


@pytest.mark.slow
def test_thousands_of_damaged_files_give_an_answer_or_one_line() -> None:
    numbers = range(ROUNDS * EXAMPLES)
    with Trials.within() as trials:
        outcomes = {number: trials.outcome(case(7, number)) for number in numbers}

    failures = {number: what for number, what in outcomes.items() if what not in (ANSWER, REFUSAL)}
    assert not failures
    assert len(outcomes) > 3000
    # Damage that only ever ends at the door, or never matters, would test little.
    assert 0.05 < list(outcomes.values()).count(ANSWER) / len(outcomes) < 0.6


@pytest.mark.parametrize("folder", sorted(CORPUS.iterdir()), ids=lambda folder: folder.name)
def test_what_was_found_before_is_read_or_refused(folder: Path) -> None:
    with Trials.within() as trials:
        assert trials.outcome(stored(folder)) in (ANSWER, REFUSAL)


def test_the_same_number_is_the_same_damage() -> None:
    assert [case(3, number) for number in range(50)] == [case(3, number) for number in range(50)]
    assert case(3, 11).files != case(4, 11).files


def test_a_reader_that_raises_prints_or_warns_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = case(1, 0)

    def raising(*_: object, **__: object) -> None:
        raise KeyError("x")

    def printing(*_: object, **__: object) -> None:
        os.write(2, b"thread panicked")
        raise ValueError

    def warning(*_: object, **__: object) -> None:
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
        from anonymatch import InputError

        raise InputError("no")

    with Trials.within() as trials:
        for reader, expected in (
            (raising, "raises KeyError"),
            (printing, "prints 'thread panicked'"),
            (warning, "warns: RuntimeWarning: odd"),
        ):
            monkeypatch.setattr("benchmarks.fuzz.trial.open_observation", reader)
            assert trials.outcome(given).startswith(expected)


@pytest.mark.slow
def test_the_program_reads_many_and_saves_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = main(["--files", "60", "--workers", "2", "--seed", "7", "--save", str(tmp_path / "f")])

    assert ended == 0
    assert "60 files" in capsys.readouterr().out.splitlines()[-1]
    assert not (tmp_path / "f").exists()
    given = case(7, 1)
    assert stored(save(given, "fails", tmp_path)).files == given.files
