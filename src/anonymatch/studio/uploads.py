"""Files that a reader drops on a page: kept in a folder of this machine, and removed after use.

A file is stored under a name of our own. Of the name that the browser sends only the ending is
used, to tell the format, and nothing of it is ever part of a path or run. A .zip is unpacked.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from anonymatch.base.errors import InputError
from anonymatch.base.text import label
from anonymatch.studio.archives import unpack

__all__ = ["Store", "Upload", "ending", "names_of"]

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
