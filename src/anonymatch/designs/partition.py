"""The paper's construction H(n, m): equal parts, filled layer after layer.

Where the paper defines it there are a = floor(n / k) parts (cases A to D). For all other n and m
('ext') the number of parts is the one that gives the most matchings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anonymatch.designs.layered import EXACT_UP_TO, layered
from anonymatch.designs.logarithms import Line
from anonymatch.designs.parts import Composition, Part

__all__ = ["Parameters", "equal_parts", "paper", "parameters"]

_ALL_UP_TO = 2 * EXACT_UP_TO  # users for whom every number of parts is tried
_WINDOW = 200  # numbers of parts tried around each place where the count may be largest
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Parameters:
    """m = k n + r, n = a k + b, and the paper's case: A, B, C, D or ext.

    Examples
    --------
    >>> parameters(8, 24)
    Parameters(k=3, r=0, a=2, b=2, case='B')
    """

    k: int
    r: int
    a: int
    b: int
    case: str


def parameters(n: int, m: int) -> Parameters:
    """Which of the paper's cases n users and m edges are."""
    k, r = divmod(m, n)
    a, b = divmod(n, k)
    if b == 0:
        case = "A" if r == 0 else "D" if r < k else "ext"
    elif b <= a:
        case = "B" if r == 0 else "C" if r <= (k + 1) * b else "ext"
    else:
        case = "ext"
    return Parameters(k, r, a, b, case)


def paper(n: int, m: int) -> tuple[Composition, str]:
    """H(n, m), and what is known about the choice of its number of parts."""
    given = parameters(n, m)
    if given.case != "ext":
        return equal_parts(n, m, given.a), "as the paper defines it"
    line = Line(given.k)
    best: tuple[float, int, Composition] | None = None
    everything = n <= _ALL_UP_TO
    for number in range(n, 0, -1) if everything else _promising(n, m):
        parts = equal_parts(n, m, number)
        loss = parts.loss(line)
        if best is None or loss + parts.doubt(line) < best[0] - _TIE:
            best = loss, number, parts
    assert best is not None
    chosen = best[2]
    if not all(part.exact for part in chosen.parts):
        return chosen, "beyond the paper's cases: number of parts chosen by proven lower bounds"
    if everything:
        return chosen, "beyond the paper's cases: best of all numbers of equal parts"
    return chosen, "beyond the paper's cases: best of the numbers of equal parts with closed forms"


def equal_parts(n: int, m: int, number: int) -> Composition:
    """H_c: ``number`` parts, larger ones first, filled layer by layer and part after part.

    Examples
    --------
    >>> [str(part) for part in equal_parts(8, 30, 2).parts]
    ['complete 4 (16 edges)', 'near-complete 4 (14 edges)']
    """
    size, larger = divmod(n, number)
    layers = min(m // n, size)
    left = m - layers * n
    parts: list[Part] = []
    for users, copies in ((size + 1, larger), (size, number - larger)):
        room = layers < users
        full = min(copies, left // users) if room else 0
        left -= full * users
        begun = left if room and full < copies else 0
        left -= begun
        for edges, times in (
            ((layers + 1) * users, full),
            (layers * users + begun, 1 if begun else 0),
            (layers * users, copies - full - (1 if begun else 0)),
        ):
            if times:
                parts.append(Part(layered(users, edges), times))
    return Composition(tuple(parts), left)


def _promising(n: int, m: int) -> Iterator[int]:
    """Numbers of parts, falling, among which the best one is.

    As long as floor(n / c) stays the same, the log of the count changes by steps of equal size
    with c, but for one part that is partly filled and for a bend where the last large part is
    filled. So its maximum lies close to an end of such a range or to the bend. Sizes beyond k + 2
    pay only if there is no number of parts with smaller ones.
    """
    k = m // n
    places = {1, max(n // k - 1, 1), n // k}
    for size in range(max(k - 1, 1), k + 3):
        least, most = n // (size + 1) + 1, n // size
        left = m - min(k, size) * n
        bend = (n - left // (size + 1)) // size
        for middle in {least, most, min(max(bend, least), most)}:
            if least <= most:
                reach = min(size + 2, _WINDOW)
                places.update(range(max(least, middle - reach), min(most, middle + reach) + 1))
    return iter(sorted((c for c in places if 1 <= c <= n), reverse=True))
