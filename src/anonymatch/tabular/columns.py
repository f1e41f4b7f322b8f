"""Columns of tables: what they are called, which are needed, and which may be meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, alike, did_you_mean, listed, meant_instead, quoted

Needed = Sequence[tuple[str, ...]]
"""Groups of columns; a table has at least one of each."""


class Column(NamedTuple):
    """A column that a kind of tables may have.

    Attributes
    ----------
    name : str
        What it means, and is called.
    spellings : tuple of str
        What else it is called, in small letters; the case of a file does not count.
    kind : {"name", "time"}
        Whether it may hold dates.
    required : bool
        Whether every such table has it.
    """

    name: str
    spellings: tuple[str, ...] = ()
    kind: str = "name"
    required: bool = False


TIME = Column("time", ("timestamp",), kind="time")
DIRECTION = Column("direction", ("dir",))
USER = Column("user", ("sender",))
BEHAVIOUR = Column("behaviour", ("behavior", "receiver"))
EITHER = Column("name", ("id", "who"))
MESSAGE = Column("message", ("message_id", "msg"))
FLAGS = (Column("cover"), Column("dummy"), Column("lost"))

TIMES = (TIME.name, *TIME.spellings)
"""What a column of times is called in a message log."""

DIRECTIONS = (DIRECTION.name, *DIRECTION.spellings)
"""What a column is called that says whether messages go in or out."""


class Columns:
    """The columns that a kind of tables may have, by what they mean.

    Examples
    --------
    >>> log = Columns(TIME, DIRECTION, EITHER)
    >>> log.meaning(" Timestamp"), log.meaning("note"), log.named({"time": "note"}).meaning("note")
    ('time', None, 'time')
    """

    def __init__(self, *columns: Column) -> None:
        self.by_name = {each.name: each for each in columns}
        self.needed = tuple((each.name,) for each in columns if each.required)
        self._spellings = {
            each.name: (each.name.lower(), *each.spellings) for each in self.by_name.values()
        }

    def named(self, names: Mapping[str, str]) -> Columns:
        """The same where some columns have the names that the caller gives, and no others."""
        for meaning in names:
            if meaning not in self.by_name:
                raise InputError(
                    Argument("columns"),
                    f": no column is called {quoted(meaning)} here; known are "
                    f"{', '.join(self.by_name)}{did_you_mean(meaning, self.by_name)}",
                )
        given = {meaning: (name.strip().lower(),) for meaning, name in names.items()}
        if "user" in given and given["user"] == given.get("behaviour"):
            given["name"] = given.pop("user")
            del given["behaviour"]
        taken = {word for words in given.values() for word in words}
        if len(taken) < len(given):
            raise InputError(Argument("columns"), " gives one column two meanings; keep one")
        renamed = Columns(*self.by_name.values())
        renamed._spellings = {
            meaning: given.get(meaning, tuple(word for word in words if word not in taken))
            for meaning, words in self._spellings.items()
        }
        return renamed

    def meaning(self, title: str) -> str | None:
        """What a column of a file means; None of one that is not known."""
        word = title.strip().lower()
        return next((name for name, words in self._spellings.items() if word in words), None)

    def is_time(self, title: str) -> bool:
        """Whether a column of a file holds times."""
        meaning = self.meaning(title)
        return meaning is not None and self.by_name[meaning].kind == "time"

    def check(self, titles: Sequence[str], needed: Needed, *, may_name: bool) -> None:
        """Refuse columns of a file that lack one that is needed, or have one twice.

        ``may_name``: whether the caller can say which column is which.
        """
        meant = [self.meaning(title) for title in titles]
        for group in needed:
            if not set(group) & set(meant):
                self._refuse(group, titles, meant, needed if may_name else ())
        for name in self.by_name:
            same = [title for title, meaning in zip(titles, meant, strict=True) if meaning == name]
            if len(set(same)) < len(same):
                raise InputError(f"column {quoted(same[0])} is there twice; keep one").at(1)
            if len(same) > 1:
                both = " and ".join(map(quoted, same))
                raise InputError(f"columns {both} mean the same; keep one")

    def _refuse(
        self,
        group: tuple[str, ...],
        titles: Sequence[str],
        meant: Sequence[str | None],
        needed: Needed,
    ) -> None:
        if not needed:
            near = meant_instead(group, titles)
            raise InputError(
                f"there is no column {quoted(group[0])}; the columns are {listed(titles)}{near}"
            )
        words = " or ".join(
            repr(self._spellings[name][0]) for name in group if self._spellings[name]
        )
        others = [title for title, meaning in zip(titles, meant, strict=True) if not meaning]
        raise InputError(
            f"no column {words}; the columns are {listed(titles) or 'none'}; name them with ",
            *self._naming(needed, meant, others),
        )

    def _naming(
        self, needed: Needed, meant: Sequence[str | None], others: Sequence[str]
    ) -> list[str | Argument]:
        """Options that name the missing columns, ready for use; COLUMN where none looks right."""
        at = int("entered" in meant or "left" in meant)  # one row per packet
        missing = [group[at % len(group)] for group in needed if not set(group) & set(meant)]
        close = {name: title for name in missing for title in others if alike(name, title)}
        left = [title for title in others if title not in close.values()]
        names = () if "name" in meant else ("user", "behaviour")
        more = [name for name in names if name in self.by_name and name not in meant]
        guessed = close | suggested_columns(left, [*missing, *more])
        pairs = [f"{name}={guessed.get(name, 'COLUMN')}" for name in missing]
        pairs += [f"{name}={guessed[name]}" for name in more if name in guessed]
        of_time = guessed.get("time", "").lower()
        unit = next((one for one in ("ms", "us", "ns") if of_time.endswith(f"_{one}")), None)
        beside: list[str | Argument] = [] if unit is None else [" and ", Argument("unit", unit)]
        return [Argument("columns", ",".join(pairs)), *beside]


def column_names(given: Mapping[str, str] | Sequence[str] | None) -> dict[str, str]:
    """Names of columns by their meaning, from a mapping or from text.

    Examples
    --------
    >>> column_names("time=timestamp_ms,user=src"), column_names({"time": "t"}), column_names(None)
    ({'time': 'timestamp_ms', 'user': 'src'}, {'time': 't'}, {})
    """
    if given is None or isinstance(given, Mapping):
        return {str(meaning): str(name) for meaning, name in (given or {}).items()}
    texts = [given] if isinstance(given, str) else list(given)
    names: dict[str, str] = {}
    for pair in (pair for text in texts for pair in text.split(",")):
        meaning, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not meaning or not name:
            raise InputError(
                Argument("columns"),
                f": {quoted(pair)} must be MEANING=NAME, such as time=timestamp_ms",
            )
        if names.setdefault(meaning, name) != name:
            raise InputError(Argument("columns"), f" names {meaning!r} twice; keep one")
    return names


_HINTS = {
    "time": ("time", "stamp", "ts", "date", "when", "clock"),
    "direction": ("dir", "in_out", "side", "event", "kind", "type"),
    "user": ("src", "source", "sender", "client", "user", "from", "initiator"),
    "behaviour": ("dst", "dest", "receiver", "recipient", "server", "target", "to", "responder"),
    "from": ("src", "source", "from", "prev", "sender"),
    "to": ("dst", "dest", "to", "next", "receiver"),
}
"""Parts of names by which columns are known that are called otherwise."""


def suggested_columns(columns: Sequence[str], meanings: Sequence[str]) -> dict[str, str]:
    """Columns that may have these meanings, by their names.

    Examples
    --------
    >>> suggested_columns(["timestamp_ms", "dir", "src", "dst"], ["time", "user", "behaviour"])
    {'time': 'timestamp_ms', 'user': 'src', 'behaviour': 'dst'}
    """
    found: dict[str, str] = {}
    for meaning in meanings:
        for hint in _HINTS.get(meaning, ()):
            free = [column for column in columns if column not in found.values()]
            near = [column for column in free if _has_word(column, hint)]
            if near:
                found[meaning] = near[0]
                break
    return found


def _has_word(column: str, hint: str) -> bool:
    word = column.strip().lower()
    parts = [part for part in re.split(r"[^a-z]+", word) if part]
    return hint in (word, *parts) if len(hint) <= 3 else hint in word
