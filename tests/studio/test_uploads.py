"""Dropped files: where they are, what they are called, how large they are, and that they go."""

from __future__ import annotations

import asyncio
import io
import stat
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from anonymatch.base.errors import InputError
from anonymatch.studio.uploads import Store, Upload, ending, names_of


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


# ---- archives


def packed(*files: tuple[str, str]) -> bytes:
    """A .zip with these names and contents."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return content.getvalue()


def test_a_folder_of_a_simulator_is_unpacked_and_removed(store: Store) -> None:
    content = packed(
        ("run/SentMessages.csv", "a"),
        ("run/ReceivedMessages.csv", "b"),
        ("run/notes.txt", "not needed"),
        ("__MACOSX/run/._SentMessages.csv", "x"),
    )

    upload = receive(store, "run.zip", content)

    assert upload.name == "run"
    assert sorted(path.name for path in upload.path.iterdir()) == [
        "ReceivedMessages.csv",
        "SentMessages.csv",
    ]
    assert (
        names_of(upload.path, upload.name)[str(upload.path / "SentMessages.csv")]
        == "run/SentMessages.csv"
    )
    store.leave("page")
    assert list(store.folder.iterdir()) == []


def test_the_only_file_of_an_archive_is_that_file(store: Store) -> None:
    upload = receive(store, "logs.zip", packed(("deep/er/My log.csv", "time,direction,name")))

    assert (upload.name, upload.path.suffix) == ("My log.csv", ".csv")
    assert upload.path.read_text() == "time,direction,name"


def test_flow_pairs_stay_in_folders_of_their_own(store: Store) -> None:
    upload = receive(
        store, "flows.zip", packed(("f/one/flowpair.json", "{}"), ("f/t w/flowpair.json", "{}"))
    )

    assert sorted(path.name for path in upload.path.iterdir()) == ["00001-one", "00002-t-w"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../SentMessages.csv", "leads out of the archive"),
        ("/etc/SentMessages.csv", "leads out of the archive"),
        ("a/..\\..\\SentMessages.csv", "leads out of the archive"),
        ("C:SentMessages.csv", "leads out of the archive"),
    ],
)
def test_an_archive_never_says_where_files_go(store: Store, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        receive(store, "a.zip", packed((name, "x")))

    assert list(store.folder.iterdir()) == []
    assert not (store.folder.parent / "SentMessages.csv").exists()


def test_a_link_in_an_archive_is_refused(store: Store) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        link = zipfile.ZipInfo("packet_log.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")

    with pytest.raises(InputError, match="a link; pack the files"):
        receive(store, "a.zip", content.getvalue())


def test_an_archive_that_unfolds_to_too_much_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.studio.uploads.allowed_unfolded", lambda packed: 10 * packed)
    store.limit = 1_000_000

    with pytest.raises(InputError, match=r"a\.zip: it unfolds to more than"):
        receive(store, "a.zip", packed(("packet_log.csv", "0" * 5_000_000)))

    assert list(store.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK no archive", "cannot be unpacked"),
        (packed(), "holds 0 files"),
        (
            packed(("a.csv", ""), ("b.csv", "")),
            r"holds 2 files \(a\.csv, b\.csv\), neither one log",
        ),
        (
            packed(("one/packet_log.csv", ""), ("two/packet_log.csv", "")),
            r"several runs of a simulator \(one, two\); pack one of them",
        ),
    ],
)
def test_an_archive_that_is_not_understood_is_told_in_one_line(
    store: Store, content: bytes, words: str
) -> None:
    with pytest.raises(InputError, match=words) as error:
        receive(store, "a.zip", content)

    assert "\n" not in str(error.value)
    assert list(store.folder.iterdir()) == []


def test_a_damaged_archive_leaves_nothing(store: Store) -> None:
    whole = packed(("packet_log.csv", "time and time again"))
    damaged = whole.replace(whole[45:55], b"x" * 10)

    with pytest.raises(InputError, match="cannot be unpacked"):
        receive(store, "a.zip", damaged)

    assert list(store.folder.iterdir()) == []
