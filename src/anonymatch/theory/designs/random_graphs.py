"""Random graphs and rings with as many edges as a design: expected and sampled counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.logarithms import log_binomial, log_factorial, psi
from anonymatch.counting import count
from anonymatch.graph import Graph
from anonymatch.theory.designs.formulas import users_and_edges
from anonymatch.theory.designs.partition import layered
from anonymatch.theory.designs.parts import graph_of
from anonymatch.theory.designs.small import LARGEST, Bits, counts
from anonymatch.theory.designs.tuning import TUNING

__all__ = [
    "RandomDistribution",
    "Rival",
    "StirlingComparison",
    "random_distribution",
    "random_expectation",
    "random_expectation_exact",
    "regular_expectation",
    "rivals",
    "stirling_comparison",
]


def random_expectation(n: int, k: float | None = None, *, edges: int | None = None) -> float:
    """Natural log of the expected number of matchings of a random graph of n users.

    Parameters
    ----------
    n : int
    k : number, optional
        Every pair is an edge with probability k / n, independently: n! (k/n)^n matchings are
        expected.
    edges : int, optional
        Instead: all graphs with exactly so many edges are equally likely.

    Returns
    -------
    float
        -inf when there can be no matching.

    Notes
    -----
    The expectation says little about a typical graph: for a fixed k some user is isolated with a
    probability that tends to 1, and then there is no matching at all. :func:`random_distribution`
    shows it.

    Examples
    --------
    >>> math.exp(random_expectation(3, 2)), math.exp(random_expectation(3, edges=5))
    (1.777778, 0.714286)
    >>> random_expectation(10**6, 50)
    2912030.832122
    """
    n, degree, m = _request(n, k, edges)
    if m is not None:
        if m < n:
            return -math.inf
        return log_factorial(n) + log_binomial(m, n) - log_binomial(n * n, n)
    if degree == 0:
        return -math.inf
    return n * (math.log(degree) - 1 + psi(n))


def random_expectation_exact(
    n: int, k: int | Fraction | None = None, *, edges: int | None = None
) -> Fraction:
    """The expected number of matchings itself, as :func:`random_expectation`.

    Examples
    --------
    >>> random_expectation_exact(5, 2), random_expectation_exact(5, edges=15)
    (Fraction(768, 625), Fraction(156, 23))
    """
    n, degree, m = _request(n, k, edges)
    if m is not None:
        return Fraction(math.factorial(n) * math.comb(m, n), math.comb(n * n, n))
    return Fraction(math.factorial(n) * Fraction(degree) ** n, n**n)


def regular_expectation(n: int, m: int) -> float:
    """Natural log of the expected count when m edges join stubs of equal degrees at random.

    Degrees are as equal as possible on both sides and parallel edges are kept (the configuration
    model): the product of all degrees over m over n [1]_.

    References
    ----------
    .. [1] Bollobás, McKay. The number of matchings in random regular graphs and bipartite graphs.
       J. Comb. Theory B 41, 1986.

    Examples
    --------
    >>> round(math.exp(regular_expectation(2, 4)), 6)
    2.666667
    """
    n, m = users_and_edges(n, m)
    k, r = divmod(m, n)
    return 2 * ((n - r) * math.log(k) + r * math.log(k + 1)) - log_binomial(m, n)


@dataclass(frozen=True, slots=True, kw_only=True)
class StirlingComparison:
    """ln(expected count / bound) of a random graph, exactly and by Stirling's formula.

    Examples
    --------
    >>> stirling_comparison(100, 5)
    StirlingComparison(exact=-31.58, corrected=-31.25, printed=-62.50)
    """

    exact: float
    corrected: float  # sqrt(2 pi n) / (2 pi k)^(n / 2k)
    printed: float  # as the paper prints it: the square of that


def stirling_comparison(n: int, k: int) -> StirlingComparison:
    """How far the expected count of density k / n falls below the bound (k!)^(n/k).

    Examples
    --------
    >>> stirling_comparison(10**6, 10**6).exact
    0.0
    """
    n, k = whole(n, "n", least=1), whole(k, "k", least=1)
    if k > n:
        raise InputError(f"k must be at most n = {n}, not {k}")
    printed = math.log(2 * math.pi * n) - n / k * math.log(2 * math.pi * k)
    return StirlingComparison(exact=n * (psi(n) - psi(k)), corrected=printed / 2, printed=printed)


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomDistribution:
    """Counts of random graphs that were drawn.

    Attributes
    ----------
    users, seed : int
    counts : tuple of int
        Of every sample, increasing.
    expected_log : float
        Natural log of the expected count, from the formula.

    Examples
    --------
    >>> drawn = random_distribution(8, 3, samples=200, seed=1)
    >>> drawn.zero_share, drawn.quantile(0.5), drawn.quantile(0.9)
    (0.355, 4, 42)
    """

    users: int
    seed: int
    counts: tuple[int, ...]
    expected_log: float

    @property
    def samples(self) -> int:
        return len(self.counts)

    @property
    def mean(self) -> Fraction:
        return Fraction(sum(self.counts), len(self.counts))

    @property
    def zero_share(self) -> float:
        """The share of graphs without any matching."""
        return self.counts.count(0) / len(self.counts)

    def quantile(self, share: float) -> int:
        """The smallest count that at least this share of the samples do not exceed."""
        if not 0 <= share <= 1:
            raise InputError(f"a quantile is asked for by a share from 0 to 1, not {share!r}")
        return self.counts[max(0, math.ceil(share * len(self.counts)) - 1)]


def random_distribution(
    n: int,
    k: float | None = None,
    *,
    edges: int | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> RandomDistribution:
    """Draw random graphs as for :func:`random_expectation` and count each.

    Examples
    --------
    >>> random_distribution(6, edges=18, samples=500, seed=1).quantile(0.5)
    7
    """
    n, degree, m = _request(n, k, edges)
    samples = whole(samples, "samples", least=1)
    rng = np.random.default_rng(whole(seed, "seed"))
    counts: list[int] = []
    while len(counts) < samples:
        number = min(TUNING.samples_at_once, samples - len(counts)) if n <= LARGEST else 1
        drawn = [_draw(n, degree, m, rng) for _ in range(number)]
        counts += _counts(drawn, samples)
    return RandomDistribution(
        users=n,
        seed=seed,
        counts=tuple(sorted(counts)),
        expected_log=random_expectation(n, k, edges=edges),
    )


def _draw(n: int, degree: float, m: int | None, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    if m is None:
        return rng.random((n, n)) < degree / n
    cells = np.zeros(n * n, dtype=np.bool_)
    cells[rng.choice(n * n, m, replace=False, shuffle=False)] = True
    return cells.reshape(n, n)


def _counts(drawn: list[npt.NDArray[np.bool_]], samples: int) -> list[int]:
    n = len(drawn[0])
    if n <= LARGEST:
        powers = 1 << np.arange(n)
        matrices: list[Bits] = [tuple((cells @ powers).tolist()) for cells in drawn]
        return counts(matrices)
    budget = TUNING.sample_seconds / samples
    graphs = (Graph.from_biadjacency(cells) for cells in drawn)
    return [int(count(graph, exact=True, budget=budget).value) for graph in graphs]


def _request(n: object, k: object, edges: object) -> tuple[int, float, int | None]:
    users = whole(n, "n", least=1)
    if (k is None) == (edges is None):
        raise InputError("give either k, edges a user on average, or edges=, all edges")
    if edges is not None:
        m = whole(edges, "edges")
        if m > users * users:
            raise InputError(f"{m} edges are too many for {users} users; give 0 to {users**2}")
        return users, 0, m
    if isinstance(k, bool) or not isinstance(k, int | float | Fraction | np.number):
        raise InputError(f"k must be a number, not {k!r}")
    if not 0 <= k <= users:
        raise InputError(f"k, edges a user on average, must be 0 to {users}, not {k!r}")
    return users, k, None  # type: ignore[return-value]


# ---- rivals of a design


@dataclass(frozen=True, slots=True)
class Rival:
    """A graph or a kind of random graph, and the natural log of its count.

    Attributes
    ----------
    name : str
    low, high : float
        Equal when the log is known exactly, else proven bounds.
    expected : bool
        Whether it is the log of an expected count.

    Examples
    --------
    >>> rivals(6, 18)[0].log == math.log(20)
    True
    """

    name: str
    low: float
    high: float
    expected: bool = False

    @property
    def log(self) -> float:
        return self.low

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        low, high = (f"2^{log / math.log(2):.10g}" for log in (self.low, self.high))
        amount = f"{low} matchings" if self.exact else f"{low} to {high} matchings"
        return f"{self.name}: {amount}{' expected' if self.expected else ''}"


def rivals(n: int, m: int) -> tuple[Rival, ...]:
    """A ring (the paper's layers in one part) and random graphs with m edges.

    Random graphs of equal degrees join stubs at random, where that makes few parallel edges.

    Examples
    --------
    >>> [rival.name for rival in rivals(100, 500)]
    ['ring', 'random, exactly 500 edges', 'random, equal degrees']
    """
    n, m = users_and_edges(n, m)
    by_probability = random_expectation(n, edges=m)
    graphs = [
        _ring(n, m),
        Rival(f"random, exactly {m} edges", by_probability, by_probability, expected=True),
    ]
    k, r = divmod(m, n)
    if r == 0 and k * k <= n:  # denser, its parallel edges make it another kind of graph
        regular = regular_expectation(n, m)
        graphs.append(Rival("random, equal degrees", regular, regular, expected=True))
    return tuple(graphs)


def _ring(n: int, m: int) -> Rival:
    shape = layered(n, m)
    if not shape.exact and m <= TUNING.ring_edges:
        try:
            answer = count(graph_of(n, shape.cells()), exact=True, budget=TUNING.ring_seconds)
            return Rival("ring", answer.log, answer.log)
        except BudgetError:
            pass
    low, high = (log_factorial(n) + share for share in shape.share_logs)
    return Rival("ring", low, high)
