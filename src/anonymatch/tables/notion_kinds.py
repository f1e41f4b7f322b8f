"""Notions of anonymity of released tables: their names, what they mean, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.base.numbers import amount, percent

__all__ = ["NOTION_KINDS", "NotionKind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotionKind:
    """A notion, whatever the release.

    Attributes
    ----------
    key, meaning : str
    unit : {"number", "share"}
    better : {"higher", "lower"}
    usual : float
        A threshold that is often asked for.
    names : tuple of str
        Other names of it.
    """

    key: str
    meaning: str
    unit: str = "number"
    better: str = "higher"
    usual: float = 5
    names: tuple[str, ...] = ()

    def text(self, value: float | None) -> str:
        """A value of it, for people."""
        if value is None:
            return "–"
        return percent(value) if self.unit == "share" else amount(value)

    def reaches(self, value: float | None, target: float) -> bool:
        """Whether a value is as good as the target."""
        if value is None:
            return False
        return value >= target - 1e-12 if self.better == "higher" else value <= target + 1e-12


NOTION_KINDS: dict[str, NotionKind] = {
    kind.key: kind
    for kind in (
        NotionKind(
            key="k-anonymity",
            meaning="rows that are equal in all identifiers, in the smallest class",
        ),
        NotionKind(
            key="(1,k)", meaning="rows that fit the person whom the fewest fit", names=("1k",)
        ),
        NotionKind(
            key="(k,1)", meaning="people who fit the row that the fewest fit", names=("k1",)
        ),
        NotionKind(key="(k,k)", meaning="the smaller of (1,k) and (k,1)", names=("kk",)),
        NotionKind(
            key="global (1,k)",
            meaning="rows that the person with the fewest can have when everybody else must have "
            "one, too",
        ),
        NotionKind(
            key="prosecutor risk",
            meaning="chance to pick the row of somebody known to be in the release, for the worst",
            unit="share",
            better="lower",
            usual=0.2,
            names=("prosecutor",),
        ),
        NotionKind(
            key="journalist risk",
            meaning="chance to name the person of a row among all of the original, for the worst",
            unit="share",
            better="lower",
            usual=0.2,
            names=("journalist",),
        ),
        NotionKind(
            key="marketer risk",
            meaning="share of all rows that are named right by picking somebody who fits",
            unit="share",
            better="lower",
            usual=0.05,
            names=("marketer",),
        ),
        NotionKind(
            key="presence",
            meaning="chance to be in the release, of the person who is in it most surely "
            "(delta-presence)",
            unit="share",
            better="lower",
            usual=0.8,
        ),
        NotionKind(
            key="l-diversity",
            meaning="different sensitive values in the class of equal rows that has the fewest",
            usual=3,
        ),
        NotionKind(
            key="entropy l-diversity",
            meaning="equally likely sensitive values that the least even class amounts to",
            usual=2,
        ),
        NotionKind(
            key="recursive c",
            meaning="c of recursive (c,l)-diversity with that l: the commonest sensitive value of "
            "a class against the rarer ones",
            better="lower",
            usual=3,
        ),
        NotionKind(
            key="t-closeness",
            meaning="how far sensitive values of a class are from those of the whole table, at "
            "most",
            better="lower",
            usual=0.3,
        ),
    )
}
