"""Save tables and charts of results: complete, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.atomic_files import check_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.base.options import option
from anonymatch.base.text import did_you_mean
from anonymatch.cli.console import note

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.reporting.charts import AnyChart

__all__ = ["FigureOptions", "check_target", "check_targets", "note_written", "save", "save_pieces"]


def _write_text(frame: pl.DataFrame, file: Any, separator: str = ",") -> None:
    from anonymatch.tabular import plain_table

    plain_table(frame).write_csv(file, separator=separator)


_WRITERS: dict[str, Callable[[pl.DataFrame, Any], object]] = {
    ".csv": _write_text,
    ".tsv": partial(_write_text, separator="\t"),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".json": lambda frame, file: frame.write_json(file),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
}


def check_targets(read: Iterable[Path], written: Iterable[Path]) -> None:
    """Refuse, before any work is done, to write over what is read, and to one place twice."""
    sources, taken = list(read), list[Path]()
    for path in written:
        if any(_same(path, source) or _part(path, source) for source in sources):
            raise InputError(f"{path}: it is the file to read; give another name to write to")
        if any(path == other or _same(path, other) for other in taken):
            raise InputError(f"{path}: it would be written twice; give each its own name")
        check_path(path)
        taken.append(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two names are of one file that is there."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _part(path: Path, source: Path) -> bool:
    """Whether a file that is there is one that is read along with a simulator's log or folder."""
    from anonymatch.mixes import PARTS

    if path.name not in PARTS or not os.path.isfile(path):
        return False
    if not os.path.isdir(source) and source.name not in PARTS:
        return False
    folder = source if os.path.isdir(source) else source.parent
    return any(_same(folder, above) for above in (path.parent, path.parent.parent))


_PIECEWISE = (".csv", ".tsv", ".parquet")


def check_target(path: Path | None) -> None:
    """Refuse a table whose suffix tells no format before any work is done."""
    if path is not None and path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path}: its suffix tells no known format; known are {' '.join(_WRITERS)}"
        )


def note_written(*paths: Path | None) -> None:
    """Say which files were written."""
    for path in paths:
        if path is not None:
            note(f"wrote {path}")


def save(columns: dict[str, Any], path: Path) -> None:
    """Write columns of equal length as a table; the suffix tells the format."""
    import polars as pl

    with unfinished(path) as beside:
        frame = pl.DataFrame(
            {
                title: values if not isinstance(values, list) else _column(values)
                for title, values in columns.items()
            }
        )
        with beside.open("xb") as file:
            _WRITERS[path.suffix.lower()](frame, file)


def save_pieces(pieces: Iterator[pl.DataFrame], path: Path) -> int:
    """Write a table piece by piece and return its rows; only one piece is in memory at a time."""
    import polars as pl

    suffix, rows = path.suffix.lower(), 0
    if suffix not in _PIECEWISE:
        raise InputError(f"{path}: a log is written as {' or '.join(_PIECEWISE)}")
    with unfinished(path) as beside:
        text = beside.with_name(f"{beside.name}.csv") if suffix == ".parquet" else beside
        try:
            with text.open("xb") as file:
                for piece in pieces:
                    piece.write_csv(
                        file, include_header=not rows, separator="\t" if suffix == ".tsv" else ","
                    )
                    rows += piece.height
            if suffix == ".parquet":
                kinds = {"message": pl.String, "departure": pl.String, "probability": pl.Float64}
                pl.scan_csv(text, schema=kinds).sink_parquet(beside)
        finally:
            if text != beside:
                text.unlink(missing_ok=True)
    return rows


def _column(values: list[Any]) -> pl.Series:
    """Names as a column: whole numbers if all are, else text."""
    import polars as pl

    if all(type(value) is int for value in values):
        try:
            return pl.Series(values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            pass
    return pl.Series([str(value) for value in values], dtype=pl.String)


_FORMATS = ("svg", "png", "pdf")


def _folder(text: str) -> Path:
    """Read a folder; an empty name would be the current one."""
    if not text.strip():
        raise InputError("it is empty; give the name of a folder")
    return Path(text)


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """Where charts are written, and as what; checked before any work is done."""

    figures: Path | None = option(
        None,
        f"Also write every chart into this folder; --figures-format FORMAT is one of "
        f"{', '.join(_FORMATS)} [default: svg].",
        metavar="DIR",
        read=_folder,
        group="Output",
    )
    figures_format: str | None = option(
        None,
        f"Format of --figures: {', '.join(_FORMATS)}.",
        metavar="FORMAT",
        shown="svg",
        group="Output",
        listed=False,
    )

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
