"""Sections 3.1 and 3.2: degrees that make Brègman's bound largest, the graph H and its parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise

import numpy as np

from anonymatch.base.logarithms import phi_difference, psi
from anonymatch.counting import permanent
from anonymatch.graph import crown
from anonymatch.theory.claims.named_graphs import (
    PartitionGraph,
    balanced,
    bound_power,
    compare,
    degree_sequences,
    log_factorial_digits,
    matchings,
    precise,
)
from anonymatch.theory.claims.question import ClaimContext, Finding, judge, question, table, trial
from anonymatch.theory.claims.small_graphs import SEARCH
from anonymatch.theory.designs import equity, equity_increment, parameters

# ---- two sizes of complete parts


def two_sizes(n: int, k: int, d: int) -> bool:
    """Whether d parts of k or k + 1 users have n users together, by trying all numbers of each."""
    return any((k + 1) * larger + k * (d - larger) == n for larger in range(d + 1))


@question("two-sizes")
def two_sizes_claim(run: ClaimContext) -> Finding:
    """When d parts of the two sizes exist; their edges; whether they attain the bound."""
    cases = [(n, k, d) for n in range(1, 31) for k in range(1, n + 1) for d in range(1, n // k + 1)]
    strict, weak = (
        trial(cases, lambda n, k, d, limit=limit: two_sizes(n, k, d) == (n - k * d < d + limit))
        for limit in (0, 1)
    )
    fitting = [case for case in cases if two_sizes(*case)]

    def attains(n: int, k: int, d: int) -> bool:
        b = n - k * d
        edges = k * n + (k + 1) * b
        return edges == b * (k + 1) ** 2 + (d - b) * k**2 and equity(n, edges).attained

    attained = trial(fitting, attains)
    missed = strict.failed[0] if strict.failed else None
    return Finding(
        judge(strict.holds and attained.holds, corrected=weak.holds and attained.holds),
        finding=f"b < d says when such parts exist in {strict} cases, b <= d in {weak}; for "
        f"example (n, k, d) = {missed}. With kn + (k + 1)b edges the bound is attained in "
        f"{attained} cases in which they exist.",
    )


# ---- Lemma equity


def not_larger(degrees: tuple[int, ...]) -> bool:
    """Whether degrees as equal as possible give at least the bound of these, in whole numbers.

    Examples
    --------
    >>> not_larger((3, 1))
    True
    """
    return compare(bound_power(degrees), bound_power(balanced(len(degrees), sum(degrees)))) <= 0


@question("lemma-equity")
def lemma_equity(run: ClaimContext) -> Finding:
    """All lists of degrees of up to seven users, compared exactly."""
    lists = [
        degrees
        for n in range(1, SEARCH.listed_users + 1)
        for m in range(n, n * n + 1)
        for degrees in degree_sequences(n, m, n)
    ]
    positive = trial(((degrees,) for degrees in lists), not_larger)
    with_zero = sum(
        1
        for n in range(1, SEARCH.listed_users + 1)
        for m in range(n * n + 1)
        for degrees in degree_sequences(n, m, n, least=0)
        if 0 in degrees
    )
    return Finding(
        judge(positive.holds and not with_zero, conditional=positive.holds),
        finding=f"Equal degrees are best for {positive} lists of positive degrees; {with_zero} "
        "lists have a zero, for which the product is not defined.",
        searched=f"all lists of degrees of up to {SEARCH.listed_users} users, in whole numbers; "
        "that the increments fall (equity-difference) proves it for all",
    )


def _gain(a: Decimal) -> Decimal:
    """Log of f(a) as the paper defines it."""
    this, before = log_factorial_digits(int(a)), log_factorial_digits(int(a) - 1)
    return this / a - before / (a - 1)


def true_difference(a: Decimal) -> Decimal:
    """Its difference ln f(a + 1) - ln f(a) from the definition of f."""
    return _gain(a + 1) - _gain(a)


def paper_difference(a: Decimal) -> Decimal:
    """The same, as the paper displays it."""
    return (2 * (a + 1).ln() - a * a.ln()) / ((a + 1) * a * (a - 1))


def corrected_difference(a: Decimal) -> Decimal:
    """The same with the numerator that follows from the definition."""
    top = a * (a - 1) * (a + 1).ln() - a * (a + 1) * a.ln() + 2 * log_factorial_digits(int(a))
    return top / ((a + 1) * a * (a - 1))


def same_to_all_digits(
    formula: Callable[[Decimal], Decimal], truth: Callable[[Decimal], Decimal], a: int
) -> bool:
    """Whether two formulas agree to forty digits behind the point."""
    return abs(precise(formula, a) - precise(truth, a)) < Decimal(10) ** (10 - SEARCH.digits)


@question("equity-difference")
def equity_difference(run: ClaimContext) -> Finding:
    """Both numerators against the definition of f, to forty digits."""
    cases = [(a,) for a in range(2, 101)]
    paper, corrected = (
        trial(cases, lambda a, form=form: same_to_all_digits(form, true_difference, a))
        for form in (paper_difference, corrected_difference)
    )
    falls = trial(
        ((a,) for a in range(2, SEARCH.increments + 1)), lambda a: equity_increment(a) < 0
    )
    rows = [
        [a, *(float(precise(form, a)) for form in (true_difference, paper_difference))]
        for a in (2, 3, 4, 5, 10, 100)
    ]
    return Finding(
        judge(paper.holds, corrected=corrected.holds and falls.holds),
        table("The difference", ["a", "true", "as displayed"], rows),
        finding=f"The paper's formula is right for {paper} values of a (at a = 2 it gives "
        f"{rows[0][2]:+.4f} for {rows[0][1]:+.4f}), the corrected one for {corrected}; the "
        f"difference is negative for {falls} values up to {SEARCH.increments}.",
        searched=f"a = 2 to 100 to {SEARCH.digits - 10} digits, the sign to {SEARCH.increments}",
    )


# ---- misprints around the bound for m = kn


@question("bound-exponent")
def bound_exponent(run: ClaimContext) -> Finding:
    """Both exponents, with everything raised to the power k."""
    cases = [(k, a, b) for k in range(2, 9) for a in range(1, 7) for b in range(k)]

    def equal(k: int, a: int, b: int, whole: int) -> bool:
        return bool(math.factorial(k) ** (a * k + b) == math.factorial(k) ** (whole * k + b))

    paper = trial(cases, lambda k, a, b: equal(k, a, b, b))
    corrected = trial(cases, lambda k, a, b: equal(k, a, b, a))
    same = sum(a == b for _, a, b in cases)
    return Finding(
        judge(paper.holds, corrected=corrected.holds),
        finding=f"With the exponent b it is right in {paper} cases ({same} have a = b), with a in "
        f"{corrected}.",
    )


@question("regular-degrees")
def regular_degrees(run: ClaimContext) -> Finding:
    """The degrees with the largest bound for every n and k."""
    cases = [(n, k) for n in range(2, SEARCH.listed_users + 1) for k in range(1, n + 1)]

    def only_best(n: int, k: int, degree: int) -> bool:
        if degree * n != k * n:
            return False
        bound = bound_power([degree] * n)
        others = (d for d in degree_sequences(n, k * n, n) if d != (degree,) * n)
        return all(compare(bound_power(other), bound) < 0 for other in others)

    three = trial(cases, lambda n, k: only_best(n, k, 3))
    regular = trial(cases, lambda n, k: only_best(n, k, k))
    thirds = sum(k == 3 for _, k in cases)
    return Finding(
        judge(three.holds, corrected=regular.holds),
        finding=f"Degrees of 3 are the only best ones for {three} pairs (n, k) ({thirds} have "
        f"k = 3), degrees of k for {regular}.",
        searched=f"all lists of degrees of up to {SEARCH.listed_users} users, in whole numbers",
    )


def series_of_crown(k: int) -> int:
    """(k+1)! (1/2! - 1/3! + ... + (-1)^(k+1)/(k+1)!), the paper's formula for G_k.

    Examples
    --------
    >>> [series_of_crown(k) for k in (1, 2, 3, 4)]
    [1, 2, 9, 44]
    """
    full = math.factorial(k + 1)
    return sum((-1) ** i * (full // math.factorial(i)) for i in range(2, k + 2))


@question("complete-factor")
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
        judge(paper.holds, corrected=corrected.holds),
        finding=f"The exponent b - a gives the count of H in {paper} cases ({same} have a = b), a "
        f"- b in {corrected}.",
    )


@question("construction-copies")
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
        judge(always.holds, conditional=enough.holds and large.holds),
        table(
            "Up to ten users for whom a < b",
            ["n", "k", "a", "b"],
            [[n, k, *divmod(n, k)] for n, k in undefined],
        ),
        finding=f"The numbers of parts fit for {always} pairs (n, k), {enough} of those with a >= "
        f"b and {large} of those with n >= k(k - 1). The smallest that do not: "
        f"{', '.join(map(str, undefined[:5]))}.",
    )


@question("crown-count")
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
        judge(unique.holds and right.holds),
        table("Matchings of G_k", ["k", "series", "permanent"], counted),
        finding=f"G_k is the only such graph for {unique} sizes, and the series is its permanent "
        f"for {right} values of k (k = 11: {counted[-1][2]}).",
        searched=f"all graphs of up to {run.largest} users; permanents by definition to k = 11",
    )


# ---- edges left over in a crown


@question("leftover-bound")
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
        judge(exact.holds and shrinks),
        table(
            "Error of the log of the approximation",
            ["k", *(f"r = {share:g} (k+1)" for share in errors)],
            [[k, *(row[i] for row in errors.values())] for i, k in enumerate(sizes)],
        ),
        finding=f"The identity is exact in {exact} cases. The log of the approximation is off by "
        f"{errors[0.5][1]:.2g} at k = 100 and {errors[0.5][-1]:.2g} at k = 10^6 with r = (k+1)/2"
        f"{', which is r/(k+1) psi(k)' if known else ''}. r is never defined: m = kn + r, and at "
        "most k + 1 per component.",
    )


# ---- edges left over between complete parts


@question("spare-range")
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
        judge(below_k.holds, conditional=below_n.holds and covered.holds),
        finding=f"r < k for {below_k} pairs (n, m) with k | n and r > 0, r < n for {below_n}. The "
        f"smallest pair beyond it is (n, m) = {first}.",
    )


@question("spare-bound")
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
        judge(paper.holds, corrected=corrected.holds and near),
        table("Error of the log of the approximation at r = k - 1", ["k", "error"], errors),
        finding=f"With the exponent b = 0 it is the bound in {paper} cases, with r in {corrected}. "
        f"The log of the approximation is off by {errors[-1][1]:.1g} at k = 10^6.",
    )
