"""Every notion of anonymity of a released table, each by its name, with what decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import names as several_names
from anonymatch.running import Budget
from anonymatch.tables.attributes import presence
from anonymatch.tables.diversity import Diversity, diversity
from anonymatch.tables.notion_kinds import NOTION_KINDS, NotionKind
from anonymatch.tables.reading.release import Release
from anonymatch.tables.solving.linking import Links, PossibleLinks, link, possible_links

__all__ = ["Notion", "ReleaseFacts", "class_notions", "notions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notion:
    """A notion of anonymity, and what it is for this release.

    Attributes
    ----------
    kind : NotionKind
        Its name, and what it means.
    value : float or None
        None where the release does not say: no sensitive column, nobody in it.
    decided_by : str
        People, rows and cells that make it no better.
    by_class : array
        What it would be by each class of rows alone; NaN of classes that have no part in it.
    """

    kind: NotionKind
    value: float | None
    decided_by: str = ""
    by_class: Floats = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    @property
    def key(self) -> str:
        return self.kind.key

    @property
    def text(self) -> str:
        return self.kind.text(self.value)


class ReleaseFacts:
    """What notions are made of; each is found when a notion asks for it.

    Examples
    --------
    >>> kinds, classes = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> release = Release(columns=(), kind_of=kinds, class_of=classes,
    ...                   indptr=np.array([0, 1, 2]), indices=np.array([1, 0]))
    >>> ReleaseFacts(release, budget=Budget()).notion("k-anonymity").value
    1
    """

    def __init__(self, release: Release, *, budget: Budget, links: Links | None = None) -> None:
        self.release, self._budget, self._links = release, budget, links

    def notion(self, key: str) -> Notion:
        if key not in _MADE:
            raise InputError(
                f"there is no privacy model {key!r}; there are {', '.join(NOTION_KINDS)}"
            )
        return _MADE[key](self, NOTION_KINDS[key])

    @cached_property
    def links(self) -> Links:
        return self._links or link(self.release, budget=self._budget)

    @cached_property
    def possible(self) -> PossibleLinks:
        """Probabilities take longer than what is possible at all."""
        return self._links or possible_links(self.release)

    @cached_property
    def diversities(self) -> list[Diversity]:
        return [diversity(self.release, column) for column in self.release.sensitive]

    @cached_property
    def possible_rows(self) -> Ints:
        """How many rows a person of each kind can have in some way to match everybody."""
        links, number = self.possible, len(self.release.kind_sizes)
        own = links.possible & (links.kinds != links.nobody) & (links.classes != links.nowhere)
        sizes = links.class_sizes[links.classes[own]]
        return np.bincount(links.kinds[own], sizes, number)[:number].astype(np.int64)

    @cached_property
    def in_release(self) -> Ints:
        """Kinds of people who can be in the release at all."""
        return np.flatnonzero(self.possible_rows > 0)


def notions(links: Links) -> dict[str, Notion]:
    """All of them by name.

    Classes of equal rows are what k-anonymity is about. (1,k), (k,1) and (k,k) are about who fits
    what, and global (1,k) about what can still be when everybody else must fit, too (Gionis, Mazza
    and Tassa). Risks are named as ARX names them.
    """
    facts = ReleaseFacts(links.release, budget=Budget(), links=links)
    return {key: facts.notion(key) for key in NOTION_KINDS}


def class_notions(release: Release) -> dict[str, Notion]:
    """Those that classes of equal rows decide, without a comparison of people and rows."""
    facts = ReleaseFacts(release, budget=Budget())
    keys = ["k-anonymity", "prosecutor risk"]
    if len(release.indices):
        keys += ["journalist risk", "marketer risk"]
    keys += ["l-diversity", "entropy l-diversity", "recursive c", "t-closeness"]
    return {key: facts.notion(key) for key in keys}


# ---- equal rows


def _class_size(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    return _smallest_class(facts, kind, facts.release.class_sizes)


def _prosecutor(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    return _smallest_class(facts, kind, 1.0 / facts.release.class_sizes)


def _smallest_class(facts: ReleaseFacts, kind: NotionKind, by_class: Ints | Floats) -> Notion:
    """The notion of the class that has it worst."""
    worst = int(by_class.argmin() if kind.better == "higher" else by_class.argmax())
    return Notion(
        kind=kind,
        value=by_class[worst].item(),
        decided_by=f"rows with {_cells(facts.release, worst)}",
        by_class=by_class.astype(np.float64),
    )


def _journalist(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    people = facts.release.people_that_fit
    return _smallest_class(facts, kind, np.where(people > 0, 1.0 / np.maximum(people, 1), 0.0))


def _marketer(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    sizes, people = facts.release.class_sizes, facts.release.people_that_fit
    # Of a row that fits nobody, nobody is named.
    right = np.where(people > 0, sizes / np.maximum(people, 1), 0.0)
    value = float(right.sum() / facts.release.n_rows)
    by_class = np.full(len(sizes), np.nan)
    by_class[sizes.argmin()] = value
    return Notion(kind=kind, value=value, by_class=by_class)


# ---- who fits what


def _rows_of_people(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    return _barest_person(facts, kind, facts.release.rows_that_fit)


def _people_of_rows(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    return _smallest_class(facts, kind, facts.release.people_that_fit)


def _both(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    people, rows = (facts.notion(key) for key in ("(1,k)", "(k,1)"))
    if people.value is None or rows.value is None:
        return Notion(kind=kind, value=None)
    worst = people if people.value <= rows.value else rows
    return Notion(
        kind=kind,
        value=worst.value,
        decided_by=worst.decided_by,
        by_class=np.fmin(people.by_class, rows.by_class),
    )


def _global(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    return _barest_person(facts, kind, facts.possible_rows, needed=True)


def _barest_person(
    facts: ReleaseFacts, kind: NotionKind, rows: Ints, *, needed: bool = False
) -> Notion:
    """The person of the release with the fewest of some rows, and who needs the others."""
    release, kinds = facts.release, facts.in_release
    if not len(kinds):
        return Notion(kind=kind, value=None)
    barest = int(kinds[rows[kinds].argmin()])
    person = _people(release, release.kind_of == barest)
    others = facts.possible.needed_by_others(barest) if needed else None
    if others is not None and len(others.people):
        person += f"; {others.in_words()}"
    return Notion(
        kind=kind,
        value=int(rows[barest]),
        decided_by=person,
        by_class=_by_smallest_class(release, kinds, rows),
    )


def _people(release: Release, chosen: Bools) -> str:
    """Some of the people by name."""
    who = np.flatnonzero(chosen)
    return several_names([release.person_name(one) for one in who[:4].tolist()], total=len(who))


def _by_smallest_class(release: Release, kinds: Ints, rows: Ints) -> Floats:
    """Numbers of kinds, each given to the smallest class of rows that fits."""
    by_class = np.full(len(release.class_sizes), np.nan)
    order = np.lexsort((release.class_sizes[release.indices], release.pair_kinds))
    first = order[np.minimum(release.indptr[kinds], len(order) - 1)]
    np.fmin.at(by_class, release.indices[first], rows[kinds].astype(np.float64))
    return by_class


def _presence(facts: ReleaseFacts, kind: NotionKind) -> Notion:
    """Of a sample: who is in it most surely. If everybody is in the release, nothing is hidden."""
    release = facts.release
    if not release.lost:
        return Notion(kind=kind, value=None)
    inside = presence(release, facts.links)
    surest = int(inside.argmax())
    if inside[surest] < 1.0 and not facts.links.known.all():
        return Notion(kind=kind, value=None)
    who = np.flatnonzero((inside >= inside[surest] - 1e-12)[release.kind_of])
    people = several_names([release.person_name(one) for one in who[:4].tolist()], total=len(who))
    return Notion(
        kind=kind,
        value=min(float(inside[surest]), 1.0),
        decided_by=people,
    )


# ---- sensitive values


def _sensitive(value: Callable[[Diversity], Ints | Floats | None]) -> _Maker:
    def made(facts: ReleaseFacts, kind: NotionKind) -> Notion:
        worst = max if kind.better == "lower" else min
        best = None
        for one in facts.diversities:
            by_class = value(one)
            if by_class is None:
                continue
            each = worst(by_class.tolist())
            if best is None or worst(each, best[0]) == each:
                best = each, one, by_class
        if best is None:
            return Notion(kind=kind, value=None)
        number, one, by_class = best
        at = int(np.flatnonzero(by_class == number)[0])
        return Notion(
            kind=kind,
            value=number,
            decided_by=f"{one.column} in rows with {_cells(facts.release, at)}",
            by_class=by_class.astype(np.float64),
        )

    return made


_Maker = Callable[[ReleaseFacts, NotionKind], Notion]
_MADE: dict[str, _Maker] = {
    "k-anonymity": _class_size,
    "(1,k)": _rows_of_people,
    "(k,1)": _people_of_rows,
    "(k,k)": _both,
    "global (1,k)": _global,
    "prosecutor risk": _prosecutor,
    "journalist risk": _journalist,
    "marketer risk": _marketer,
    "presence": _presence,
    "l-diversity": _sensitive(lambda one: one.distinct),
    "entropy l-diversity": _sensitive(lambda one: one.entropy),
    "recursive c": _sensitive(lambda one: one.recursive),
    "t-closeness": _sensitive(lambda one: one.closeness),
}


def _cells(release: Release, number: int) -> str:
    cells = release.class_cells(number)
    return ", ".join(
        f"{column.name} {cell or '*'}" for column, cell in zip(release.columns, cells, strict=True)
    )
