"""Files that a reader drops on a page: kept in a folder of this machine, and removed after use.

A file is stored under a name of our own. Of the name that the browser sends only the ending is
used, to tell the format, and nothing of it is ever part of a path or run. A .zip is unpacked: only
files with names that simulators write are taken, or the one file that there is.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from anonymatch.base.errors import InputError
from anonymatch.base.text import label, listed, quoted, several
from anonymatch.mixes import PARTS
from anonymatch.studio.tuning import TUNING
from anonymatch.tables import released_first
from anonymatch.tabular import TIMES, allowed_unfolded, header, split_suffix

_ENDING = re.compile(r"(?:\.[a-z0-9]{1,10}){1,2}\Z")
_MB = 1_000_000


def ending(name: str) -> str:
    r"""The ending of a file's name by which formats are told; "" if it has none.

    Examples
    --------
    >>> [ending(name) for name in ("seen.csv", "a.b.JSONL.gz", "../../etc/passwd", "x.\x00csv")]
    ['.csv', '.jsonl.gz', '', '']
    """
    last = re.split(r"[/\\]", name)[-1].lower()
    match = _ENDING.search(last)
    if match is None:
        return ""
    parts = match.group().split(".")[1:]
    return "".join(f".{part}" for part in (parts if parts[-1] in ("gz",) else parts[-1:]))


@dataclass(eq=False)
class Upload:
    """A file that was dropped: what it is called, where it is, and which pages show it.

    Of an archive ``path`` is what was in it: a folder, or its only file. ``stored`` is what is
    removed in the end.
    """

    token: str
    name: str
    path: Path
    stored: Path
    pages: set[str] = field(default_factory=set)


def names_of(path: Path, name: str) -> dict[str, str]:
    """From paths on this machine to what the reader calls them; a folder with all in it."""
    names = {str(path): name}
    if path.is_dir():
        names |= {str(each): f"{name}/{each.relative_to(path)}" for each in path.rglob("*")}
    return names


class Store:
    """All files of the studio, in one folder that goes with it."""

    def __init__(self, limit_mb: float = 200.0) -> None:
        self.limit = int(limit_mb * _MB)
        self.folder = Path(tempfile.mkdtemp(prefix="anonymatch-studio-"))
        self.folder.chmod(0o700)
        self._uploads: dict[str, Upload] = {}
        self._gone: list[Callable[[str], None]] = []

    @property
    def refusal(self) -> str:
        return (
            f"the file is larger than {self.limit / _MB:g} MB; start the studio with a larger "
            "--upload-limit, or audit it on the command line"
        )

    async def receive(self, name: str, chunks: AsyncIterator[bytes], page: str) -> Upload:
        """Store a file piece by piece; InputError as soon as it is beyond the limit."""
        token = secrets.token_urlsafe(16)
        shown = label(re.split(r"[/\\]", unquote(name))[-1] or "file", 80)
        path = self.folder / f"{token}{ending(unquote(name))}"
        size = 0
        try:
            with path.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > self.limit:
                        raise InputError(self.refusal)
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        upload = Upload(token, shown, path, path, {page})
        if path.suffix == ".zip":
            upload = await asyncio.to_thread(self._unpacked, upload)
        self._uploads[token] = upload
        return upload

    def _unpacked(self, upload: Upload) -> Upload:
        """The content of an archive in its place."""
        folder = self.folder / upload.token
        try:
            content = unpack(upload.path, upload.name, folder)
        finally:
            upload.path.unlink(missing_ok=True)
        return Upload(upload.token, content.name, content.path, folder, upload.pages)

    def rename(self, upload: Upload, name: str) -> None:
        """Give a file a name of our own that texts may show, in a folder of its own."""
        if upload.stored.is_dir():
            return
        folder = self.folder / f"{upload.token}-named"
        folder.mkdir(mode=0o700)
        upload.path = upload.path.rename(folder / f"{name}{upload.path.suffix}")
        upload.stored = folder

    def adopt(self, token: str, page: str) -> Upload | None:
        """The file of that token, which now also stays as long as that page; None if it is gone."""
        upload = self._uploads.get(token)
        if upload is not None:
            upload.pages.add(page)
        return upload

    def leave(self, page: str) -> None:
        """A page is closed: files that no other page shows are removed."""
        for token, upload in list(self._uploads.items()):
            upload.pages.discard(page)
            if not upload.pages:
                del self._uploads[token]
                if upload.stored.is_dir():
                    shutil.rmtree(upload.stored, ignore_errors=True)
                else:
                    upload.stored.unlink(missing_ok=True)
                for call in self._gone:
                    call(token)

    def on_gone(self, call: Callable[[str], None]) -> None:
        """Tell when a file is removed."""
        self._gone.append(call)

    def close(self) -> None:
        """Remove everything."""
        self._uploads.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


_ALSO = frozenset({"DummyMessages.csv"})  # that a simulator's folder may have beside its parts
_SIGNS = re.compile(r"[^A-Za-z0-9_-]+")
_MEMBER_ENDING = re.compile(r"(?:\.[A-Za-z0-9]{1,10}){1,2}\Z")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Where the content of an archive is: a folder, or its only file; and what that is called."""

    path: Path
    name: str


def unpack(archive: Path, name: str, folder: Path) -> Unpacked:
    """Unpack a .zip into a new folder; InputError, and nothing is left, if it is not to be trusted.

    ``name`` is the reader's name of the archive.
    """
    folder.mkdir(mode=0o700)
    try:
        with zipfile.ZipFile(archive) as file:
            members = _checked(file)
            chosen = _chosen(members, folder, name)
            _extract(file, chosen, allowed_unfolded(archive.stat().st_size))
    except InputError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise error.about(name) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError("it cannot be unpacked; is it a whole .zip file?").about(name) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if len(chosen) == 1 and next(iter(chosen)).parent == folder and _only(chosen):
        path, info = next(iter(chosen.items()))
        return Unpacked(path, label(PurePosixPath(info.filename).name, 80))
    return Unpacked(folder, name.removesuffix(".zip").removesuffix(".ZIP") or name)


def _only(chosen: dict[Path, zipfile.ZipInfo]) -> bool:
    """Whether the one file is no part of a simulator's folder."""
    return not any(path.name in PARTS for path in chosen)


def _checked(file: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Its files; refused are those that would be put elsewhere, or are none."""
    members = []
    for info in file.infolist():
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in info.filename:
            raise InputError(
                f"it holds {label(info.filename, 60)!r}, a path that leads out of the archive; "
                "pack the folder anew"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise InputError(f"it holds {label(info.filename, 60)!r}, a link; pack the files")
        if info.is_dir() or "__MACOSX" in path.parts or path.name.startswith("."):
            continue
        if info.flag_bits & 1:
            raise InputError("it is encrypted; pack it without a password")
        members.append(info)
    if len(members) > TUNING.most_files:
        raise InputError(
            f"it holds {len(members):,} files, and at most {TUNING.most_files:,} are unpacked; "
            "audit the folder on the command line"
        )
    return members


def _chosen(members: list[zipfile.ZipInfo], folder: Path, name: str) -> dict[Path, zipfile.ZipInfo]:
    """Which files are taken, by where they go."""
    known = [info for info in members if _path(info).name in PARTS | _ALSO]
    if not any(_path(info).name in PARTS for info in known):
        if len(members) == 1:
            ending = _MEMBER_ENDING.search(_path(members[0]).name)
            return {folder / f"file{ending.group().lower() if ending else ''}": members[0]}
        held = ", ".join(label(_path(info).name, 40) for info in members[: TUNING.named])
        more = ", …" if len(members) > TUNING.named else ""
        raise InputError(
            f"it holds {several(len(members), 'file')}"
            + (f" ({held}{more})" if members else "")
            + ", neither one log nor the folder of a simulator; drop the one file that is meant"
        )
    parents = dict.fromkeys(_path(info).parent for info in known)
    homes = dict.fromkeys(parents, folder)
    if len(parents) > 1:
        homes = {
            parent: folder / f"{number:05d}-{_SIGNS.sub('-', parent.name)[:60]}"
            for number, parent in enumerate(parents, start=1)
        }
        runs = [info for info in known if _path(info).name in PARTS - {"flowpair.json"}]
        if runs:
            several_runs = sorted({str(_path(info).parent) for info in runs})[: TUNING.named]
            raise InputError(
                f"it holds several runs of a simulator ({label(', '.join(several_runs), 80)}); "
                "pack one of them"
            )
    chosen: dict[Path, zipfile.ZipInfo] = {}
    for info in known:
        path = homes[_path(info).parent] / _path(info).name
        if path in chosen:
            raise InputError(f"it holds {_path(info).name} twice; pack the folder anew")
        chosen[path] = info
    return chosen


def _path(info: zipfile.ZipInfo) -> PurePosixPath:
    return PurePosixPath(info.filename.replace("\\", "/"))


def _extract(file: zipfile.ZipFile, chosen: dict[Path, zipfile.ZipInfo], allowed: int) -> None:
    """Write them, whatever sizes they declare, as long as all are small enough together."""
    left = allowed
    for path, info in chosen.items():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with file.open(info) as source, path.open("xb") as target:
            while piece := source.read(TUNING.piece):
                left -= len(piece)
                if left < 0:
                    raise InputError(
                        f"it unfolds to more than {allowed / 1e6:,.0f} MB; audit the folder on the "
                        "command line if you trust it"
                    )
                target.write(piece)


_OUT = re.compile(r"(^|[^a-z])(out|departures?|received|receivers?|left|exits?)([^a-z]|$)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Dropped:
    """One file to audit, and those that belong to it.

    ``second`` is its messages out or the table before release, as ``role`` says. ``delays`` were
    measured, for a law. ``hierarchies`` are by column.
    """

    file: Upload
    second: Upload | None = None
    role: str = "departures"
    delays: Upload | None = None
    hierarchies: dict[str, Upload] = field(default_factory=dict)


def sort_out(uploads: Sequence[Upload]) -> Dropped:
    """What each of some files is; InputError where that is not clear."""
    if len(uploads) == 1:
        return Dropped(file=uploads[0])
    columns = {each.token: columns_of(each.path) for each in uploads}
    logs = [each for each in uploads if _is_log(columns[each.token])]
    rest = [each for each in uploads if each not in logs]
    delays = [each for each in rest if _is_delays(columns[each.token])] if logs else []
    rest = [each for each in rest if each not in delays]
    hierarchies = _hierarchies(rest, columns)
    tables = [each for each in rest if each not in hierarchies.values()]
    if logs and not tables and len(logs) <= 2 and len(delays) <= 1:
        ordered = sorted(logs, key=lambda each: bool(_OUT.search(each.name.lower())))
        return Dropped(
            file=ordered[0],
            second=ordered[1] if len(ordered) == 2 else None,
            delays=delays[0] if delays else None,
        )
    if not logs and len(tables) == 2:
        released, original = tables
        if not released_first(released.path, original.path):
            released, original = original, released
        return Dropped(file=released, second=original, role="original", hierarchies=hierarchies)
    if not logs and len(tables) == 1:
        return Dropped(file=tables[0], hierarchies=hierarchies)
    raise InputError(
        f"it is not clear what {listed([each.name for each in uploads])} are to each other; drop a "
        "released table with the original one and hierarchies named by their column, or a log with "
        "its messages out or measured delays"
    )


def columns_of(path: Path) -> list[str]:
    """The fields of the first line of a table; none of other files."""
    known = split_suffix(path)[0] in (".csv", ".tsv", ".txt", ".parquet")
    return (header(path) or []) if known and not path.is_dir() else []


def _is_log(columns: Sequence[str]) -> bool:
    return not {each.lower() for each in columns}.isdisjoint(TIMES)


def _is_delays(columns: Sequence[str]) -> bool:
    """Whether a file is numbers, one a line, or has a column of delays."""
    if any(each.lower() == "delay" for each in columns):
        return True
    try:
        return len(columns) == 1 and float(columns[0]) >= 0.0
    except ValueError:
        return False


def _hierarchies(uploads: Sequence[Upload], columns: dict[str, list[str]]) -> dict[str, Upload]:
    """Files without a line of names that are called as a column of another one."""
    named: dict[str, Upload] = {}
    for each in uploads:
        others = {
            column
            for other in uploads
            if other is not each
            for column in columns[other.token]
            if len(columns[other.token]) > 1
        }
        column = _called(each.name, others)
        if column is not None and column not in columns[each.token]:  # else it is a table itself
            if column in named:
                raise InputError(f"there are two hierarchies of {quoted(column)}; drop one")
            named[column] = each
    return named


def _called(name: str, columns: set[str]) -> str | None:
    """The longest column that the name of a file has as a word, such as adult_hierarchy_age.csv."""
    stem = re.sub(r"(\.[a-z0-9]{1,10}){1,2}$", "", name.lower())
    for column in sorted(columns, key=lambda each: (-len(each), each)):
        word = re.escape(column.lower())
        if column and re.search(rf"(^|[^a-z0-9]){word}([^a-z0-9]|$)", stem):
            return column
    return None
