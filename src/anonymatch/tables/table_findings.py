"""findings(): everything about a released table in one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import percent, plural
from anonymatch.base.text import names as several_names
from anonymatch.tables.attributes import AttributeDisclosure, attribute_disclosure, presence
from anonymatch.tables.diversity import diversity
from anonymatch.tables.notions import Notion, notions
from anonymatch.tables.reading.release import Release
from anonymatch.tables.solving.linking import Links
from anonymatch.tables.utility import Utility, utility

__all__ = ["CertainValue", "TableFindings", "findings"]

_NAMED = 4  # people of a sentence


BY_ROWS = "all rows that fit say so"
ALONE = "nobody else fits their row"
BY_MATCHING = "only by matching everybody"


class CertainValue(NamedTuple):
    """The sensitive value that somebody certainly has, and how that is known."""

    person: str
    value: str
    how: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TableFindings:
    """What a released table gives away, by every notion that has a name.

    Attributes
    ----------
    notions : dict of str to Notion
        k-anonymity, (1,k), (k,1), (k,k), global (1,k), risks, l-diversity, t-closeness.
    attributes : tuple of AttributeDisclosure
        One a sensitive column.
    presence : array or None
        Probability of each person to be in the release; None if everybody is.
    utility : Utility
    """

    release: Release = field(repr=False)
    links: Links = field(repr=False)
    notions: dict[str, Notion]
    attributes: tuple[AttributeDisclosure, ...] = field(repr=False)
    presence: Floats | None = field(repr=False)
    utility: Utility

    def certain_values(self, column: str) -> list[CertainValue]:
        """People whose value is certain, with it, and how it is known."""
        found = next(one for one in self.attributes if one.column == column)
        values = self.release.sensitive_values[column]
        certain = np.flatnonzero(found.certain[self.release.kind_of])
        kinds = self.release.kind_of[certain]
        return [
            CertainValue(
                self.release.person_name(person), values[found.guess[kind]], _how(found, kind)
            )
            for person, kind in zip(certain.tolist(), kinds.tolist(), strict=True)
        ]

    def headline(self, identified: int, counted: int) -> str:
        """Who is at risk, in a sentence."""
        # Where people were left out, these are all who fit a row: nobody knows which of them.
        where = "who may be in the release" if self.release.lost else "in the release"
        people = f"{plural(counted, 'person', 'people')} {where}"
        if not counted:
            return "Nobody of the original table is in the release."
        if not identified:
            least = self.notions["global (1,k)"].value
            among = ""
            if least is not None and not self.release.lost:
                among = f"; everybody has {least:,.0f} rows or more to hide among"
            return f"None of {people} is identified{among}."
        if identified == counted:
            return f"{people} is identified." if counted == 1 else f"All {people} are identified."
        share = percent(identified / counted)
        verb = "is" if identified == 1 else "are"
        return f"{identified:,} of {people} ({share}) {verb} identified."

    def sentences(self) -> tuple[str, ...]:
        """Values that are certain, and what only matching shows, with the chain of reasons."""
        return tuple(sentence for one in self.attributes for sentence in self._about(one))

    def if_present(self) -> dict[str, Any]:
        """Figures that assume that a person is in the release; empty if everybody is.

        An attacker who knows that somebody is in the sample has these.
        """
        release, links = self.release, self.links
        if not release.lost:
            return {}
        real = links.possible & (links.classes != links.nowhere)
        rows = np.bincount(
            links.kinds[real], links.class_sizes[links.classes[real]], len(release.kind_sizes)
        )
        return {
            "identified": int(release.kind_sizes[rows == 1].sum()),
            "attributes": {
                one.column: {
                    "certain": int(release.kind_sizes[one.certain_if_present].sum()),
                    "surest": _surest(one.probability_if_present),
                }
                for one in self.attributes
            },
        }

    def about_present(self) -> tuple[str, ...]:
        """These figures as a sentence; none if everybody is in the release."""
        known = self.if_present()
        if not known:
            return ()
        people = f"{plural(known['identified'], 'person', 'people')} would be identified"
        values = "".join(
            f", and the {column} of {plural(one['certain'], 'person', 'people')} would be certain"
            for column, one in known["attributes"].items()
        )
        return (f"If the attacker knows that a person is in the release: {people}{values}.",)

    def _about(self, found: AttributeDisclosure) -> list[str]:
        release = self.release
        sizes = release.kind_sizes
        certain = int(sizes[found.certain].sum())
        if not certain:
            best = _surest(found.probability)
            surest = "the probabilities of guesses need a larger budget"
            if best is not None:
                surest = f"the surest guess is right with a probability of {percent(best)}"
            return [f"No person's {found.column} is certain; {surest}."]
        told = [f"The {found.column} of {plural(certain, 'person', 'people')} is certain."]
        lone = int(sizes[found.alone].sum())
        if lone:
            are, each = ("is", "") if lone == 1 else ("are", "each ")
            told.append(
                f"{lone:,} of them {are} {each}compatible with rows of other values, but one row "
                f"is compatible with {'this person' if lone == 1 else 'that person'} alone."
            )
        matched = np.flatnonzero(found.by_matching[release.kind_of])
        if len(matched):
            number = len(matched)
            told.append(
                f"Of {plural(number, 'person', 'people')} only matching everybody shows it: "
                f"{self._chain(found, int(matched[0]))}."
            )
        return told

    def _chain(self, found: AttributeDisclosure, one: int) -> str:
        """Why the other values of a person are out of the question."""
        release, kind = self.release, int(self.release.kind_of[one])
        others, person = self.links.needed_by_others(kind), release.person_name(one)
        value = release.sensitive_values[found.column][found.guess[kind]]
        rows = [f"row {one + 1}" for one in others.rows[:_NAMED].tolist()]
        shown = several_names(rows, total=len(others.rows))
        these = "it" if len(others.rows) == 1 else "these"
        return (
            f"{person} fits {shown} too, but only {others.who} can have {these}, so that {person} "
            f"has {value}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "notions": {key: one.value for key, one in self.notions.items()},
            "decided_by": {key: one.decided_by for key, one in self.notions.items()},
            "attributes": {
                one.column: {
                    "certain": int(self.release.kind_sizes[one.certain].sum()),
                    "certain_by_matching": int(self.release.kind_sizes[one.by_matching].sum()),
                    "surest": _surest(one.probability),
                }
                for one in self.attributes
            },
            "if_present": self.if_present() or None,
            "presence": None
            if self.presence is None
            else {"least": _known(self.presence.min()), "most": _surest(self.presence)},
            "utility": {
                "loss": self.utility.loss,
                "by_column": self.utility.by_column,
                "discernibility": self.utility.discernibility,
                "mean_class": self.utility.mean_class,
                "suppressed": self.utility.suppressed,
            },
        }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _surest(probability: Floats) -> float | None:
    """The largest probability; None where some are not known."""
    if (probability == 1.0).any():
        return 1.0
    largest = float(probability.max(initial=0.0))  # NaN where one is
    return None if np.isnan(largest) else largest


def _how(found: AttributeDisclosure, kind: int) -> str:
    if found.by_matching[kind]:
        return BY_MATCHING
    return ALONE if found.alone[kind] else BY_ROWS


def findings(links: Links) -> TableFindings:
    """All notions, attribute and presence disclosure, and utility."""
    release = links.release
    spread = [diversity(release, column) for column in release.sensitive]
    inside = presence(release, links)[release.kind_of] if release.lost else None
    if inside is not None and not links.known.all():
        inside = np.where(links.known[release.kind_of] | (inside == 1.0), inside, np.nan)
    return TableFindings(
        release=release,
        links=links,
        notions=notions(links),
        attributes=tuple(attribute_disclosure(release, links, one) for one in spread),
        presence=inside,
        utility=utility(release),
    )
