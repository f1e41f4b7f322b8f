"""SourceFormat: what kind of file something is, how it is known, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonymatch.mixes.laws import Law
    from anonymatch.mixes.logs.messages import Messages
    from anonymatch.mixes.logs.observation import Observation
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.running import Budget

    Opener = Callable[[Path, ReadOptions, Law | None, Budget | float | None], Observation]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFormat:
    """A kind of files or folders. Its module has one, and the table of them a row for it.

    Attributes
    ----------
    text : str
        What it is, in a line.
    open : callable or None
        From a file, options, a law and a budget to what an attacker saw.
    messages : callable or None
        Instead: from a file and options to the messages of a log, which needs a law.
    uses_law, reads_law : bool
        Whether a law is used though it is no message log, and whether its text is understood there:
        a network knows laws without numbers.
    links : callable or None
        Of messages that may also be looked at on every link: from a file and options to what an
        attacker saw there.
    files : tuple of str
        Names of files that are of this kind.
    parts : tuple of str
        Names of other files that such folders hold.
    folder : callable or None
        Whether a folder is of this kind.
    holds : str
        What such a folder holds, for people.
    header : tuple
        A separator and columns by which a text table is known.
    document : callable or None
        Whether a JSON document is of this kind; only looked at if one of the ``marks`` is in it.
    """

    text: str
    open: Opener | None = None
    messages: Callable[[Path, ReadOptions], Messages] | None = None
    uses_law: bool = False
    reads_law: bool = False
    links: Callable[[Path, ReadOptions], Observation] | None = None
    files: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    folder: Callable[[Path], bool] | None = None
    holds: str = ""
    header: tuple[str, tuple[str, ...]] | None = None
    document: Callable[[object], bool] | None = None
    marks: tuple[bytes, ...] = ()
