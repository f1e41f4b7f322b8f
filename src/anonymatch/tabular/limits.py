"""How much a file may unfold to: a small file must not be able to fill the memory."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from anonymatch.base.errors import InputError

# What compressed text may always unfold to, and how many times its size beyond that. Edge lists
# compress 3 to 50 times; only made-up files compress 200 times.
_ALWAYS = 1 << 29
_TIMES = 200
_PIECE = 1 << 20

# The memory that reading a compressed file may always take, and how many times its size beyond
# that: short rows take far more memory than text.
_ALWAYS_MEMORY = 1 << 31
_TIMES_MEMORY = 1000


def free_memory() -> int:
    """Bytes of memory that are free for use now."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def check_memory(
    needed: int, what: str, advice: str | None = None, *, packed: int | None = None
) -> None:
    """Refuse work that is predicted to need more memory than there is.

    ``packed`` is the size of the file that holds it all, if that is compressed or can declare much
    in few bytes: then a small one may not take most of a large memory either.
    """
    if packed is not None and needed > max(_ALWAYS_MEMORY, _TIMES_MEMORY * packed):
        raise InputError(
            f"its {packed} bytes unfold to {what}, which would need about "
            f"{needed / 2**30:.1f} GiB of memory; "
            + (advice or "write it as plain text if you trust it")
        )
    free = free_memory()
    if needed > free:
        raise InputError(
            f"{what} would need about {needed / 2**30:.1f} GiB of memory and "
            f"{free / 2**30:.1f} GiB are free; {advice or 'split the file'}"
        )


def allowed_unfolded(packed: int) -> int:
    """Bytes that a compressed file of this size may unfold to."""
    return min(max(_ALWAYS, _TIMES * packed), free_memory() // 2)


def check_unfolded(unfolded: int, packed: int) -> None:
    """Refuse what unfolds to far more than honest data of its size does."""
    limit = allowed_unfolded(packed)
    if unfolded > limit:
        raise _too_large(packed, limit)


def gunzip(packed: bytes) -> bytes:
    """The content of a gzip file, as far as it is honest and complete."""
    pieces: list[bytes] = []
    size, limit = 0, allowed_unfolded(len(packed))
    whole = memoryview(packed)
    begin = 0
    while begin < len(packed):
        if packed[begin : begin + 2] != b"\x1f\x8b":
            if pieces and not packed[begin:].strip(b"\0"):
                break  # padding after the last member is customary
            raise InputError("it is not gzip-compressed; remove .gz from its name")
        member = zlib.decompressobj(wbits=31)
        try:
            while not member.eof:
                rest: bytes | memoryview = member.unconsumed_tail
                if not rest:
                    rest = whole[begin : begin + _PIECE]
                    begin += len(rest)
                    if not rest:
                        raise InputError("the gzip data is cut off; copy the file again")
                pieces.append(member.decompress(rest, _PIECE))
                size += len(pieces[-1])
                if size > limit:
                    raise _too_large(len(packed), limit)
        except zlib.error as error:
            raise InputError(f"the gzip data is damaged ({error}); copy it again") from None
        begin -= len(member.unused_data)
    return b"".join(pieces)


def _too_large(packed: int, limit: int) -> InputError:
    return InputError(
        f"its {packed} bytes unfold to more than {limit >> 20} MiB; "
        "unpack it yourself if you trust it"
    )
