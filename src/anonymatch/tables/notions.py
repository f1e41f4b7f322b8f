"""Every notion of anonymity of a released table, each by its name, with what decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Bools, Ints
from anonymatch.base.numbers import plural
from anonymatch.base.text import names as several_names
from anonymatch.sources import Release
from anonymatch.tables.diversity import Diversity
from anonymatch.tables.linking import Links

__all__ = ["Notion", "notions", "possible_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notion:
    """A notion of anonymity, and what it is for this release.

    Attributes
    ----------
    key : str
    value : float or None
        None where the release does not say: no sensitive column, nobody in it.
    better : {"higher", "lower"}
    meaning : str
    decided_by : str
        People, rows and cells that make it no better.
    class_ : int or None
        The class of rows among these.
    """

    key: str
    value: float | None
    better: str
    meaning: str
    decided_by: str = ""
    class_: int | None = None


def notions(release: Release, links: Links, diversities: list[Diversity]) -> dict[str, Notion]:
    """All of them by name.

    Classes of equal rows are what k-anonymity is about. (1,k), (k,1) and (k,k) are about who fits
    what, and global (1,k) about what can still be when everybody else must fit, too (Gionis, Mazza
    and Tassa). Risks are named as ARX names them.
    """
    made = [
        _class_size(release),
        *_fits(release, links),
        _global(release, links),
        *_risks(release),
        *_diversities(release, diversities),
    ]
    return {notion.key: notion for notion in made}


def _class_size(release: Release) -> Notion:
    smallest = int(release.class_sizes.argmin())
    return Notion(
        key="k-anonymity",
        value=int(release.class_sizes[smallest]),
        better="higher",
        meaning="rows that are equal in all identifiers, in the smallest class",
        decided_by=f"rows with {_cells(release, smallest)}",
        class_=smallest,
    )


def _fits(release: Release, links: Links) -> list[Notion]:
    in_release = _in_release(release, links)
    kinds = np.flatnonzero(in_release)
    rows = release.rows_that_fit
    people = release.people_that_fit
    fewest = int(kinds[rows[kinds].argmin()]) if len(kinds) else None
    barest = int(people.argmin())
    of_person = None if fewest is None else int(rows[fewest])
    of_row = int(people[barest])
    both = None if of_person is None else min(of_person, of_row)
    person = "" if fewest is None else _person(release, fewest)
    row = f"rows with {_cells(release, barest)}"
    first = of_person is not None and of_person <= of_row
    return [
        Notion(
            key="(1,k)",
            value=of_person,
            better="higher",
            meaning="rows that fit the person whom the fewest fit",
            decided_by=person,
            class_=_class_of_kind(release, fewest),
        ),
        Notion(
            key="(k,1)",
            value=of_row,
            better="higher",
            meaning="people who fit the row that the fewest fit",
            decided_by=row,
            class_=barest,
        ),
        Notion(
            key="(k,k)",
            value=both,
            better="higher",
            meaning="the smaller of (1,k) and (k,1)",
            decided_by=person if first else row,
            class_=_class_of_kind(release, fewest) if first else barest,
        ),
    ]


def _global(release: Release, links: Links) -> Notion:
    possible = possible_rows(release, links)
    kinds = np.flatnonzero(_in_release(release, links))
    if not len(kinds):
        return Notion(key="global (1,k)", value=None, better="higher", meaning=_GLOBAL)
    fewest = int(kinds[possible[kinds].argmin()])
    decided = _person(release, fewest)
    taken = _takers(release, links, fewest)
    if taken:
        decided += f"; {taken}"
    return Notion(
        key="global (1,k)",
        value=int(possible[fewest]),
        better="higher",
        meaning=_GLOBAL,
        decided_by=decided,
        class_=_class_of_kind(release, fewest),
    )


_GLOBAL = "rows that the person with the fewest can have when everybody else must have one, too"


def possible_rows(release: Release, links: Links) -> Ints:
    """How many rows a person of each kind can have in some way to match everybody."""
    own = links.possible & (links.kinds != links.nobody) & (links.classes != links.nowhere)
    sizes = links.class_sizes[links.classes[own]]
    counted = np.bincount(links.kinds[own], sizes, len(release.kind_sizes))
    return counted[: len(release.kind_sizes)].astype(np.int64)


def _in_release(release: Release, links: Links) -> Bools:
    """Kinds of people who can be in the release at all."""
    return possible_rows(release, links) > 0


def _takers(release: Release, links: Links, kind: int) -> str:
    """Who needs the rows that fit this kind and that it cannot have."""
    pairs = links.of_kind(kind)
    gone = links.classes[pairs][~links.possible[pairs] & (links.classes[pairs] != links.nowhere)]
    if not len(gone):
        return ""
    holding = np.isin(links.classes, gone) & (links.flow > 0)
    kinds = [one for one in np.unique(links.kinds[holding]).tolist() if one != links.nobody]
    if not kinds:
        return ""
    number = int(release.kind_sizes[kinds].sum())
    who = [release.person_name(one) for one in np.flatnonzero(np.isin(release.kind_of, kinds))[:4]]
    rows = plural(int(release.class_sizes[gone].sum()), "row")
    return f"{rows} that would fit must be of {several_names(who, total=number)}"


def _risks(release: Release) -> list[Notion]:
    """Re-identification as ARX names it."""
    sizes, people = release.class_sizes, release.people_that_fit
    smallest = int(sizes.argmin())
    barest = int(np.where(people > 0, people, np.iinfo(np.int64).max).argmin())
    fitting = np.maximum(people, 1)
    return [
        Notion(
            key="prosecutor risk",
            value=1.0 / int(sizes[smallest]),
            better="lower",
            meaning="chance to pick the row of somebody known to be in the release, for the worst",
            decided_by=f"rows with {_cells(release, smallest)}",
            class_=smallest,
        ),
        Notion(
            key="journalist risk",
            value=1.0 / int(fitting[barest]),
            better="lower",
            meaning="chance to name the person of a row among all of the original, for the worst",
            decided_by=f"rows with {_cells(release, barest)}",
            class_=barest,
        ),
        Notion(
            key="marketer risk",
            value=float((sizes / fitting).sum() / release.n_rows),
            better="lower",
            meaning="share of all rows that are named right by picking somebody who fits",
            class_=smallest,
        ),
    ]


def _diversities(release: Release, found: list[Diversity]) -> list[Notion]:
    if not found:
        return [
            Notion(key=key, value=None, better=better, meaning=meaning)
            for key, better, meaning, _ in _SENSITIVE
        ]
    made = []
    for key, better, meaning, value in _SENSITIVE:
        values = [(value(one), one) for one in found]
        known = [(each, one) for each, one in values if each is not None]
        if not known:
            made.append(Notion(key=key, value=None, better=better, meaning=meaning))
            continue
        worst, one = (min if better == "higher" else max)(known, key=lambda pair: pair[0])
        class_ = one.furthest if key == "t-closeness" else one.poorest
        decided = f"{one.column} in rows with {_cells(release, class_)}"
        made.append(
            Notion(
                key=key,
                value=worst,
                better=better,
                meaning=meaning,
                decided_by=decided,
                class_=class_,
            )
        )
    return made


_SENSITIVE: list[tuple[str, str, str, Callable[[Diversity], float | None]]] = [
    (
        "l-diversity",
        "higher",
        "different sensitive values in the class that has the fewest",
        lambda one: one.distinct,
    ),
    (
        "entropy l-diversity",
        "higher",
        "equally likely sensitive values that the least even class amounts to",
        lambda one: one.entropy,
    ),
    (
        "recursive c",
        "lower",
        "c of recursive (c,l)-diversity with that l: the commonest value against the rarer ones",
        lambda one: one.recursive,
    ),
    (
        "t-closeness",
        "lower",
        "how far sensitive values of a class are from those of the whole table, at most",
        lambda one: one.closeness,
    ),
]


def _class_of_kind(release: Release, kind: int | None) -> int | None:
    """The smallest class of rows that somebody fits."""
    if kind is None:
        return None
    own = release.indices[release.indptr[kind] : release.indptr[kind + 1]]
    return int(own[release.class_sizes[own].argmin()]) if len(own) else None


def _cells(release: Release, number: int) -> str:
    cells = release.class_cells(number)
    return ", ".join(
        f"{column.name} {cell or '*'}" for column, cell in zip(release.columns, cells, strict=True)
    )


def _person(release: Release, kind: int) -> str:
    who = np.flatnonzero(release.kind_of == kind)
    shown = [release.person_name(one) for one in who[:4].tolist()]
    return several_names(shown, total=len(who))
