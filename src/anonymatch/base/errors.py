"""What can go wrong, as one tree.

AnonymatchError
├── InputError (ValueError)       a file, a value or a name is not usable: what, where, what to do
├── NoMatchingError (ValueError)  an answer needs a perfect matching and there is none; a witness
├── BudgetError                   the work is predicted to cost more than is allowed
└── StoppedError                  the work could not go on: a cluster is gone, a disk is full
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from anonymatch.base.text import Argument, Call, FileName, Message, Piece, several


class AnonymatchError(Exception):
    """Base of every error that this package raises on purpose.

    ``message`` is its line, in pieces: text, and the arguments that it names, which interfaces
    other than Python word as their own.
    """

    def __init__(self, *pieces: Piece) -> None:
        self.message = Message(*pieces)
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Where:
    """Where in an input something is wrong, as far as that is known.

    Attributes
    ----------
    file : str or None
    lines : tuple of int
        The line, or several that do not go together.
    noun : str
        What they are: lines, or rows of a table that is no text.
    column : int or None
        Of the line, from 1.

    Examples
    --------
    >>> str(Where("a.csv", (3, 7))), str(Where(lines=(2,), noun="row")), str(Where())
    ('a.csv: lines 3 and 7', 'row 2', '')
    """

    file: str | None = None
    lines: tuple[int, ...] = ()
    noun: str = "line"
    column: int | None = None

    @property
    def line(self) -> int | None:
        """The first of the lines; None if none is known."""
        return self.lines[0] if self.lines else None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What a message begins with."""
        file: tuple[Piece, ...] = () if self.file is None else (FileName(self.file), ": ")
        if not self.lines:
            return file
        plural = "s" if len(self.lines) > 1 else ""
        return (*file, f"{self.noun}{plural} {' and '.join(map(str, self.lines))}: ")

    def __str__(self) -> str:
        return "".join(map(str, self.pieces)).removesuffix(": ")


class InputError(AnonymatchError, ValueError):
    """A file, a value or a name is not usable: what is wrong, where, and what to do.

    Attributes
    ----------
    where : Where
        The file and its line, if it is about one; ``message`` begins with it.
    what : Message
        The rest of the message.

    Examples
    --------
    >>> error = InputError("it is empty").at(7).about("a.csv")
    >>> print(error)
    a.csv: line 7: it is empty
    >>> error.where.file, error.where.line, error.what
    ('a.csv', 7, 'it is empty')
    """

    def __init__(self, *pieces: Piece, where: Where | None = None) -> None:
        self.where, self.what = where or Where(), Message(*pieces)
        super().__init__(*self.where.pieces, self.what)

    def about(self, file: object) -> InputError:
        """The same, with the file that it is about, unless it is known to be about another."""
        if self.where.file is not None:
            return self
        return InputError(self.what, where=replace(self.where, file=str(file)))

    def at(self, *lines: int, noun: str = "line", column: int | None = None) -> InputError:
        """The same, with the line of the file, or the lines, that it is about."""
        column = self.where.column if column is None else column
        where = Where(self.where.file, lines, noun, column)
        return InputError(self.what, where=where)

    def more(self, *pieces: Piece) -> InputError:
        """The same, with more to say at its end."""
        return InputError(self.what, *pieces, where=self.where)

    def __reduce__(self) -> tuple[Callable[..., InputError], tuple[object, ...]]:
        return _input_error, (self.what, self.where)


class NoMatchingError(AnonymatchError, ValueError):
    """No perfect matching exists: ``users`` together fit too few ``behaviours``."""

    def __init__(
        self,
        users: Sequence[object],
        behaviours: Sequence[object],
        nouns: tuple[str, str] = ("user", "behaviour"),
        advice: str = "widen what they may have done, or drop users who did nothing",
        what: str = "no perfect matching",
    ) -> None:
        self.users, self.behaviours = tuple(users), tuple(behaviours)
        self._words = nouns, advice, what
        verb = "fits" if len(self.users) == 1 else "fit"
        super().__init__(
            f"{what}: {_some(self.users, nouns[0])} {verb} only "
            f"{_some(self.behaviours, nouns[1])}; {advice}"
        )

    def __reduce__(self) -> tuple[type[NoMatchingError], tuple[object, ...]]:
        return type(self), (self.users, self.behaviours, *self._words)


class Cost(NamedTuple):
    """What work is predicted to take: seconds of one core, and bytes."""

    seconds: float
    memory: float


class BudgetError(AnonymatchError):
    """The work is predicted to cost more than the budget allows; nothing was started.

    Attributes
    ----------
    cost : Cost
        What is predicted: seconds of one core, and bytes; infinite where no budget is enough.
    instead : tuple of Argument or Call
        What would be allowed: arguments with their values, a larger budget first. Interfaces word
        them as their own. Empty where nothing of the kind helps.
    where : str
        The file that the line begins with, if it does.
    """

    def __init__(
        self,
        *pieces: Piece,
        seconds: float,
        memory: float,
        instead: tuple[Argument | Call, ...] = (),
        where: str = "",
    ) -> None:
        self.cost, self.instead, self.where = Cost(seconds, memory), instead, where
        super().__init__(*((f"{where}: ",) if where else ()), *pieces)

    def about(self, where: object) -> BudgetError:
        """The same, with the file that it is about before it."""
        return _budget_error(self.message, self.cost, self.instead, str(where))

    @property
    def seconds(self) -> float:
        return self.cost.seconds

    @property
    def memory(self) -> float:
        return self.cost.memory

    def __reduce__(self) -> tuple[Callable[..., BudgetError], tuple[object, ...]]:
        pieces = self.message.pieces[1:] if self.where else self.message.pieces
        return _budget_error, (Message(*pieces), self.cost, self.instead, self.where)


class StoppedError(AnonymatchError):
    """Work under way could not go on where it ran: a cluster is gone, or a disk is full.

    Nothing is wrong with what was asked. What a :class:`anonymatch.Checkpoint` has recorded is
    kept, and the same call goes on from there.
    """


for _error in (AnonymatchError, InputError, NoMatchingError, BudgetError, StoppedError):
    _error.__module__ = "anonymatch"  # where users find it, and what a traceback says


def _input_error(what: Message, where: Where) -> InputError:
    return InputError(what, where=where)


def _budget_error(
    message: str, cost: Cost, instead: tuple[Argument | Call, ...], where: str
) -> BudgetError:
    return BudgetError(message, **cost._asdict(), instead=instead, where=where)


def _some(names: Sequence[object], noun: str) -> str:
    """A count with up to four names: '5 users (ann, bob, cem, dan, ...)'."""
    shown = ", ".join(str(name) for name in names[:4]) + (", ..." if len(names) > 4 else "")
    several_of_them = "people" if noun == "person" else f"{noun}s"
    return several(len(names), noun, several_of_them) + (f" ({shown})" if names else "")
