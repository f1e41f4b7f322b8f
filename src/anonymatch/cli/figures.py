"""Charts of a result as files, for papers: every one that it has, in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.cli.console import note
from anonymatch.cli.options import option

if TYPE_CHECKING:
    from anonymatch.reporting.charts import AnyChart

__all__ = ["FigureOptions"]

_FORMATS = ("svg", "png", "pdf")


def _folder(text: str) -> Path:
    """A folder that has a name: no name would be the one of the day."""
    if not text.strip():
        raise typer.BadParameter("it is empty; give the name of a folder")
    return Path(text)


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """Where charts are written, and as what; checked before any work is done."""

    figures: Annotated[
        Path | None,
        option(
            "--figures",
            "Also write every chart as a file of this folder.",
            metavar="DIR",
            parser=_folder,
        ),
    ] = None
    figures_format: Annotated[
        str | None,
        option(
            "--figures-format",
            f"What those files are: {', '.join(_FORMATS)} (svg unless told).",
            metavar="FORMAT",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.figures_format is not None and self.figures_format not in _FORMATS:
            near = did_you_mean(self.figures_format, _FORMATS)
            raise InputError(
                f"--figures-format {self.figures_format}: charts are written as "
                f"{', '.join(_FORMATS)}{near}"
            )
        if self.figures is None:
            if self.figures_format is not None:
                raise InputError("--figures-format is of charts; give --figures DIR, too")
            return
        _check_folder(self.figures, self.figures_format or "svg")

    def write(self, makers: Mapping[str, Callable[[], AnyChart]]) -> None:
        """Write the charts, all of them or none, and say which; nothing if none are asked for."""
        if self.figures is None:
            return
        from anonymatch.reporting.charts import save_charts

        written = save_charts(makers, self.figures, self.figures_format or "svg")
        names = ", ".join(path.name for path in written)
        note(f"wrote {self.figures}: {names}" if names else "there are no charts to write")


def _check_folder(folder: Path, kind: str) -> None:
    """Refuse what is no folder, where none can be made, and one whose files cannot be written."""
    if os.path.isdir(folder):
        inside = sorted(name for name in os.listdir(folder) if name.endswith(f".{kind}"))
        other = [name for name in inside if not os.path.isfile(folder / name)]
        if other:
            raise InputError(
                f"--figures {folder}: {other[0]} in it is no file, so no chart can be written over "
                "it; choose another folder"
            )
        if not os.access(folder, os.W_OK):
            raise InputError(f"--figures {folder}: no permission to write there; choose another")
        return
    if os.path.lexists(folder):
        raise InputError(f"--figures {folder}: it is a file; give the name of a folder")
    parent = folder.parent
    if not os.path.isdir(parent):
        raise InputError(f"--figures {folder}: the folder {parent} does not exist; make it first")
    if not os.access(parent, os.W_OK):
        raise InputError(f"--figures {folder}: no permission to make it; choose another folder")
