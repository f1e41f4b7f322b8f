"""Files appear complete or not at all, and what stands in the way is said in one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from anonymatch.base.atomic_files import as_path, check_path, unfinished
from anonymatch.base.errors import InputError


def test_a_finished_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with unfinished(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError(), "the system refuses"),
        (InputError("too long"), "too long"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogate"), "UTF-8"),
    ],
    ids=repr,
)
def test_nothing_is_left_of_a_file_that_fails(
    tmp_path: Path, error: Exception, message: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(InputError, match=message), unfinished(path) as beside:  # noqa: PT012
        beside.write_text("ne")
        raise error

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_polars_says_is_passed_on_without_the_unfinished_name(tmp_path: Path) -> None:
    import polars as pl

    with pytest.raises(InputError, match="No space left"), unfinished(tmp_path / "a.csv"):
        raise pl.exceptions.ComputeError(f"x.tmp: os error {errno.ENOSPC}")


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), unfinished(tmp_path / "a.txt"):
        raise ZeroDivisionError

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"), [("", "folder"), ("no/a.txt", "does not exist"), ("x" * 300, "too long")]
)
def test_places_that_cannot_be(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message), unfinished(tmp_path / name) as beside:
        beside.write_text("")


def test_a_path_is_text_or_a_path() -> None:
    with pytest.raises(InputError, match="path must be"):
        as_path(3)  # type: ignore[arg-type]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(InputError, match="a device, a pipe or a socket; give the name"):
            check_path(path)
        with pytest.raises(InputError, match="a device"), unfinished(path) as beside:
            beside.write_text("x")

    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


def test_no_device_is_a_place() -> None:
    with pytest.raises(InputError, match="/dev/null: it is a device"):
        check_path(Path(os.devnull))


def test_a_link_to_a_file_is_a_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    with unfinished(tmp_path / "link") as beside:
        beside.write_text("new")

    assert (tmp_path / "link").read_text() == "new"
