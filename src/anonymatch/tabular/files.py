"""Files of tables and graphs: which may be read, their suffixes, their text and first lines."""

from __future__ import annotations

import csv
import difflib
import gzip
import json
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymatch.base.errors import InputError
from anonymatch.tabular import limits

TABLES = {".csv": True, ".tsv": True, ".parquet": False, ".jsonl": True}
"""Suffixes of tables, and whether .gz may follow them."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}

_QUOTED = re.compile(r'"[^"]*"')
_OTHER_SEPARATORS = ";\t"  # of a .csv file: ARX, and spreadsheets where numbers have commas
_FOLDER = "it is a folder; give a file in it"
_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 24


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file that can be read, compressed by gzip or not."""

    path: Path
    packed: bool

    @classmethod
    def of(cls, path: Path) -> Source:
        """A file that is compressed if its name ends in .gz."""
        return cls(path, packed=path.suffix.lower() == ".gz")

    def content(self) -> bytes:
        """All bytes, unpacked."""
        limits.check_memory(self.path.stat().st_size, "reading it")
        data = self.path.read_bytes()
        return limits.gunzip(data) if self.packed else data

    @property
    def size(self) -> int | None:
        """Bytes of the file if it is compressed, else None: as ``limits.check_memory`` wants it."""
        return self.path.stat().st_size if self.packed else None

    def text(self) -> str:
        """All text; UTF-8 or an InputError with the line."""
        return decode(self.content())


def decode(content: bytes) -> str:
    """UTF-8 text without a byte order mark, or an InputError with the line."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8"
        ).at(line) from None


# ---- names of files


def split_suffix(path: Path) -> tuple[str, bool]:
    """The suffix that tells the format, in small letters, and whether the file is compressed.

    Examples
    --------
    >>> split_suffix(Path("log.CSV.gz")), split_suffix(Path("log.json"))
    (('.csv', True), ('.json', False))
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    return "".join(suffixes[:1] if packed and len(suffixes) == 2 else suffixes[-1:]), packed


def suffix_of(
    path: Path, known: Mapping[str, bool] = TABLES, *, of: str = "message logs"
) -> tuple[str, bool]:
    """The suffix of a file, and whether the file is compressed; refuses those that are not known.

    ``known`` has the suffixes and whether .gz may follow; ``of`` is what they are formats of.
    """
    suffix, packed = split_suffix(path)
    if suffix in known and (not packed or known[suffix]):
        return suffix, packed
    if path.is_dir():
        raise InputError(_FOLDER).about(path)
    may_be_packed = [each for each, may in known.items() if may]
    raise InputError(
        f"its suffix tells no known format{f' of {of}' if of else ''}; known are "
        f"{' '.join(known)}, and .gz after {' '.join(may_be_packed)}"
    ).about(path)


def separator_in(header: str, usual: str) -> str:
    """What stands between the fields of a text table, by its first line.

    It is the usual one, unless a line of a .csv file has another and no comma outside quotes.

    Examples
    --------
    >>> separator_in("user;behaviour", ","), separator_in('user,"a;b"', ",")
    (';', ',')
    """
    plain = _QUOTED.sub("", header)
    if usual != "," or usual in plain:
        return usual
    return next((mark for mark in _OTHER_SEPARATORS if mark in plain), usual)


# ---- first looks


def first_line(path: Path) -> str:
    """The first line of a file, unpacked; nothing where it cannot be unpacked."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            head = file.read(_HEAD).lstrip(b"\xef\xbb\xbf\r\n ")
            if b"\n" not in head:
                head += file.readline(_LONGEST_HEAD)
    except (EOFError, ValueError, zlib.error, gzip.BadGzipFile):
        return ""
    return head.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")


def header(path: Path) -> list[str] | None:
    """The columns that a table seems to have, by its first line; None if that names none.

    What is wrong with the file is said when it is read.
    """
    suffix, _ = split_suffix(path)
    if suffix == ".parquet":
        from anonymatch.tabular import parquet  # imports polars

        return parquet.columns(Source(path, packed=False))
    line = first_line(path)
    if suffix != ".jsonl":
        separator = separator_in(line, SEPARATORS.get(suffix, ","))
        try:
            return [column.strip() for column in next(csv.reader([line], delimiter=separator), [])]
        except csv.Error:
            return []
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return list(record) if isinstance(record, dict) else None


# ---- files that may be read


@contextmanager
def about(path: Path) -> Iterator[None]:
    """What is wrong becomes one line that begins with the file, if it does not yet."""
    try:
        yield
    except InputError as error:
        raise error.about(path) from None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Refuse what is no regular file; what is wrong inside becomes one line with its name."""
    try:
        _check_file(path)
        yield
    except InputError as error:
        raise error.about(path) from None
    except OSError as error:
        raise InputError(_reason(error)).about(path) from None
    except MemoryError:
        raise InputError("reading it needs more memory than there is").about(path) from None


def _check_file(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"there is no such file; {_nearby(path)}") from None
    if stat.S_ISDIR(kind):
        raise InputError(_FOLDER)
    if not stat.S_ISREG(kind):
        raise InputError("it is not a regular file; save its content to one first")
    try:
        str(path).encode()
    except UnicodeEncodeError:  # polars cannot open it
        raise InputError("its name is not UTF-8; rename it") from None
    with path.open("rb"):
        pass


def _nearby(path: Path) -> str:
    """A hint at files in the same folder with a similar name."""
    try:
        there = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"nor a folder {str(path.parent)!r}; check the path"
    close = difflib.get_close_matches(path.name, there[:10_000], n=3)
    return f"did you mean {' or '.join(close)}?" if close else "check the path"


def _reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it; ask its owner or choose another file"
    return f"cannot read it ({error.strerror or type(error).__name__})"
