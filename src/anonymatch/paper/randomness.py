"""Section 3.3: random bipartite graphs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np

from anonymatch.base.logarithms import log_factorial
from anonymatch.designs import (
    random_expectation,
    random_expectation_exact,
    stirling_comparison,
)
from anonymatch.paper.asymptotics import tends_to
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import curves, table
from anonymatch.paper.exact_comparisons import compare
from anonymatch.paper.question import Finding, judge, question, trial

__all__ = ["QUESTIONS"]


def matchings_by_edges(n: int) -> dict[int, int]:
    """Matchings of all 2^(n^2) graphs of n users together, by their number of edges.

    Examples
    --------
    >>> matchings_by_edges(2)
    {0: 0, 1: 0, 2: 2, 3: 4, 4: 2}
    """
    graphs = np.arange(1 << n * n)
    counts = np.zeros(len(graphs), dtype=np.int64)
    for order in permutations(range(n)):
        needed = sum(1 << (i * n + j) for i, j in enumerate(order))
        counts += graphs & needed == needed
    edges = np.bitwise_count(graphs)
    return {m: int(counts[edges == m].sum()) for m in range(n * n + 1)}


def expectation(n: int, density: Fraction) -> Fraction:
    """The expected number of matchings, over all graphs one by one."""
    return sum(
        (
            total * density**m * (1 - density) ** (n * n - m)
            for m, total in matchings_by_edges(n).items()
        ),
        Fraction(0),
    )


@question(
    "random-expectation",
    32,
    section="Section 3.3",
    title="The matchings of a random graph",
    kind="formula",
    statement="A random bipartite graph of density $k/n$ has $n! (k/n)^n$ matchings on average.",
    seconds=0.1,
)
def random_expectation_claim(run: ClaimContext) -> Finding:
    """All graphs of up to four users, weighted by their probabilities."""
    cases = [(n, k) for n in (1, 2, 3, 4) for k in range(1, n + 1)]
    right = trial(
        cases,
        lambda n, k: (
            expectation(n, Fraction(k, n))
            == random_expectation_exact(n, k)
            == math.factorial(n) * Fraction(k, n) ** n
        ),
    )
    fixed = trial(
        ((n, m) for n in (1, 2, 3, 4) for m in range(n * n + 1)),
        lambda n, m: (
            Fraction(matchings_by_edges(n)[m], math.comb(n * n, m))
            == random_expectation_exact(n, edges=m)
        ),
    )
    return Finding(
        verdict=judge(right.holds),
        corrected="it differs for some n and k",
        finding=f"Exact for {right} pairs (n, k), over all graphs one by one (n = 3, k = 2: "
        f"{expectation(3, Fraction(2, 3))}). It mixes graphs of different cost; with exactly m "
        f"edges n! C(n^2-n, m-n)/C(n^2, m) is right for {fixed} pairs (n, m).",
        searched="all graphs of up to 4 users; linearity of expectation proves it for all",
    )


# ---- Stirling


def printed_expectation(n: int, k: int) -> float:
    """Log of (k/e)^n 2 pi n."""
    return n * (math.log(k) - 1) + math.log(2 * math.pi * n)


def corrected_expectation(n: int, k: int) -> float:
    """Log of (k/e)^n sqrt(2 pi n)."""
    return n * (math.log(k) - 1) + math.log(2 * math.pi * n) / 2


def printed_bound(n: int, k: int) -> float:
    """Log of (k/e)^n (2 pi k)^(n/k)."""
    return n * (math.log(k) - 1) + n / k * math.log(2 * math.pi * k)


def corrected_bound(n: int, k: int) -> float:
    """Log of (k/e)^n (2 pi k)^(n/(2k))."""
    return n * (math.log(k) - 1) + n / k * math.log(2 * math.pi * k) / 2


def approximates(form: Callable[[int, int], float], truth: Callable[[int, int], float]) -> bool:
    """Whether the ratio tends to 1 along n = 4k."""
    return tends_to([math.exp(form(4 * k, k) - truth(4 * k, k)) for k in (10, 10**2, 10**4)], 1.0)


def below_bound(n: int, k: int) -> bool:
    """Whether n! (k/n)^n < (k!)^(n/k), in whole numbers."""
    left = (math.factorial(n) * k**n) ** k
    return compare((left, k), (math.factorial(k) ** n * n ** (n * k), k)) < 0


@question(
    "stirling",
    33,
    section="Section 3.3",
    title="Random graphs against the bound",
    kind="formula",
    statement=r"By Stirling's formula the expectation is about $(k/e)^n 2 \pi n$ and the bound "
    "about "
    r"$(k/e)^n (2 \pi k)^{n/k}$, so their ratio is $(2 \pi)^{1-n/k} k^{\log_k(n)-n/k}$ and "
    r"drops off.",
)
def stirling(run: ClaimContext) -> Finding:
    """Printed and corrected forms against exact logarithms."""

    def bound(n: int, k: int) -> float:
        return n / k * log_factorial(k)

    printed = [
        approximates(printed_expectation, random_expectation),
        approximates(printed_bound, bound),
    ]
    corrected = [
        approximates(corrected_expectation, random_expectation),
        approximates(corrected_bound, bound),
    ]

    def rewritten(n: int, k: int) -> bool:
        powers = (1 - n / k) * math.log(2 * math.pi) + math.log(n) - n / k * math.log(k)
        form = corrected_expectation(n, k) - corrected_bound(n, k)
        return math.isclose(form, powers / 2, rel_tol=1e-9)

    identity = trial(((n, k) for k in (2, 5, 20) for n in (2 * k, 10 * k)), rewritten)
    drops = trial(((n, k) for n in range(2, 31) for k in range(1, n)), below_bound)
    rows = []
    for n, k in ((100, 5), (1000, 10), (10**6, 100)):
        comparison = stirling_comparison(n, k)
        rows.append([n, k, comparison.exact, comparison.corrected, comparison.printed])
    return Finding(
        verdict=judge(
            all(printed) and drops.holds,
            corrected=all(corrected) and identity.holds and drops.holds,
        ),
        corrected=r"$(k/e)^n \sqrt{2 \pi n}$ and $(k/e)^n (2 \pi k)^{n/(2k)}$; the ratio is the "
        "square root of the printed one.",
        finding=f"{sum(printed)} of 2 printed approximations and {sum(corrected)} of 2 corrected "
        f"ones come close. At n = 100, k = 5 the log of the ratio is {rows[0][2]:.2f}, by the "
        f"corrected formula {rows[0][3]:.2f} and as printed {rows[0][4]:.2f}. The expectation is "
        f"below the bound for {drops} pairs with k < n.",
        searched="k to 10^4 with n = 4k for the approximations; all n up to 30 in whole numbers "
        "for the drop",
        evidence=(
            table(
                "ln(expectation / bound)",
                ["n", "k", "exact", "corrected", "as printed"],
                rows,
            ),
        ),
    )


# ---- degrees


def near_share(n: int, k: float, within: float = 0.25) -> float:
    """The probability that a user of a random graph has a degree within a quarter of k."""
    from scipy.special import bdtr

    low, high = math.ceil(k * (1 - within)) - 1, math.floor(k * (1 + within))
    return float(bdtr(high, n, k / n) - bdtr(low, n, k / n))


def nobody_isolated(n: int, k: float) -> float:
    """The probability that every user has an edge."""
    return math.exp(n * math.log1p(-math.exp(n * math.log1p(-k / n))))


@question(
    "random-degrees",
    34,
    section="Section 3.3",
    title="The degrees of a random graph",
    kind="text",
    statement="In a random bipartite graph of density $k/n$, with high probability almost all "
    "vertices "
    "have degrees close to $k$.",
)
def random_degrees(run: ClaimContext) -> Finding:
    """Probabilities for k that stays and for k that grows."""
    sizes = [10**3, 10**4, 10**5, 10**6, 10**7, 10**8]
    families: dict[str, Callable[[int], float]] = {
        "k = 5": lambda n: 5.0,
        "k = 2 ln n": lambda n: 2 * math.log(n),
        "k = sqrt(n)": math.sqrt,
    }
    near = {name: [near_share(n, k(n)) for n in sizes] for name, k in families.items()}
    safe = {name: [nobody_isolated(n, k(n)) for n in sizes] for name, k in families.items()}
    close = {name: tends_to(values, 1.0) for name, values in near.items()}
    held = {name: tends_to(values, 1.0) for name, values in safe.items()}
    growing = close["k = sqrt(n)"] and held["k = sqrt(n)"] and held["k = 2 ln n"]
    return Finding(
        verdict=judge(close["k = 5"] and held["k = 5"] and growing, conditional=growing),
        corrected="$k$ must grow with $n$. For a fixed $k$ some user is isolated with a "
        "probability that tends to 1, and then there is no matching; to have one takes "
        r"$k \ge \ln n + w$ with $w$ growing.",
        brief="if $k$ grows with $n$",
        finding=f"At n = 10^8 a user's degree is within a quarter of k with probability "
        f"{near['k = 5'][-1]:.3f} for k = 5, {near['k = 2 ln n'][-1]:.3f} for k = 2 ln n and "
        f"{near['k = sqrt(n)'][-1]:.3f} for k = sqrt(n). That nobody is isolated has probability "
        f"{safe['k = 5'][0]:.2g} at n = 1000 and k = 5, {safe['k = 2 ln n'][-1]:.6f} at n = 10^8 "
        "and k = 2 ln n.",
        searched="n from 10^3 to 10^8, by the binomial law of degrees",
        evidence=(
            curves(
                "Probability of a degree within a quarter of k",
                "n",
                "probability",
                {name: (sizes, values) for name, values in near.items()},
            ),
            curves(
                "Probability that no user is isolated",
                "n",
                "probability",
                {name: (sizes, values) for name, values in safe.items()},
            ),
        ),
    )


QUESTIONS = (random_expectation_claim, stirling, random_degrees)
