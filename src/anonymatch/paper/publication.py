"""The paper itself: what it is called, who wrote it, which version is checked, and its words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PUBLICATION", "WORDS", "Publication"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A publication as one cites it.

    Examples
    --------
    >>> PUBLICATION.version, PUBLICATION.link
    ('arXiv:2606.10133v1', 'https://arxiv.org/abs/2606.10133v1')
    """

    title: str
    author: str
    institute: str
    identifier: str
    date: str

    @property
    def version(self) -> str:
        return f"arXiv:{self.identifier}"

    @property
    def link(self) -> str:
        return f"https://arxiv.org/abs/{self.identifier}"


PUBLICATION = Publication(
    title="k-Anonymity by Partitions Maximizes Perfect Matchings",
    author="Ewa J Infeld",
    institute="Katzenpost Project",
    identifier="2606.10133v1",
    date="8 June 2026",
)

WORDS = (
    (
        "de-anonymise a user",
        "expose a user",
        "an attacker learns the behaviour of one user; both leave the graph with their edges",
    ),
    (
        "optimising attacker",
        "best attack on one user",
        "takes the user whose exposure leaves the fewest matchings on average",
    ),
    (
        "component",
        "part, block",
        "users and behaviours joined by edges to each other and to nobody else",
    ),
    (
        "$G_k$, $K_{k+1,k}$",
        "crown of $k+1$",
        "$k+1$ users, each with all behaviours of the component but one",
    ),
    (
        "partition graph $H(n, m)$",
        "design by method “paper”",
        "$n$ users and $m$ edges in components of sizes $k$ and $k+1$",
    ),
    (
        "neighbourhood",
        "candidates",
        "the behaviours that a user may have shown",
    ),
    (
        r"$\M(G)$",
        "count",
        "the number of perfect matchings: ways to explain what was seen",
    ),
)
"""Words of the paper, what they are called elsewhere in anonymatch, and what both mean."""
