"""Section 3.2: what becomes of crowns, and of H against the bound, as k grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations

from anonymatch.base.logarithms import phi_difference
from anonymatch.designs import (
    avoiding_share_log,
    limit_ratio,
    max_bound,
    restricted_permutations,
    restricted_permutations_log,
)
from anonymatch.paper.construction import series_of_crown
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import curves, table
from anonymatch.paper.exact_comparisons import reciprocal_of_e
from anonymatch.paper.question import Finding, judge, question, trial

__all__ = ["QUESTIONS"]

_SIZES = [10, 30, 100, 300, 10**3, 10**4, 10**5, 10**6, 10**8, 10**10, 10**12]
_CLOSE = 1e-3

FAMILIES: dict[str, Callable[[int], int]] = {
    "b = 1": lambda k: 1,
    "b = 5": lambda k: 5,
    "b = sqrt(k)": math.isqrt,
    "b = k / ln k": lambda k: int(k / math.log(k)),
    "b = k / 2": lambda k: k // 2,
    "b = k - 1": lambda k: k - 1,
}


def tends_to(values: Sequence[float], limit: float, close: float = _CLOSE) -> bool:
    """Whether values come closer to a limit at each step, and close in the end.

    Examples
    --------
    >>> tends_to([1.1, 1.01, 1.0001], 1), tends_to([1.1, 1.01, 1.02], 1)
    (True, False)
    """
    distances = [abs(value - limit) for value in values]
    return distances[-1] < close and all(b <= a for a, b in pairwise(distances))


@question(
    "crown-limit",
    22,
    section="Section 3.2, proof of Theorem 3",
    title=r"The limit of $\M(G_k)$",
    kind="formula",
    statement=r"The limit of $\M(G_k)$ as $k$ grows is $(k+1)!/e$.",
)
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
        verdict=judge(converges, corrected=rounded.holds and tends_to(ratios, 1.0, 1e-12)),
        corrected=r"$\lim \M(G_k) e/(k+1)! = 1$; indeed $\M(G_k)$ is the integer nearest to "
        "$(k+1)!/e$.",
        brief=r"$\lim \M(G_k) e/(k+1)! = 1$",
        finding=f"M(G_k) grows without limit ({counts[0]}, {counts[1]}, {counts[2]}, {counts[3]}, "
        f"...); its ratio to (k+1)!/e is {ratios[4]:.5f} at k = 5 and 1 within "
        f"{abs(1 - ratios[14]):.1g} at k = 15, and it is the nearest integer for {rounded} values "
        "of k.",
        searched="k = 1 to 40, with 1/e enclosed between two fractions",
        evidence=(
            curves(
                "M(G_k) e / (k+1)!",
                "k",
                "ratio",
                {"ratio": (list(sizes)[:12], ratios[:12])},
            ),
        ),
    )


def exact_ratio(k: int, a: int, b: int) -> float:
    """M(H) / (k!)^(n/k) from whole numbers: the k-th root of a fraction."""
    count = math.factorial(k) ** (a - b) * restricted_permutations(k + 1, k + 1) ** b
    return math.pow(Fraction(count**k, math.factorial(k) ** (a * k + b)), 1 / k)


def condition_met(k: int, b: int) -> bool:
    """Whether b ln k / k is small."""
    return b * math.log(k) / k < _CLOSE


@question(
    "theorem-limit",
    23,
    section="Section 3.2, Theorem 3",
    title="$H$ approaches the bound",
    kind="theorem",
    statement=r"If $H$ is $k$-regular with $n = ak + b$, $b < k$, of $b$ components of size "
    "$k+1$ and $a "
    r"- b$ of size $k$, then $\M(H) / (k!)^{n/k}$ tends to 1 as $k$ grows.",
)
def theorem_limit(run: ClaimContext) -> Finding:
    """The ratio for b that stay, grow slowly, or grow with k."""
    ratios = {
        name: [limit_ratio(k, min(b(k), k - 1)) for k in _SIZES] for name, b in FAMILIES.items()
    }
    to_one = {name: tends_to(values, 1.0) for name, values in ratios.items()}
    met = {name: condition_met(_SIZES[-1], b(_SIZES[-1])) for name, b in FAMILIES.items()}
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
        verdict=judge(
            sound and all(to_one.values()), conditional=sound and iff.holds and any(to_one.values())
        ),
        corrected=r"The limit is 1 if and only if $b \ln k / k \to 0$ ($b$ fixed is enough): the "
        r"log of the ratio is about $-b(\ln(2 \pi k)/2 - 1)/k$. For $b = k-1$ the ratio is about "
        r"$e/\sqrt{2 \pi k}$.",
        brief=r"if and only if $b \ln k / k \to 0$; a fixed $b$ is enough",
        finding=f"At k = 100 the ratio is {limit_ratio(100, 1):.3f} for b = 1, "
        f"{limit_ratio(100, 50):.3f} for b = k/2 and {limit_ratio(100, 99):.3f} for b = k - 1; at "
        f"k = 10^6 {limit_ratio(at, 1):.6f}, {limit_ratio(at, at // 2):.3f} and "
        f"{limit_ratio(at, at - 1):.4f}. It does not tend to 1 for {failing or 'none of these'}.",
        searched="k to 10^12 by a formula that agrees with whole numbers in "
        f"{agree} cases up to k = 12; what is said of the limit follows from Stirling's formula",
        evidence=(
            curves(
                "M(H) over the bound, by k and b",
                "k",
                "ratio",
                {
                    name: (_SIZES[:8], ratios[name][:8])
                    for name in ("b = 1", "b = k / 2", "b = k - 1")
                    if name in ratios
                },
            ),
            table(
                "The same ratio",
                ["b", *(f"k = {k}" for k in _SIZES), "tends to 1", "b ln k / k tends to 0"],
                [[name, *ratios[name], to_one[name], met[name]] for name in FAMILIES],
            ),
            table(
                "b = k - 1 against e / sqrt(2 pi k)",
                ["k", "ratio", "e / sqrt(2 pi k)"],
                [[k, limit_ratio(k, k - 1), math.e / math.sqrt(2 * math.pi * k)] for k in shown],
            ),
            table("Leading terms at k = 10^6", ["b = 1", "b = k - 1"], [[slope, last]]),
        ),
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


@question(
    "leftover-permutations",
    26,
    section="Section 3.2, after Theorem 3",
    title="The matchings with $r$ edges left over",
    kind="formula",
    statement=r"A random permutation of $[k+1]$ has no fixed point greater than $r$ with a "
    "probability "
    r"that is given by inclusion-exclusion and tends to $e^{-(1-\alpha)}$ for $r = "
    r"\alpha(k+1)$; so $r$ more edges multiply the matchings by $e^\alpha$.",
    seconds=0.1,
)
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
        verdict=judge(exact.holds and close),
        corrected="it fails for some k and r",
        finding=f"The terms and the probability are exact in {exact} cases. At k + 1 = 10^6 the "
        f"probability is "
        f"e^(-(1-alpha)) and the gain e^alpha up to a factor 1 {rows[-1][2] - 1:+.1g}. Matchings "
        "over the component's bound: "
        + ", ".join(f"{ratio:.3f} (k = {k}, r = {r})" for k, r, ratio in bounds)
        + ".",
        searched="all permutations of up to 7 things; k + 1 to 10^6 by the closed formula",
        evidence=(
            table(
                "Probability over e^(-(1-alpha)), and gain over e^alpha",
                ["alpha", "k + 1", "probability", "gain"],
                rows,
            ),
            table("Matchings over the bound of the component", ["k", "r", "ratio"], bounds),
        ),
    )


@question(
    "leftover-limit",
    27,
    section="Section 3.2, after Theorem 3",
    title="The limit of that factor",
    kind="formula",
    statement=r"The factor of the bound tends to $\lim (e/(k+1))^{r/(k+1)} = \lim "
    r"(e/(k+1))^\alpha$.",
)
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
        verdict=judge(
            tends_to(paper, 1.0), corrected=tends_to(corrected, 1.0) and tends_to(limit, 1.0)
        ),
        corrected=r"$(e(k+1)/k)^{r/(k+1)}$, which tends to $e^\alpha$",
        finding=f"At k = 10^6 and alpha = 1/2 the displayed form is {paper[-1]:.2g} of the factor, "
        f"the corrected one {corrected[-1]:.6f}; the factor is {limit[-1]:.6f} e^alpha.",
        searched="k = 10^2, 10^4 and 10^6, alpha = 1/2",
        evidence=(
            table(
                "Both forms over the factor by which the bound grows",
                ["k", "as displayed", "corrected"],
                zip(sizes, paper, corrected, strict=True),
            ),
        ),
    )


QUESTIONS = (crown_limit, theorem_limit, leftover_permutations, leftover_limit)
