"""Sections 3.2 and 3.3: crowns, and H against the bound, as k grows; random graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np

from anonymatch.base.logarithms import log_factorial, phi_difference
from anonymatch.theory.claims.construction import series_of_crown
from anonymatch.theory.claims.named_graphs import compare, reciprocal_of_e
from anonymatch.theory.claims.question import (
    ClaimContext,
    Finding,
    curves,
    judge,
    question,
    table,
    trial,
)
from anonymatch.theory.claims.small_graphs import SEARCH
from anonymatch.theory.designs import (
    avoiding_share_log,
    limit_ratio,
    max_bound,
    random_expectation,
    random_expectation_exact,
    restricted_permutations,
    restricted_permutations_log,
    stirling_comparison,
)

FAMILIES: dict[str, Callable[[int], int]] = {
    "b = 1": lambda k: 1,
    "b = 5": lambda k: 5,
    "b = sqrt(k)": math.isqrt,
    "b = k / ln k": lambda k: int(k / math.log(k)),
    "b = k / 2": lambda k: k // 2,
    "b = k - 1": lambda k: k - 1,
}


def tends_to(values: Sequence[float], limit: float, close: float = SEARCH.close) -> bool:
    """Whether values come closer to a limit at each step, and close in the end.

    Examples
    --------
    >>> tends_to([1.1, 1.01, 1.0001], 1), tends_to([1.1, 1.01, 1.02], 1)
    (True, False)
    """
    distances = [abs(value - limit) for value in values]
    return distances[-1] < close and all(b <= a for a, b in pairwise(distances))


@question("crown-limit")
def crown_limit(run: ClaimContext) -> Finding:
    """The counts have no limit; their ratio to (k+1)!/e has, exactly enclosed."""
    sizes = range(1, 41)
    counts = [series_of_crown(k) for k in sizes]
    converges = len(set(counts[-5:])) == 1  # integers that converge stay the same in the end
    low, high = reciprocal_of_e(200)

    def nearest(k: int, number: int) -> bool:
        full = math.factorial(k + 1)
        half = Fraction(1, 2)
        return number - half < full * low and full * high < number + half

    rounded = trial(zip(sizes, counts, strict=True), nearest)
    ratios = [float(Fraction(c) / (math.factorial(k + 1) * low)) for k, c in enumerate(counts, 1)]
    return Finding(
        judge(converges, corrected=rounded.holds and tends_to(ratios, 1.0, 1e-12)),
        curves("M(G_k) e / (k+1)!", "k", "ratio", sizes, {"ratio": ratios[:12]}),
        finding=f"M(G_k) grows without limit ({counts[0]}, {counts[1]}, {counts[2]}, {counts[3]}, "
        f"...); its ratio to (k+1)!/e is {ratios[4]:.5f} at k = 5 and 1 within "
        f"{abs(1 - ratios[14]):.1g} at k = 15, and it is the nearest integer for {rounded} values "
        "of k.",
    )


def exact_ratio(k: int, a: int, b: int) -> float:
    """M(H) / (k!)^(n/k) from whole numbers: the k-th root of a fraction."""
    count = math.factorial(k) ** (a - b) * restricted_permutations(k + 1, k + 1) ** b
    return math.pow(Fraction(count**k, math.factorial(k) ** (a * k + b)), 1 / k)


def condition_met(k: int, b: int) -> bool:
    """Whether b ln k / k is small."""
    return b * math.log(k) / k < SEARCH.close


@question("theorem-limit")
def theorem_limit(run: ClaimContext) -> Finding:
    """The ratio for b that stay, grow slowly, or grow with k."""
    sizes = SEARCH.growing
    ratios = {
        name: [limit_ratio(k, min(b(k), k - 1)) for k in sizes] for name, b in FAMILIES.items()
    }
    to_one = {name: tends_to(values, 1.0) for name, values in ratios.items()}
    met = {name: condition_met(sizes[-1], b(sizes[-1])) for name, b in FAMILIES.items()}
    iff = trial(((name,) for name in FAMILIES), lambda name: to_one[name] == met[name])
    agree = trial(
        ((k, b) for k in range(2, 13) for b in range(k)),
        lambda k, b: math.isclose(exact_ratio(k, b + 1, b), limit_ratio(k, b), rel_tol=1e-9),
    )
    at = 10**6
    slope = math.log(limit_ratio(at, 1)) / (-(math.log(2 * math.pi * at) / 2 - 1) / at)
    last = limit_ratio(at, at - 1) * math.sqrt(2 * math.pi * at) / math.e
    sound = agree.holds and math.isclose(slope, 1, rel_tol=1e-3)
    shown = [10, 100, 1000, 10**6]
    failing = ", ".join(name for name, good in to_one.items() if not good)
    return Finding(
        judge(
            sound and all(to_one.values()), conditional=sound and iff.holds and any(to_one.values())
        ),
        curves(
            "M(H) over the bound, by k and b",
            "k",
            "ratio",
            sizes,
            {
                name: ratios[name][:8]
                for name in ("b = 1", "b = k / 2", "b = k - 1")
                if name in ratios
            },
        ),
        table(
            "The same ratio",
            ["b", *(f"k = {k}" for k in sizes), "tends to 1", "b ln k / k tends to 0"],
            [[name, *ratios[name], to_one[name], met[name]] for name in FAMILIES],
        ),
        table(
            "b = k - 1 against e / sqrt(2 pi k)",
            ["k", "ratio", "e / sqrt(2 pi k)"],
            [[k, limit_ratio(k, k - 1), math.e / math.sqrt(2 * math.pi * k)] for k in shown],
        ),
        table("Leading terms at k = 10^6", ["b = 1", "b = k - 1"], [[slope, last]]),
        finding=f"At k = 100 the ratio is {limit_ratio(100, 1):.3f} for b = 1, "
        f"{limit_ratio(100, 50):.3f} for b = k/2 and {limit_ratio(100, 99):.3f} for b = k - 1; at "
        f"k = 10^6 {limit_ratio(at, 1):.6f}, {limit_ratio(at, at // 2):.3f} and "
        f"{limit_ratio(at, at - 1):.4f}. It does not tend to 1 for {failing or 'none of these'}.",
        searched="k to 10^12 by a formula that agrees with whole numbers in "
        f"{agree} cases up to k = 12; what is said of the limit follows from Stirling's formula",
    )


# ---- edges left over in a crown


def allowed_fixed(size: int, allowed: int) -> int:
    """Permutations of ``size`` things whose fixed points are among the first ``allowed``."""
    return sum(all(p[i] != i for i in range(allowed, size)) for p in permutations(range(size)))


def displayed_terms(k: int, r: int) -> list[Fraction]:
    """The first three terms of the paper's inclusion-exclusion."""
    s = k + 1
    return [
        Fraction(s - r, s),
        -Fraction((s - r) * (k - r), 2 * s * k),
        Fraction((s - r) * (k - r) * (k - r - 1), 6 * s * k * (k - 1)),
    ]


def inclusion_exclusion(k: int, r: int) -> list[Fraction]:
    """All terms, each from the number of sets that are fixed."""
    s = k + 1
    return [
        (-1) ** (j + 1) * Fraction(math.comb(s - r, j) * math.factorial(s - j), math.factorial(s))
        for j in range(1, s - r + 1)
    ]


@question("leftover-permutations")
def leftover_permutations(run: ClaimContext) -> Finding:
    """Permutations one by one for small k, closed formulas for large ones."""
    small = [(k, r) for k in range(2, 7) for r in range(k + 1)]

    def right(k: int, r: int) -> bool:
        terms = inclusion_exclusion(k, r)
        shown = displayed_terms(k, r)[: len(terms)]
        number = allowed_fixed(k + 1, r)
        probability = 1 - sum(terms, Fraction(0))
        return (
            shown == terms[: len(shown)]
            and probability == Fraction(number, math.factorial(k + 1))
            and number == restricted_permutations(k + 1, k + 1 - r)
        )

    exact = trial(small, right)
    sizes = [100, 10**4, 10**6]
    rows, close = [], True
    for part in (4, 2):
        alpha = 1 / part
        probabilities = [math.exp(avoiding_share_log(s, s - s // part) + 1 - alpha) for s in sizes]
        growth = [
            math.exp(avoiding_share_log(s, s - s // part) - avoiding_share_log(s, s) - alpha)
            for s in sizes
        ]
        close = close and tends_to(probabilities, 1.0) and tends_to(growth, 1.0)
        rows += [[alpha, s, c, g] for s, c, g in zip(sizes, probabilities, growth, strict=True)]
    bounds = [
        [
            k,
            r,
            math.exp(
                restricted_permutations_log(k + 1, k + 1 - r) - max_bound(k + 1, k * (k + 1) + r)
            ),
        ]
        for k, r in ((5, 2), (20, 7), (200, 100), (2000, 1000))
    ]
    return Finding(
        judge(exact.holds and close),
        table(
            "Probability over e^(-(1-alpha)), and gain over e^alpha",
            ["alpha", "k + 1", "probability", "gain"],
            rows,
        ),
        table("Matchings over the bound of the component", ["k", "r", "ratio"], bounds),
        finding=f"The terms and the probability are exact in {exact} cases. At k + 1 = 10^6 the "
        "probability is e^(-(1-alpha)) and the gain e^alpha up to a factor 1 "
        f"{rows[-1][2] - 1:+.1g}. Matchings over the component's bound: "
        + ", ".join(f"{ratio:.3f} (k = {k}, r = {r})" for k, r, ratio in bounds)
        + ".",
    )


@question("leftover-limit")
def leftover_limit(run: ClaimContext) -> Finding:
    """Both forms against the factor itself."""
    sizes = [10**2, 10**4, 10**6]
    alpha = 0.5

    def against(form: Callable[[int], float]) -> list[float]:
        """Exponential of the form's log less that of the factor by which the bound grows."""
        return [math.exp(form(k) - alpha * (k + 1) * phi_difference(k, k + 1)) for k in sizes]

    paper = against(lambda k: alpha * (1 - math.log(k + 1)))
    corrected = against(lambda k: alpha * (1 + math.log1p(1 / k)))
    limit = [math.exp(alpha * (k + 1) * phi_difference(k, k + 1) - alpha) for k in sizes]
    return Finding(
        judge(tends_to(paper, 1.0), corrected=tends_to(corrected, 1.0) and tends_to(limit, 1.0)),
        table(
            "Both forms over the factor by which the bound grows",
            ["k", "as displayed", "corrected"],
            zip(sizes, paper, corrected, strict=True),
        ),
        finding=f"At k = 10^6 and alpha = 1/2 the displayed form is {paper[-1]:.2g} of the factor, "
        f"the corrected one {corrected[-1]:.6f}; the factor is {limit[-1]:.6f} e^alpha.",
    )


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


@question("random-expectation")
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
        judge(right.holds),
        finding=f"Exact for {right} pairs (n, k), over all graphs one by one (n = 3, k = 2: "
        f"{expectation(3, Fraction(2, 3))}). It mixes graphs of different cost; with exactly m "
        f"edges n! C(n^2-n, m-n)/C(n^2, m) is right for {fixed} pairs (n, m).",
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


@question("stirling")
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
        judge(
            all(printed) and drops.holds,
            corrected=all(corrected) and identity.holds and drops.holds,
        ),
        table("ln(expectation / bound)", ["n", "k", "exact", "corrected", "as printed"], rows),
        finding=f"{sum(printed)} of 2 printed approximations and {sum(corrected)} of 2 corrected "
        f"ones come close. At n = 100, k = 5 the log of the ratio is {rows[0][2]:.2f}, by the "
        f"corrected formula {rows[0][3]:.2f} and as printed {rows[0][4]:.2f}. The expectation is "
        f"below the bound for {drops} pairs with k < n.",
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


@question("random-degrees")
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
        judge(close["k = 5"] and held["k = 5"] and growing, conditional=growing),
        curves("Probability of a degree within a quarter of k", "n", "probability", sizes, near),
        curves("Probability that no user is isolated", "n", "probability", sizes, safe),
        finding=f"At n = 10^8 a user's degree is within a quarter of k with probability "
        f"{near['k = 5'][-1]:.3f} for k = 5, {near['k = 2 ln n'][-1]:.3f} for k = 2 ln n and "
        f"{near['k = sqrt(n)'][-1]:.3f} for k = sqrt(n). That nobody is isolated has probability "
        f"{safe['k = 5'][0]:.2g} at n = 1000 and k = 5, {safe['k = 2 ln n'][-1]:.6f} at n = 10^8 "
        "and k = 2 ln n.",
    )
