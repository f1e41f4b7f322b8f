"""Section 3.2: the graph H, its parts, and the edges that are left over."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from anonymatch.base.logarithms import phi_difference, psi
from anonymatch.counting import permanent
from anonymatch.designs import parameters
from anonymatch.graph import crown
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import table
from anonymatch.paper.exact_comparisons import balanced, bound_power, compare
from anonymatch.paper.named_graphs import PartitionGraph, matchings
from anonymatch.paper.question import Finding, judge, question, trial

__all__ = ["QUESTIONS"]


def series_of_crown(k: int) -> int:
    """(k+1)! (1/2! - 1/3! + ... + (-1)^(k+1)/(k+1)!), the paper's formula for G_k.

    Examples
    --------
    >>> [series_of_crown(k) for k in (1, 2, 3, 4)]
    [1, 2, 9, 44]
    """
    full = math.factorial(k + 1)
    return sum((-1) ** i * (full // math.factorial(i)) for i in range(2, k + 2))


@question(
    "complete-factor",
    19,
    section="Section 3.2, proof of Theorem 3",
    title="The factor of the complete components",
    kind="formula",
    statement=r"The $K_{k,k}$ components of $H$ contribute $(k!)^{b-a}$, so $\M(H) = (k!)^{b-a} "
    r"\M(G_k)^b$.",
    seconds=0.1,
)
def complete_factor(run: ClaimContext) -> Finding:
    """Both exponents against counts of the graph itself."""
    cases = [(k, a, b) for k in range(2, 5) for a in range(1, 4) for b in range(min(a + 1, k))]

    def right(k: int, a: int, b: int, exponent: int) -> bool:
        crowns = series_of_crown(k) ** b
        # A negative exponent is brought to the other side.
        number = matchings(PartitionGraph(a * k + b, (a * k + b) * k).graph)
        factor = math.factorial(k) ** abs(exponent)
        return bool(number * factor == crowns if exponent < 0 else number == factor * crowns)

    paper = trial(cases, lambda k, a, b: right(k, a, b, b - a))
    corrected = trial(cases, lambda k, a, b: right(k, a, b, a - b))
    same = sum(a == b for _, a, b in cases)
    return Finding(
        verdict=judge(paper.holds, corrected=corrected.holds),
        corrected=r"$(k!)^{a-b}$, as in the later formula for $\M(H)$",
        finding=f"The exponent b - a gives the count of H in {paper} cases ({same} have a = b), a "
        f"- "
        f"b in {corrected}.",
        searched="H counted for k = 2 to 4, a = 1 to 3, b <= a",
    )


@question(
    "construction-copies",
    20,
    section="Section 3.2, before Theorem 3",
    title="The components of $H$",
    kind="text",
    statement="For $m = kn$ and $n = ak + b$, $b < k$, $H$ has $a - b$ components $K_{k,k}$ and "
    "$b$ "
    "$k$-regular components of $k+1$ users a side.",
)
def construction_copies(run: ClaimContext) -> Finding:
    """For which n and k that many copies exist, with the right numbers of users and edges."""
    cases = [(n, k) for n in range(1, 61) for k in range(1, n + 1)]

    def fits(n: int, k: int) -> bool:
        a, b = divmod(n, k)
        users = (a - b) * k + b * (k + 1)
        edges = (a - b) * k * k + b * k * (k + 1)
        return a >= b and (users, edges) == (n, n * k)

    always = trial(cases, fits)
    enough = trial((case for case in cases if case[0] // case[1] >= case[0] % case[1]), fits)
    large = trial((case for case in cases if case[0] >= case[1] * (case[1] - 1)), fits)
    undefined = [case for case in always.failed if case[0] <= 10]
    return Finding(
        verdict=judge(always.holds, conditional=enough.holds and large.holds),
        corrected=r"$a \ge b$ is needed; $n \ge k(k-1)$ guarantees it.",
        brief=r"if $a \ge b$, which $n \ge k(k-1)$ guarantees",
        finding=f"The numbers of parts fit for {always} pairs (n, k), {enough} of those with a >= "
        f"b "
        f"and {large} of those with n >= k(k - 1). The smallest that do not: "
        f"{', '.join(map(str, undefined[:5]))}.",
        searched="all k <= n up to 60",
        evidence=(
            table(
                "Up to ten users for whom a < b",
                ["n", "k", "a", "b"],
                [[n, k, *divmod(n, k)] for n, k in undefined],
            ),
        ),
    )


@question(
    "crown-count",
    21,
    section="Section 3.2, proof of Theorem 3",
    title="The matchings of $G_k$",
    kind="formula",
    statement=r"A $k$-regular bipartite graph of $k+1$ users is necessarily $G_k$, and it has "
    "$(k+1)! "
    r"(1/2! - 1/3! + \dots + (-1)^{k+1}/(k+1)!)$ matchings.",
    seconds=0.05,
    needs="survey",
)
def crown_count(run: ClaimContext) -> Finding:
    """The only such graph among all small ones; the series against permanents."""

    def regular_classes(n: int) -> list[tuple[str, ...]]:
        survey = run.survey(n)
        rows = [survey.rows(k) for k in np.flatnonzero(survey.edges == n * (n - 1)).tolist()]
        return [
            bits
            for bits in rows
            if all(
                line.count("1") == n - 1 for line in (*bits, *map("".join, zip(*bits, strict=True)))
            )
        ]

    def only_crown(n: int) -> bool:
        classes = regular_classes(n)
        return len(classes) == 1 and sorted(classes[0]) == sorted(crown(n).to_rows())

    unique = trial(((n,) for n in range(2, run.largest + 1)), only_crown)
    counted = [
        (k, series_of_crown(k), permanent(crown(k + 1).to_scipy().toarray().astype(int)))
        for k in range(1, 12)
    ]
    right = trial(counted, lambda _, series, number: series == number)
    return Finding(
        verdict=judge(unique.holds and right.holds),
        corrected="it fails for some k",
        finding=f"G_k is the only such graph for {unique} sizes, and the series is its permanent "
        f"for "
        f"{right} values of k (k = 11: {counted[-1][2]}).",
        searched=f"all graphs of up to {run.largest} users; permanents by definition to k = 11",
        evidence=(table("Matchings of G_k", ["k", "series", "permanent"], counted),),
    )


# ---- edges left over in a crown


@question(
    "leftover-bound",
    25,
    section="Section 3.2, after Theorem 3",
    title="The bound with $r$ edges left over",
    kind="formula",
    statement="With $r$ more edges the bound of a component is $(k!)^{(k+1-r)/k} "
    "(k+1)!^{r/(k+1)} = "
    "k!^{1+1/k} k!^{-r/(k(k+1))} (k+1)^{r/(k+1)}$, and so grows by about "
    "$(e(k+1)/k)^{r/(k+1)}$.",
)
def leftover_bound(run: ClaimContext) -> Finding:
    """The identity in whole numbers; the approximation for large k."""
    cases = [(k, r) for k in range(1, 13) for r in range(k + 2)]

    def identity(k: int, r: int) -> bool:
        factorial = math.factorial(k)
        # Both sides to the power k (k + 1); the negative exponent is brought to the left.
        left = factorial ** ((k + 1 - r) * (k + 1)) * math.factorial(k + 1) ** (r * k)
        return bool(left * factorial**r == factorial ** ((k + 1) ** 2) * (k + 1) ** (r * k))

    def is_bound(k: int, r: int) -> bool:
        left = math.factorial(k) ** ((k + 1 - r) * (k + 1)) * math.factorial(k + 1) ** (r * k)
        bound = bound_power(balanced(k + 1, (k + 1) * k + r))
        return compare((left, k * (k + 1)), bound) == 0

    exact = trial(cases, lambda k, r: identity(k, r) and is_bound(k, r))
    sizes = [10, 100, 10_000, 1_000_000]

    def error(k: int, share: float) -> float:
        """Log of the approximation over the factor: the share times psi(k)."""
        factor = (phi_difference(k, k + 1)) * share * (k + 1)
        return share * (1 + math.log1p(1 / k)) - factor

    errors = {share: [error(k, share) for k in sizes] for share in (0.25, 0.5, 1.0)}
    shrinks = all(
        abs(later) < abs(earlier) / 2 and abs(row[-1]) < 1e-4
        for row in errors.values()
        for earlier, later in pairwise(row)
    )
    known = all(
        math.isclose(row[i], share * psi(sizes[i]), rel_tol=1e-3, abs_tol=1e-9)
        for share, row in errors.items()
        for i in range(1, len(sizes))
    )
    return Finding(
        verdict=judge(exact.holds and shrinks),
        corrected="the factor differs",
        finding=f"The identity is exact in {exact} cases. The log of the approximation is off by "
        f"{errors[0.5][1]:.2g} at k = 100 and {errors[0.5][-1]:.2g} at k = 10^6 with r = (k+1)/2"
        f"{', which is r/(k+1) psi(k)' if known else ''}. r is never defined: m = kn + r, and at "
        "most k + 1 per component.",
        searched="k = 1 to 12 and all r in whole numbers; k = 10 to 10^6 in logarithms",
        evidence=(
            table(
                "Error of the log of the approximation",
                ["k", *(f"r = {share:g} (k+1)" for share in errors)],
                [[k, *(row[i] for row in errors.values())] for i, k in enumerate(sizes)],
            ),
        ),
    )


# ---- edges left over between complete parts


@question(
    "spare-range",
    28,
    section="Section 3.2, last paragraph",
    title="How many edges can be left over",
    kind="text",
    statement="If $b = 0$ and $r$ is not 0, $m = ak^2 + r$ for some $r < k$.",
)
def spare_range(run: ClaimContext) -> Finding:
    """All m for which k divides n."""
    cases = [
        (n, m) for n in range(1, 31) for m in range(n, n * n + 1) if n % (m // n) == 0 and m % n
    ]
    below_k = trial(cases, lambda n, m: m % n < m // n)
    below_n = trial(cases, lambda n, m: m == (n // (m // n)) * (m // n) ** 2 + m % n and m % n < n)
    covered = trial(
        (case for case in cases if case[1] % case[0] < case[1] // case[0]),
        lambda n, m: parameters(n, m).case == "D",
    )
    first = below_k.failed[0] if below_k.failed else None
    return Finding(
        verdict=judge(below_k.holds, conditional=below_n.holds and covered.holds),
        corrected="$r$ goes up to $n - 1 = ak - 1$; $r < k$ is a condition on $m$.",
        brief="if $m$ is such that $r < k$; in general $r$ goes up to $n-1$",
        finding=f"r < k for {below_k} pairs (n, m) with k | n and r > 0, r < n for {below_n}. The "
        f"smallest pair beyond it is (n, m) = {first}.",
        searched="all n up to 30 and all m",
    )


@question(
    "spare-bound",
    29,
    section="Section 3.2, last display",
    title="The bound with these edges",
    kind="formula",
    statement="For $b = 0$ the bound with the $r$ more edges is $(k+1)!^{b/(k+1)} k!^{a-r/k}$, "
    "about "
    "$k!^a ((k+1)/k)^r$.",
)
def spare_bound(run: ClaimContext) -> Finding:
    """Both exponents against the bound, in whole numbers; the approximation for large k."""
    cases = [(k, a, r) for k in range(2, 7) for a in range(1, 5) for r in range(1, a * k)]

    def right(k: int, a: int, r: int, exponent: int) -> bool:
        top = math.factorial(k + 1) ** (exponent * k)
        value = top * math.factorial(k) ** ((a * k - r) * (k + 1))
        degrees = [k + 1] * r + [k] * (a * k - r)
        return compare((value, k * (k + 1)), bound_power(degrees)) == 0

    paper = trial(cases, lambda k, a, r: right(k, a, r, 0))
    corrected = trial(cases, lambda k, a, r: right(k, a, r, r))
    # ln of the bound over k!^a ((k+1)/k)^r, with the largest r < k
    errors = [
        (k, (k - 1) * (phi_difference(k, k + 1) - math.log1p(1 / k))) for k in (10, 10**3, 10**6)
    ]
    near = abs(errors[-1][1]) < 1e-4
    return Finding(
        verdict=judge(paper.holds, corrected=corrected.holds and near),
        corrected="$(k+1)!^{r/(k+1)} k!^{a-r/k}$",
        finding=f"With the exponent b = 0 it is the bound in {paper} cases, with r in {corrected}. "
        f"The log of the approximation is off by {errors[-1][1]:.1g} at k = 10^6.",
        searched="k = 2 to 6, a = 1 to 4, all r < ak, in whole numbers",
        evidence=(
            table("Error of the log of the approximation at r = k - 1", ["k", "error"], errors),
        ),
    )


QUESTIONS = (
    complete_factor,
    construction_copies,
    crown_count,
    leftover_bound,
    spare_range,
    spare_bound,
)
