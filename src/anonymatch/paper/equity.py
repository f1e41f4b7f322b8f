"""Section 3.1: degrees that make Brègman's bound largest, and the formulas around them."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from anonymatch.designs import equity, equity_increment
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import table
from anonymatch.paper.exact_comparisons import (
    DIGITS,
    balanced,
    bound_power,
    compare,
    degree_sequences,
    log_factorial_digits,
    precise,
)
from anonymatch.paper.question import Finding, judge, question, trial

__all__ = ["QUESTIONS"]

_USERS = 7  # for whom all lists of degrees are tried
_LAST = 5000  # degree up to which the sign of the increment is computed


# ---- two sizes of complete parts


def two_sizes(n: int, k: int, d: int) -> bool:
    """Whether d parts of k or k + 1 users have n users together, by trying all numbers of each."""
    return any((k + 1) * larger + k * (d - larger) == n for larger in range(d + 1))


@question(
    "two-sizes",
    13,
    section="Section 3, second paragraph",
    title="Components of sizes $k$ and $k+1$",
    kind="text",
    statement="If $n = kd + b$ with $b < d$, every user can be part of a complete component of "
    "size $k$ "
    "or $k+1$, and the bound is attained.",
)
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
        verdict=judge(strict.holds and attained.holds, corrected=weak.holds and attained.holds),
        corrected=r"$b \le d$ is enough ($b = d$: all components have $k+1$ users); the edges are "
        "$kn + (k+1)b$.",
        brief=r"$b \le d$ is enough",
        finding=f"b < d says when such parts exist in {strict} cases, b <= d in {weak}; for "
        f"example "
        f"(n, k, d) = {missed}. With kn + (k + 1)b edges the bound is attained in {attained} cases "
        "in which they exist.",
        searched="all n up to 30, all k and d",
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


@question(
    "lemma-equity",
    15,
    section="Section 3.1, Lemma 3",
    title="Degrees within one of each other maximise the bound",
    kind="lemma",
    statement="The product of $(d_i!)^{1/d_i}$ over $n$ degrees of a given sum is largest when "
    "any two "
    "degrees are within one of each other.",
    seconds=0.1,
)
def lemma_equity(run: ClaimContext) -> Finding:
    """All lists of degrees of up to seven users, compared exactly."""
    lists = [
        degrees
        for n in range(1, _USERS + 1)
        for m in range(n, n * n + 1)
        for degrees in degree_sequences(n, m, n)
    ]
    positive = trial(((degrees,) for degrees in lists), not_larger)
    with_zero = sum(
        1
        for n in range(1, _USERS + 1)
        for m in range(n * n + 1)
        for degrees in degree_sequences(n, m, n, least=0)
        if 0 in degrees
    )
    return Finding(
        verdict=judge(positive.holds and not with_zero, conditional=positive.holds),
        corrected="Every degree must be at least 1; a user without an edge makes the product "
        "meaningless.",
        brief="if every user has an edge",
        finding=f"Equal degrees are best for {positive} lists of positive degrees; {with_zero} "
        f"lists "
        "have a zero, for which the product is not defined.",
        searched=f"all lists of degrees of up to {_USERS} users, in whole numbers; that the "
        "increments fall (equity-difference) proves it for all",
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
    return abs(precise(formula, a) - precise(truth, a)) < Decimal(10) ** (10 - DIGITS)


@question(
    "equity-difference",
    16,
    section="Section 3.1, proof of Lemma 3",
    title=r"The difference of $\ln f$",
    kind="formula",
    statement=r"$\ln f(a+1) - \ln f(a) = \frac{2 \ln(a+1) - a \ln a}{(a+1)a(a-1)}$, so that $f$ "
    "falls "
    r"from $a = 3$ on.",
    seconds=0.1,
)
def equity_difference(run: ClaimContext) -> Finding:
    """Both numerators against the definition of f, to forty digits."""
    cases = [(a,) for a in range(2, 101)]
    paper, corrected = (
        trial(cases, lambda a, form=form: same_to_all_digits(form, true_difference, a))
        for form in (paper_difference, corrected_difference)
    )
    falls = trial(((a,) for a in range(2, _LAST + 1)), lambda a: equity_increment(a) < 0)
    rows = [
        [a, *(float(precise(form, a)) for form in (true_difference, paper_difference))]
        for a in (2, 3, 4, 5, 10, 100)
    ]
    return Finding(
        verdict=judge(paper.holds, corrected=corrected.holds and falls.holds),
        corrected=r"The numerator is $a(a-1) \ln(a+1) - a(a+1) \ln a + 2 \ln a!$, and it is "
        "negative for every $a$ from 2, so that degrees 1 and 3 are covered too.",
        brief=r"the numerator is $a(a-1) \ln(a+1) - a(a+1) \ln a + 2 \ln a!$",
        finding=f"The paper's formula is right for {paper} values of a (at a = 2 it gives "
        f"{rows[0][2]:+.4f} for {rows[0][1]:+.4f}), the corrected one for {corrected}; the "
        f"difference is negative for {falls} values up to {_LAST}.",
        searched=f"a = 2 to 100 to {DIGITS - 10} digits, the sign to {_LAST}",
        evidence=(table("The difference", ["a", "true", "as displayed"], rows),),
    )


# ---- misprints around the bound for m = kn


@question(
    "bound-exponent",
    17,
    section="Section 3.2, second paragraph",
    title="Exponents of the bound",
    kind="formula",
    statement="With $n = ak + b$, $(k!)^{n/k} = (k!)^b (k!)^{b/k}$.",
)
def bound_exponent(run: ClaimContext) -> Finding:
    """Both exponents, with everything raised to the power k."""
    cases = [(k, a, b) for k in range(2, 9) for a in range(1, 7) for b in range(k)]

    def equal(k: int, a: int, b: int, whole: int) -> bool:
        return bool(math.factorial(k) ** (a * k + b) == math.factorial(k) ** (whole * k + b))

    paper = trial(cases, lambda k, a, b: equal(k, a, b, b))
    corrected = trial(cases, lambda k, a, b: equal(k, a, b, a))
    same = sum(a == b for _, a, b in cases)
    return Finding(
        verdict=judge(paper.holds, corrected=corrected.holds),
        corrected="$(k!)^{n/k} = (k!)^a (k!)^{b/k}$",
        finding=f"With the exponent b it is right in {paper} cases ({same} have a = b), with a in "
        f"{corrected}.",
        searched="k = 2 to 8, a = 1 to 6, all b, in whole numbers",
    )


@question(
    "regular-degrees",
    18,
    section="Section 3.2, second paragraph",
    title="Which degrees maximise the bound",
    kind="text",
    statement="For $m = kn$, by the lemma on degrees, a 3-regular graph maximises the Brègman "
    "bound.",
)
def regular_degrees(run: ClaimContext) -> Finding:
    """The degrees with the largest bound for every n and k."""
    cases = [(n, k) for n in range(2, _USERS + 1) for k in range(1, n + 1)]

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
        verdict=judge(three.holds, corrected=regular.holds),
        corrected="By Lemma 3 (equity), a $k$-regular graph maximises the bound.",
        finding=f"Degrees of 3 are the only best ones for {three} pairs (n, k) ({thirds} have "
        f"k = 3), degrees of k for {regular}.",
        searched=f"all lists of degrees of up to {_USERS} users, in whole numbers",
    )


QUESTIONS = (two_sizes_claim, lemma_equity, equity_difference, bound_exponent, regular_degrees)
