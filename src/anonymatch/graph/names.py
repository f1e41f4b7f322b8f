"""Names: what the users or the behaviours of a graph are called, in index order.

A million names read from a file stay in the reader's own column (a polars Series, one buffer)
until someone asks for them; default names are a ``range`` and cost nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import elements
from anonymatch.base.errors import InputError
from anonymatch.base.text import several

# Comparing spellings costs about 10 microseconds a name; above this a typo gets no suggestion.
_SUGGEST_AMONG = 20_000


class Column(Protocol):
    """Names that live in a native column, all different (a polars Series)."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def to_list(self) -> list[Any]: ...


class Names:
    """Different hashable names, and the index of each; ``noun`` is what one is called."""

    __slots__ = ("_index", "_source", "noun")

    def __init__(self, values: range | tuple[Hashable, ...] | Column, noun: str) -> None:
        self.noun = noun
        self._index: dict[Hashable, int] | None = None
        self._source = _as_range(values) if isinstance(values, tuple) else values

    @classmethod
    def given(cls, names: Iterable[Hashable] | None, size: int | None, noun: str) -> Names:
        """Names that a caller gave, checked; ``range(size)`` when none were given."""
        if names is None:
            return cls(range(size or 0), noun)
        if isinstance(names, str):
            raise InputError(f"{noun}s is the text {names!r}; give a list of names")
        if isinstance(names, range) and names == range(len(names)):
            checked = cls(names, noun)
        else:
            given = elements(names, f"{noun}s must be a list of names")
            checked = cls(tuple(plain(name, noun) for name in given), noun)
            if len(checked.index) != len(checked):
                twice = next(n for i, n in enumerate(checked.values) if checked.index[n] != i)
                raise InputError(f"{noun} {twice!r} is named twice in {noun}s; name each once")
        if size is not None and len(checked) != size:
            verb = "is" if len(checked) == 1 else "are"
            raise InputError(f"{several(len(checked), noun)} {verb} named but there are {size}")
        return checked

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index: int) -> Hashable:
        name: Hashable = self._source[index]
        return name

    @property
    def values(self) -> range | tuple[Hashable, ...]:
        """All names: a ``range`` when they are 0, 1, 2, ..., else a tuple."""
        if not isinstance(self._source, (range, tuple)):
            self._source = _as_range(tuple(self._source.to_list()))
        return self._source

    @property
    def index(self) -> dict[Hashable, int]:
        """From name to index."""
        if self._index is None:
            # Reversed, so that a name given twice (refused in ``given``) keeps its first index.
            size = len(self)
            backwards = zip(reversed(self.values), range(size - 1, -1, -1), strict=True)
            self._index = dict(backwards)
        return self._index

    def find(self, name: Hashable) -> int:
        """Index of a name, or an InputError that suggests close names."""
        try:
            if isinstance(self._source, range):
                return self._source.index(name)  # type: ignore[arg-type]
            return self.index[name]
        except (KeyError, ValueError, TypeError):
            raise InputError(f"no {self.noun} {name!r}; {self._hint(name)}") from None

    def take(self, indices: npt.NDArray[np.integer[Any]]) -> Names:
        """The names at these indices, in this order."""
        if not isinstance(self._source, (range, tuple)):
            return Names(self._source[indices], self.noun)
        return Names(tuple(self._source[index] for index in indices.tolist()), self.noun)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        return self is other or (len(self) == len(other) and self.values == other.values)

    def __hash__(self) -> int:
        return hash((len(self), self.values[0] if len(self) else None))

    def __reduce__(self) -> tuple[type[Names], tuple[range | tuple[Hashable, ...] | Column, str]]:
        return Names, (self._source, self.noun)

    def _hint(self, name: Hashable) -> str:
        if not len(self):
            return f"the graph has no {self.noun}s"
        if len(self) <= _SUGGEST_AMONG:
            spelled = {str(value): value for value in self.values}
            close = difflib.get_close_matches(str(name), spelled, n=3)
            if close:
                return "close names: " + ", ".join(repr(spelled[text]) for text in close)
        some = ", ".join(repr(self[index]) for index in range(min(3, len(self))))
        if len(self) == 1:
            return f"the only {self.noun} is {some}"
        return f"the {len(self)} {self.noun}s begin with {some}"


def plain(name: object, noun: str) -> Hashable:
    """The name as a plain hashable value: numpy scalars become Python's."""
    if isinstance(name, np.generic):
        name = name.item()
    if name is None or name != name:
        raise InputError(f"a {noun} is named {name!r}; give every {noun} a name")
    if not isinstance(name, Hashable):
        raise InputError(f"{noun} {name!r} is a {type(name).__name__}; a name must be hashable")
    return name


def _as_range(values: tuple[Hashable, ...]) -> range | tuple[Hashable, ...]:
    """Names 0, 1, 2, ... as a range, so that equal graphs have equal names however they came."""
    if values and all(type(name) is int and name == i for i, name in enumerate(values)):
        return range(len(values))
    return values if values else range(0)
