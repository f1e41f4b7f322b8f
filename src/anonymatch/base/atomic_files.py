"""Files that are complete when they appear, or do not appear at all."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import BinaryIO, cast

from anonymatch.base.errors import InputError

__all__ = ["as_path", "check_path", "discard_unfinished", "unfinished", "unfinished_stream"]

_UNKNOWN = "the system refuses"
_TRIES = 8  # to empty a folder that another thread may be writing to

_folders: set[Path] = set()  # with files that are being written
_making_folders = RLock()  # again by the thread that has it: Ctrl-C may come to that one


def as_path(path: str | os.PathLike[str]) -> Path:
    """A Path from what users pass.

    Examples
    --------
    >>> as_path("graph.csv").suffix
    '.csv'
    """
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"path must be text or a Path, not {path!r}") from None
    if "\0" in str(file):
        raise InputError(f"{str(file)!r}: no file can have a name with a zero byte")
    return file


def check_path(path: Path) -> None:
    """Refuse, before any work is done, a place where no file can be written."""
    if os.path.isdir(path):  # unlike a Path, it does not fail on names that are too long
        raise InputError("it is a folder; give the name of a file").about(path)
    if os.path.exists(path) and not os.path.isfile(path):  # to be renamed over is its end
        raise InputError("it is a device, a pipe or a socket; give the name of a file").about(path)
    if not os.path.isdir(path.parent):
        raise InputError("its folder does not exist; make it first").about(path)
    if not os.access(path.parent, os.W_OK):
        raise InputError("no permission to write there; choose another folder").about(path)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A path near ``place`` to write to, which becomes ``place`` when all went well.

    What the system, polars or a name that is no text has against it becomes one clear line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with unfinished(Path(folder, "a.txt")) as beside:
    ...         _ = beside.write_text("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    check_path(path)
    folder = path.with_name(f".anonymatch-{secrets.token_hex(8)}")
    beside = folder / path.name
    try:
        with _making_folders:
            _folders.add(folder)
            folder.mkdir()
        yield beside
        beside.replace(path)
    except UnicodeEncodeError as error:
        raise InputError(f"the name {error.object!r} cannot be written as UTF-8").about(
            path
        ) from None
    except InputError as error:
        raise error.about(path) from None
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise InputError(f"cannot write it ({reason}); choose another place").about(path) from None
    finally:
        _remove(folder)
        _folders.discard(folder)


@contextmanager
def unfinished_stream(path: Path, *, packed: bool) -> Iterator[BinaryIO]:
    """What to write a file's bytes to, which gzip packs if the file is to be; see `unfinished`.

    Examples
    --------
    >>> import gzip, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.txt.gz")
    ...     with unfinished_stream(path, packed=True) as stream:
    ...         _ = stream.write(b"whole")
    ...     gzip.decompress(path.read_bytes())
    b'whole'
    """
    with unfinished(path) as beside, beside.open("xb") as file:
        if not packed:
            yield file
            return
        import gzip

        # Without name and time, so that the same content is the same file.
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
            yield cast("BinaryIO", stream)  # all of it that is written to


def discard_unfinished() -> None:
    """Remove all files that are being written, by whatever thread: the process ends without them.

    Files are written in folders of their own, because a file without one could still appear: when
    this is done, no thread can write in the old folders, and none can make a new one.
    """
    _making_folders.acquire()  # for good
    for folder in tuple(_folders):
        _remove(folder)


def _remove(folder: Path) -> None:
    for _ in range(_TRIES):
        with suppress(OSError):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        if not folder.exists():
            return


def _reason(error: Exception) -> str | None:
    """What the system says, without the name of the unfinished file; None for other errors."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, (OSError, polars.exceptions.PolarsError)):
        code = re.search(r"os error (\d+)", str(error))  # so polars passes it on
        return os.strerror(int(code[1])) if code else str(error).split("\n")[0] or _UNKNOWN
    return _UNKNOWN if isinstance(error, OSError) else None
