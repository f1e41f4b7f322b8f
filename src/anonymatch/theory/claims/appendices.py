"""The appendices: Schrijver's proof of Brègman's theorem line by line, and fixed points."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from anonymatch.counting import first_minors
from anonymatch.counting import matchings as listed
from anonymatch.graph import Graph
from anonymatch.theory.claims.asymptotics import tends_to
from anonymatch.theory.claims.named_graphs import Power, bound_power, compare
from anonymatch.theory.claims.question import ClaimContext, Finding, judge, question, table, trial
from anonymatch.theory.designs import avoiding_share_log


@dataclass(frozen=True)
class Proof:
    """What the proof speaks of, for one matrix: entries, row sums, minors and permutations."""

    rows: tuple[str, ...]
    sums: list[int]
    minors: list[list[int]]
    matchings: list[tuple[int, ...]]

    @classmethod
    def of(cls, rows: tuple[str, ...]) -> Proof:
        entries = [[int(bit) for bit in row] for row in rows]
        return cls(
            rows=rows,
            sums=[sum(row) for row in entries],
            minors=first_minors(entries).tolist(),
            matchings=list(listed(Graph.from_rows(rows))),
        )

    def has(self, i: int, k: int) -> bool:
        return self.rows[i][k] == "1"

    @property
    def users(self) -> range:
        return range(len(self.rows))


def proofs(run: ClaimContext) -> list[Proof]:
    """All matrices of up to four rows with a positive permanent."""
    return [
        Proof.of(survey.rows(index))
        for survey in map(run.survey, range(1, 5))
        for index in range(len(survey.keys))
        if survey.matchings[index]
    ]


# ---- the power-mean step


def power_mean(proof: Proof, i: int, everywhere: bool) -> bool:
    """Whether (S/r)^S <= product of p^p over the row's edges, in whole numbers.

    S sums the minors of the row over its edges, or over all columns.
    """
    on_edges = [p for k, p in enumerate(proof.minors[i]) if proof.has(i, k)]
    total = sum(proof.minors[i]) if everywhere else sum(on_edges)
    right: int = math.prod(p**p for p in on_edges)
    return bool(total**total <= proof.sums[i] ** total * right)


@question("appendix-power-mean")
def appendix_power_mean(run: ClaimContext) -> Finding:
    """The sum over all columns, and over those with an entry."""
    cases = [(proof, i) for proof in proofs(run) for i in proof.users]
    paper = trial(cases, lambda proof, i: power_mean(proof, i, True))
    corrected = trial(cases, lambda proof, i: power_mean(proof, i, False))
    first = Proof.of(("10", "11"))
    return Finding(
        judge(paper.holds, corrected=corrected.holds),
        finding=f"With sums over all columns it holds for {paper} rows, over those with an entry "
        f"for {corrected}. Smallest: the first row of 10/11 with minors {first.minors[0]} "
        f"{'passes' if power_mean(first, 0, True) else 'fails'} as printed.",
        counterexample=None if power_mean(first, 0, True) else first.rows,
    )


# ---- products over permutations


def by_entries(proof: Proof) -> int:
    """The product of per(A_ik)^per(A_ik) over all entries that are 1."""
    return math.prod(
        proof.minors[i][k] ** proof.minors[i][k]
        for i in proof.users
        for k in proof.users
        if proof.has(i, k)
    )


def by_permutations(proof: Proof, columns: Sequence[int] | None = None) -> int:
    """The product over rows i and permutations nu of the minor at row i and a column.

    The column is nu_i unless one is given for each row.
    """
    return math.prod(
        proof.minors[i][nu[i] if columns is None else columns[i]]
        for i in proof.users
        for nu in proof.matchings
    )


@question("appendix-product")
def appendix_product(run: ClaimContext) -> Finding:
    """On the right k has no meaning: try every fixed column, and the column of the permutation."""
    cases = [(proof,) for proof in proofs(run)]
    paper = trial(
        cases,
        lambda proof: any(
            by_entries(proof) == by_permutations(proof, [k] * len(proof.rows)) for k in proof.users
        ),
    )
    corrected = trial(cases, lambda proof: by_entries(proof) == by_permutations(proof))
    return Finding(
        judge(paper.holds, corrected=corrected.holds),
        finding=f"With the column nu_i both are equal for {corrected} matrices; with any one "
        f"column k, the best for each matrix, for {paper}.",
        counterexample=paper.failed[0][0].rows if paper.failed else None,
    )


# ---- the inductive step


def inductive_bound(proof: Proof, i: int, nu: tuple[int, ...], same: bool) -> Power:
    """The bound of the minor at i, nu_i by induction; rows lose an entry where a_{j nu_i} = 1.

    ``same``: as printed, by a_{j nu_j} instead. That is always 1, and (0!)^(1/0) where r_j = 1.
    """
    return bound_power(
        proof.sums[j] - proof.has(j, nu[j] if same else nu[i]) for j in proof.users if j != i
    )


def induction_holds(proof: Proof, i: int, nu: tuple[int, ...], printed: bool) -> bool:
    """Whether the line is true; as printed its left side is the product over all nu."""
    try:
        bound = inductive_bound(proof, i, nu, printed)
    except ZeroDivisionError:
        return False
    left = (
        math.prod(proof.minors[i][other[i]] for other in proof.matchings)
        if printed
        else proof.minors[i][nu[i]]
    )
    return compare((left, 1), bound) <= 0


@question("appendix-induction")
def appendix_induction(run: ClaimContext) -> Finding:
    """Both lines for every row and permutation."""
    cases = [(proof, i, nu) for proof in proofs(run) for i in proof.users for nu in proof.matchings]
    paper = trial(cases, lambda proof, i, nu: induction_holds(proof, i, nu, printed=True))
    corrected = trial(cases, lambda proof, i, nu: induction_holds(proof, i, nu, printed=False))
    always = trial(cases, lambda proof, i, nu: proof.has(i, nu[i]))
    return Finding(
        judge(paper.holds, corrected=corrected.holds),
        finding=f"As printed it is true for {paper} rows and permutations (a_(j nu_j) is 1 for "
        f"{always}), corrected for {corrected}.",
        counterexample=paper.failed[0][0].rows if paper.failed else None,
    )


# ---- exponents


def collects(n: int, r: int, exponent: Fraction) -> bool:
    """Whether r!^((n-r)/r) (r-1)!^exponent = r!^(n/r) (r-1)!/r!, both to the power r."""
    power = exponent * r
    over = math.factorial(r - 1) ** int(abs(power))
    left = Fraction(math.factorial(r) ** (n - r)) * (over if power >= 0 else Fraction(1, over))
    return left == Fraction(math.factorial(r) ** n) / Fraction(r) ** r


@question("appendix-exponent")
def appendix_exponent(run: ClaimContext) -> Finding:
    """Both exponents and both denominators on numbers."""
    cases = [(n, r) for n in range(1, 9) for r in range(1, n + 1)]
    printed = trial(cases, lambda n, r: collects(n, r, Fraction(r - 1, r) - 1))
    corrected = trial(cases, lambda n, r: collects(n, r, Fraction(1)))
    pairs = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    # The factors in front, r_1 r_2, must cancel the denominators.
    denominator = trial(pairs, lambda a, b: Fraction(a * b, a * a) == 1)
    right_one = trial(pairs, lambda a, b: Fraction(a * b, a * b) == 1)
    return Finding(
        judge(printed.holds and denominator.holds, corrected=corrected.holds and right_one.holds),
        finding=f"The printed exponent is right for {printed} pairs (n, r), 1 for {corrected}; the "
        f"denominators cancel for {denominator} pairs (r_1, r_2) as printed and {right_one} with "
        "r_2.",
    )


# ---- Appendix II


def fixed_points(n: int) -> Counter[int]:
    """How many permutations of n things have so many fixed points.

    Examples
    --------
    >>> fixed_points(3)
    Counter({1: 3, 0: 2, 3: 1})
    """
    return Counter(sum(p[i] == i for i in range(n)) for p in permutations(range(n)))


def statements(n: int) -> Iterator[tuple[str, bool]]:
    """Every statement of the appendix for permutations of n things, n at least 2."""
    counts, all_of_them = fixed_points(n), math.factorial(n)
    yield "n fixed points: 1/n!", counts[n] == 1
    yield "n - 1 fixed points: impossible", counts[n - 1] == 0
    yield "n - 2 fixed points: C(n, 2)/n!", counts[n - 2] == math.comb(n, 2)
    starts = sum(p[0] == 0 for p in permutations(range(n)))
    yield "1 is a fixed point: 1/n", Fraction(starts, all_of_them) == Fraction(1, n)
    terms = [
        Fraction(sum(math.comb(x, j) * times for x, times in counts.items()), all_of_them)
        for j in range(1, n + 1)
    ]
    yield (
        "the j-th term is 1/j!",
        terms == [Fraction(1, math.factorial(j)) for j in range(1, n + 1)],
    )
    none = sum((Fraction((-1) ** j, math.factorial(j)) for j in range(2, n + 1)), Fraction(0))
    yield "no fixed points: 1/2! - 1/3! + ...", Fraction(counts[0], all_of_them) == none


@question("appendix-fixed-points")
def appendix_fixed_points(run: ClaimContext) -> Finding:
    """All permutations of up to seven things; the limit for large n."""
    cases = [(n, text, right) for n in range(2, 8) for text, right in statements(n)]
    right = trial(cases, lambda n, text, right: right)
    shares = [math.exp(avoiding_share_log(n, n)) for n in (2, 4, 8, 16, 1000)]
    limit = tends_to(shares, math.exp(-1), 1e-12)
    return Finding(
        judge(right.holds and limit),
        table(
            "Permutations by number of fixed points",
            ["n", *range_names(8)],
            [[n, *(fixed_points(n)[x] for x in range(8))] for n in range(2, 8)],
        ),
        table(
            "Share without fixed points",
            ["n", "share"],
            zip((2, 4, 8, 16, 1000), shares, strict=True),
        ),
        finding=f"{right} statements are right for n = 2 to 7 (n - 2 fixed points need n >= 2); "
        f"without fixed points is a share of {shares[2]:.6f} at n = 8, and 1/e within "
        f"{abs(shares[3] - math.exp(-1)):.1g} at n = 16.",
    )


def range_names(end: int) -> list[str]:
    """Column names 0, 1, ..."""
    return [str(number) for number in range(end)]
