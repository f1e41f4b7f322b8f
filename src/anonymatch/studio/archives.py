"""Folders of simulators that come as .zip: unpacked with care, and never to where they say.

Only files with names that simulators write are taken, or the one file that there is. What they are
called on this machine is ours: of their folders' names letters, digits and a few signs are left.
"""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from anonymatch.base.errors import InputError
from anonymatch.base.text import label, several
from anonymatch.mixes import PARTS
from anonymatch.tabular import allowed_unfolded

__all__ = ["Unpacked", "unpack"]

_MOST_FILES = 10_000
_PIECE = 1 << 20
_NAMED = 5  # files that an error names
_ALSO = frozenset({"DummyMessages.csv"})  # that a simulator's folder may have beside its parts
_SIGNS = re.compile(r"[^A-Za-z0-9_-]+")
_ENDING = re.compile(r"(?:\.[A-Za-z0-9]{1,10}){1,2}\Z")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Where the content of an archive is: a folder, or its only file; and what that is called."""

    path: Path
    name: str


def unpack(archive: Path, name: str, folder: Path) -> Unpacked:
    """Unpack a .zip into a new folder; InputError, and nothing is left, if it is not to be trusted.

    Parameters
    ----------
    archive : Path
    name : str
        What the reader calls it.
    folder : Path
        To be made; it holds all that is written.
    """
    folder.mkdir(mode=0o700)
    try:
        with zipfile.ZipFile(archive) as file:
            members = _checked(file)
            chosen = _chosen(members, folder, name)
            _extract(file, chosen, allowed_unfolded(archive.stat().st_size))
    except InputError as error:
        _remove(folder)
        raise error.about(name) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        _remove(folder)
        raise InputError("it cannot be unpacked; is it a whole .zip file?").about(name) from None
    except BaseException:
        _remove(folder)
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
    if len(members) > _MOST_FILES:
        raise InputError(
            f"it holds {len(members):,} files, and at most {_MOST_FILES:,} are unpacked; audit the "
            "folder on the command line"
        )
    return members


def _chosen(members: list[zipfile.ZipInfo], folder: Path, name: str) -> dict[Path, zipfile.ZipInfo]:
    """Which files are taken, by where they go."""
    known = [info for info in members if _path(info).name in PARTS | _ALSO]
    if not any(_path(info).name in PARTS for info in known):
        if len(members) == 1:
            ending = _ENDING.search(_path(members[0]).name)
            return {folder / f"file{ending.group().lower() if ending else ''}": members[0]}
        held = ", ".join(label(_path(info).name, 40) for info in members[:_NAMED])
        more = ", …" if len(members) > _NAMED else ""
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
            several_runs = sorted({str(_path(info).parent) for info in runs})[:_NAMED]
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
            while piece := source.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise InputError(
                        f"it unfolds to more than {allowed / 1e6:,.0f} MB; audit the folder on the "
                        "command line if you trust it"
                    )
                target.write(piece)


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
