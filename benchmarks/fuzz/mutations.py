"""Damage: bytes, fields, lines, values of JSON, members of archives, columns of tables."""

from __future__ import annotations

import gzip
import io
import json
import math
import random
import zipfile
import zlib
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

__all__ = ["mutate"]

_LARGEST = 1 << 18  # bytes of a damaged file: what is slow or large must be so for its kind
_DAMAGED = (
    ValueError,
    LookupError,
    EOFError,
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    pl.exceptions.PolarsError,
)

_WORDS = """
0 -0 -1 1 2 nan inf -inf 1e400 1e-400 1e308 -1e308 5e-324 1e30 1e31 1/3 1/0 0/1 -1/2
1/9999999999999999999999 9223372036854775807 9223372036854775808 18446744073709551616 2147483648
4294967296 0x10 1_000 1,5 +3 .5 5. 1e true null None in out real cover " "" "a ' =1+1
2024-01-01T00:00:00Z 2024-01-01T00:00 2024-02-30T25:61:61 0001-01-01T00:00:00 2024-01-01
1677-09-21T00:12:43 2262-04-11T23:47:17 9999-12-31T23:59:60+99:99 % * 20-29 [20,30) {a,b} <30 [1,1)
30-20 user behaviour weight time direction name \u0661\u0662 \ufeff \U0001f600
"""
_ODD = b"", b" ", b"\x00", b"\xff", b"\xed\xa0\x80", b"9" * 400, b"9" * 5000
_SPACES = ("\u00a0".encode(), "\u2028".encode())
_FIELDS = (*_ODD, *_SPACES, *(word.encode() for word in _WORDS.split()))
_SEPARATORS = (b",", b"\t", b";", b"\n", b"\r\n", b"\r", b" ", b'"', b"\x00", b"\xff", b"\n\n")
_TOKENS = (*(bytes([byte]) for byte in b'[{]},\n"09(\x00'), b'{"a":', b"[[", b"a,")
_NUMBERS = (0, -1, 1, 2, 3, 10_000, 10_001, 2**31, 2**62, 2**63, 10**30, 10**400)
_FLOATS = (0.5, -0.5, 1e308, 5e-324, math.inf, math.nan)
_TEXTS = ("", "a", "0", "1/3", "1/0", "in", "=1", "\x00", "\ud800", "\u2028", "x" * 5000)
_LISTS: tuple[list[Any], ...] = (
    [], [[]], [None], ["a"], ["a", "b"], ["a", "b", 1], [0, 1], [[0, 1]], [[0, 53]], [[1, 2, 3]],
    list(range(300)),
)  # fmt: skip
_OBJECTS: tuple[dict[str, Any], ...] = ({}, {"a": []}, {"members": ["o1"]}, {"": ""})
_VALUES = (None, True, False, *_NUMBERS, *_FLOATS, *_TEXTS, *_LISTS, *_OBJECTS)


def mutate(name: str, content: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """The content of a file with some damage; ``others`` are files to take pieces from."""
    choices = _BY_SUFFIX.get(name.rpartition(".")[2], ())
    if choices and draws.random() < 0.7:
        try:
            return draws.choice(choices)(name, content, draws, others)
        except _DAMAGED:
            pass  # it is no archive and no JSON any more, or such a column cannot be
    for _ in range(draws.choice((1, 1, 1, 2, 3, 8))):
        content = draws.choice(_ANYWHERE)(content, draws, others)
    return content[:_LARGEST]


# ---- bytes


def _span(content: bytes, draws: random.Random, most: int = 64) -> tuple[int, int]:
    begin = draws.randint(0, len(content))
    return begin, min(begin + draws.randint(1, most), len(content))


def _change(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    damaged = bytearray(content)
    for _time in range(draws.choice((1, 1, 2, 8)) if content else 0):
        damaged[draws.randrange(len(damaged))] = draws.choice((0, 0xFF, 0x80, draws.randrange(256)))
    return bytes(damaged)


def _flip(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    damaged = bytearray(content)
    if content:
        damaged[draws.randrange(len(damaged))] ^= 1 << draws.randrange(8)
    return bytes(damaged)


def _cut(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    at = draws.randint(0, len(content))
    return content[:at] if draws.random() < 0.8 else content[at:]


def _drop(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _span(content, draws)
    return content[:begin] + content[end:]


def _insert(content: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    at = draws.randint(0, len(content))
    other = draws.choice(others)
    begin, end = _span(other, draws, 200)
    piece = draws.choice((other[begin:end], draws.randbytes(4), draws.choice(_FIELDS)))
    return content[:at] + piece + content[at:]


def _repeat(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _span(content, draws)
    piece = draws.choice((content[begin:end], draws.choice(_TOKENS)))
    return content[:begin] + piece * draws.choice((2, 2, 3, 17, 1000, 100_000)) + content[begin:]


def _field(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    """Another field between two separators."""
    marks = [at for at, byte in enumerate(content) if byte in b',;\t\n :"[]{}']
    if len(marks) < 2:
        return content
    first = draws.randrange(len(marks) - 1)
    return content[: marks[first] + 1] + draws.choice(_FIELDS) + content[marks[first + 1] :]


def _line(content: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """A line dropped, doubled, moved, or taken from another file."""
    lines = content.splitlines(keepends=True) or [b""]
    at, other = draws.randrange(len(lines)), draws.randrange(len(lines))
    foreign = draws.choice(others).splitlines(keepends=True) or [b""]
    what = draws.randrange(5)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(other, lines[at])
    elif what == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif what == 3:
        lines.insert(at, draws.choice(foreign))
    else:
        lines.insert(at, b"\n" * draws.choice((1, 2, 1000)))
    return b"".join(lines)


def _separators(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    times = draws.choice((1, -1))
    return content.replace(draws.choice(_SEPARATORS), draws.choice(_SEPARATORS), times)


def _encoding(content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    text = content.decode("utf-8", "replace")
    code = draws.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32", "utf-7"))
    return text.encode(code, "replace")


_ANYWHERE: tuple[Callable[[bytes, random.Random, Sequence[bytes]], bytes], ...] = (
    _change, _flip, _cut, _drop, _insert, _insert, _repeat, _field, _field, _field, _line, _line,
    _separators, _encoding,
)  # fmt: skip


# ---- what formats are made of


def _unpacked(name: str, content: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """Damage inside of gzip."""
    inside = gzip.decompress(content)
    return gzip.compress(mutate(name[:-3], inside, draws, others), compresslevel=1, mtime=0)


def _members(name: str, content: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """Damage inside of one member of an archive, whose checksums are right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    chosen = draws.choice(sorted(members))
    what = draws.randrange(6)
    if what == 0:
        members[draws.choice(sorted(members))] = members[chosen]
    elif what == 1:
        del members[chosen]
    elif what == 2:  # the header of an array
        head, end, body = members[chosen].partition(b"\n")
        damaged = mutate("header", head[10:], draws, others)
        size = len(damaged).to_bytes(4, "little")[:2] if draws.random() < 0.9 else head[8:10]
        members[chosen] = head[:8] + size + damaged + end + body
    else:
        members[chosen] = mutate("array", members[chosen], draws, others)
    stream = io.BytesIO()
    packing = draws.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(stream, "w") as archive:
        for member, inside in members.items():
            undated = zipfile.ZipInfo(member)  # the same number is the same damage tomorrow
            archive.writestr(undated, inside, packing)
    return stream.getvalue()


def _values(_name: str, content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    """Other values in a JSON document, or in one line of JSON lines."""
    lines = content.splitlines() if _name.endswith("jsonl") else [content]
    at = draws.randrange(len(lines))
    document = json.loads(lines[at])
    for _time in range(draws.choice((1, 1, 2, 4))):
        document = _other(document, draws, draws.randint(0, 5))
    lines[at] = json.dumps(document).encode()
    return b"\n".join(lines)


def _other(value: Any, draws: random.Random, depth: int) -> Any:
    if depth == 0 or not value or not isinstance(value, (dict, list)):
        return draws.choice(_VALUES)
    if isinstance(value, list):
        at = draws.randrange(len(value))
        changed = [*value]
        if draws.random() < 0.1:
            changed.insert(at, changed[at])
        elif draws.random() < 0.1:
            del changed[at]
        else:
            changed[at] = _other(value[at], draws, depth - 1)
        return changed
    key = draws.choice(list(value))
    if draws.random() < 0.1:
        return {other: inside for other, inside in value.items() if other != key}
    if draws.random() < 0.1:
        return {**value, draws.choice(("", "x", *value)): value[key]}
    return {**value, key: _other(value[key], draws, depth - 1)}


def _column(_name: str, content: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    """A column of a Parquet file with values of another type, or under another name."""
    frame = pl.read_parquet(io.BytesIO(content))
    name = draws.choice(frame.columns)
    kind = draws.choice(_KINDS)
    values = [draws.choice([None, *kind]) for _ in range(frame.height)]
    given = pl.Series(name, values, strict=False)
    what = draws.randrange(6)
    if what == 0:
        frame = frame.rename({name: draws.choice(("time", "USER", "weight", "x", " user", ""))})
    elif what == 1:
        frame = frame.clear()
    else:
        frame = frame.with_columns(given.cast(pl.Categorical) if kind is _CATEGORIES else given)
    stream = io.BytesIO()
    frame.write_parquet(stream, compression="uncompressed")
    return stream.getvalue()


_CATEGORIES = ("a", "", "in", "1", "\x00", "=1")
_KINDS: tuple[tuple[Any, ...], ...] = (
    _CATEGORIES,
    (0, 1, -1, 2**62),
    (2**63, 2**64 - 1),
    (0.5, -1.0, float("nan"), float("inf"), 1e308),
    (True, False),
    (b"a", b"\xff"),
    (Decimal("1.5"), Decimal("-3")),
    (date(1, 1, 1), date(9999, 12, 31), date(2024, 1, 1)),
    (datetime(1, 1, 1), datetime(9999, 12, 31), datetime(2024, 1, 1)),
    (time(1), time(23, 59, 59)),
    (timedelta(days=1), timedelta(days=-100_000)),
    ([1], []),
    ({"a": 1},),
    (None,),
)

_Kind = Callable[[str, bytes, random.Random, Sequence[bytes]], bytes]
_BY_SUFFIX: dict[str, tuple[_Kind, ...]] = {
    "gz": (_unpacked,),
    "npz": (_members,),
    "json": (_values,),
    "jsonl": (_values,),
    "parquet": (_column,),
}
