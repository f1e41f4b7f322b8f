"""Dropped files: where they are, what they are called, how large they are, and that they go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from anonymatch.base.errors import InputError
from anonymatch.studio.uploads import Store, Upload, ending


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(limit_mb=0.001)
    yield made
    made.close()


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


def receive(store: Store, name: str, *given: bytes, page: str = "page") -> Upload:
    return asyncio.run(store.receive(name, pieces(*given), page))


@pytest.mark.parametrize(
    "name",
    ["../../x.csv", "/etc/x.csv", "..\\..\\x.csv", "%2e%2e%2fx.csv", "a\x00.csv", ".csv", "x.CSV"],
)
def test_a_name_is_never_a_place(store: Store, name: str) -> None:
    upload = receive(store, name, b"user,behaviour\n")

    assert upload.path.parent == store.folder
    assert upload.path.name == f"{upload.token}.csv"
    assert upload.path.read_bytes() == b"user,behaviour\n"
    assert "/" not in upload.name
    assert "\x00" not in upload.name


@pytest.mark.parametrize("name", ["x", "x.", "x.c/../sv", "x.csv;rm", "x." + "a" * 40, "x.csv\n"])
def test_only_plain_endings_are_kept(name: str) -> None:
    assert ending(name) == ""


def test_a_file_at_the_limit_is_taken_and_one_beyond_is_not(store: Store) -> None:
    assert receive(store, "a.csv", b"x" * 600, b"x" * 400).path.stat().st_size == 1000
    with pytest.raises(InputError, match=r"larger than 0\.001 MB"):
        receive(store, "b.csv", b"x" * 600, b"x" * 401)

    assert len(list(store.folder.iterdir())) == 1


def test_a_file_stays_as_long_as_a_page_shows_it(store: Store) -> None:
    gone: list[str] = []
    store.on_gone(gone.append)
    upload = receive(store, "a.csv", b"x", page="one")
    assert store.adopt(upload.token, "two") is upload

    store.leave("one")
    assert upload.path.exists()
    store.leave("two")

    assert not upload.path.exists()
    assert gone == [upload.token]
    assert store.adopt(upload.token, "three") is None


def test_nothing_is_left_at_the_end() -> None:
    made = Store()
    receive(made, "a.csv", b"x")
    folder: Path = made.folder

    made.close()

    assert not folder.exists()


def test_others_on_the_machine_cannot_look_inside(store: Store) -> None:
    assert store.folder.stat().st_mode & 0o077 == 0
