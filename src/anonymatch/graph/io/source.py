"""Source: the file that is being read, opened carefully."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymatch.base.errors import InputError
from anonymatch.graph.io import limits


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file that can be read, compressed by gzip or not."""

    path: Path
    packed: bool

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
