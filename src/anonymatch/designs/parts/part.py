"""A part and how often it occurs; a composition of parts with the edges that are left over."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from anonymatch.base.logarithms import Line, log_factorial
from anonymatch.designs.parts.kinds import Shape

__all__ = ["Composition", "Part", "exposes"]


@dataclass(frozen=True, slots=True)
class Part:
    """``number`` equal parts.

    Attributes
    ----------
    shape : Shape
        The edges of one of them.
    number : int

    Examples
    --------
    >>> from anonymatch.designs.parts.kinds import Near
    >>> part = Part(Near(4, 4), 2)
    >>> part.kind, part.size, part.edges, part.number, part.count
    ('crown', 4, 12, 2, 9)
    """

    shape: Shape
    number: int

    @property
    def kind(self) -> str:
        return self.shape.kind

    @property
    def size(self) -> int:
        """Users of one part."""
        return self.shape.size

    @property
    def edges(self) -> int:
        """Edges of one part."""
        return self.shape.edges

    @property
    def exact(self) -> bool:
        return self.shape.exact

    @property
    def count(self) -> int | None:
        """Matchings of one part; None when only bounds are known."""
        return self.shape.count() if self.shape.exact else None

    @property
    def low(self) -> float:
        """Natural log of the count of one part, or a proven lower bound on it."""
        return log_factorial(self.size) + self.shape.share_logs[0]

    @property
    def high(self) -> float:
        return log_factorial(self.size) + self.shape.share_logs[1]

    @property
    def log(self) -> float:
        return self.low

    @property
    def attack(self) -> Fraction | None:
        """The share of the matchings that the best attack on one part leaves."""
        return self.shape.attack()

    @property
    def attack_log(self) -> float:
        return self.shape.attack_log

    def __str__(self) -> str:
        times = f"{self.number} x " if self.number > 1 else ""
        return f"{times}{self.kind} {self.size} ({self.edges} edges)"


def exposes(shape: Shape) -> bool:
    """Whether some user of the part has one possible behaviour only.

    In every kind of part, two edges a user or more join all users into one closed group.
    """
    return shape.size == 1 or shape.edges < 2 * shape.size


@dataclass(frozen=True, slots=True)
class Composition:
    """Parts side by side, and edges that are in no matching."""

    parts: tuple[Part, ...]
    spare: int

    @classmethod
    def of(cls, shapes: Iterable[tuple[Shape, int]], spare: int) -> Composition:
        """Equal shapes together, large parts first, and of equal size the one with more edges."""
        numbers: dict[Shape, int] = {}
        for shape, number in shapes:
            if number:
                numbers[shape] = numbers.get(shape, 0) + number
        ordered = sorted(numbers.items(), key=lambda pair: (-pair[0].size, -pair[0].edges))
        return cls(tuple(Part(shape, number) for shape, number in ordered), spare)

    @property
    def users(self) -> int:
        return sum(part.size * part.number for part in self.parts)

    @property
    def fits(self) -> bool:
        """Whether the spare edges have room above the parts: earlier users, later behaviours."""
        inside = sum(part.size**2 * part.number for part in self.parts)
        return 0 <= 2 * self.spare <= self.users**2 - inside

    def loss(self, line: Line) -> float:
        """How far the log of the count lies below the bound; for bounded parts, at most."""
        return line.slope * self.spare + math.fsum(
            part.number * line.loss(part.size, part.edges, part.shape.share_logs[0])
            for part in self.parts
        )

    def doubt(self, line: Line) -> float:
        """The rounding error that the loss may have."""
        return sum(part.number * line.doubt(part.size) for part in self.parts)

    @property
    def attack_log(self) -> float:
        """Log of the share of matchings that the best attack leaves, or a lower bound on it."""
        return min(part.attack_log for part in self.parts)

    @property
    def smallest(self) -> int:
        """The users of the smallest closed group; 1 when somebody is exposed."""
        if any(exposes(part.shape) for part in self.parts):
            return 1
        return min(part.size for part in self.parts)
