"""Closed formulas against known answers, definitions and exact logarithms."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import permutations

import pytest
from tests.designs.facts import facts
from tests.strategies import precise_log

import anonymatch as am
from anonymatch.base.logarithms import log_binomial, log_factorial, phi, phi_difference, psi
from anonymatch.theory.designs.formulas import (
    attack_component,
    avoiding_share_log,
    equity_gain,
    equity_increment,
    limit_ratio,
    linked_pair,
    restricted_permutations,
    restricted_permutations_log,
    steps_to_full_deanonymisation,
)


@facts("restricted_permutations")
def test_restricted_permutations(given: dict[str, int], expected: str) -> None:
    assert restricted_permutations(given["s"], given["forbidden"]) == int(expected)


@pytest.mark.parametrize("s", range(7))
def test_restricted_permutations_by_definition(s: int) -> None:
    for forbidden in range(s + 1):
        there = sum(
            all(order[i] != i for i in range(forbidden)) for order in permutations(range(s))
        )

        assert restricted_permutations(s, forbidden) == there


@facts("ln_restricted_permutations")
def test_logs_of_huge_restricted_permutations(
    given: dict[str, str], expected: dict[str, str]
) -> None:
    size, forbidden = int(given["s"]), int(given["forbidden"])

    assert restricted_permutations_log(size, forbidden) == pytest.approx(
        float(expected["ln"]), rel=1e-15
    )
    assert avoiding_share_log(size, forbidden) == pytest.approx(
        float(expected["ln_fraction_of_s_factorial"]), rel=1e-14
    )


@pytest.mark.parametrize(("size", "forbidden"), [(3, 3), (20, 7), (60, 60), (300, 1), (300, 299)])
def test_logs_agree_with_exact_integers(size: int, forbidden: int) -> None:
    share = Fraction(restricted_permutations(size, forbidden), math.factorial(size))

    assert avoiding_share_log(size, forbidden) == pytest.approx(
        float(precise_log(share)), rel=1e-14
    )


@facts("linked_pair")
def test_linked_pair(given: dict[str, int], expected: str) -> None:
    assert linked_pair(**given) == int(expected)


@facts("equity_increment")
def test_equity_increment(given: dict[str, int], expected: dict[str, str]) -> None:
    a = given["a"]

    assert equity_gain(a) == pytest.approx(float(expected["ln_f"]), rel=1e-14)
    assert equity_increment(a) == pytest.approx(float(expected["ln_f(a+1)-ln_f(a)"]), rel=1e-13)


def test_equal_degrees_are_best_for_every_degree() -> None:
    assert all(equity_increment(a) < 0 for a in [*range(2, 2000), 10**6, 10**12])


@facts("limit_ratio")
def test_limit_ratio(given: dict[str, int], expected: dict[str, str]) -> None:
    assert limit_ratio(**given) == pytest.approx(float(expected["ratio"]), rel=1e-13)


def test_limit_ratio_of_a_million_is_stable() -> None:
    """ln of the ratio of b crowns is about -b (ln(2 pi k)/2 - 1) / k."""
    k = 10**6
    each = math.log(limit_ratio(k, 1))

    assert each == pytest.approx(-(math.log(2 * math.pi * k) / 2 - 1) / k, rel=1e-5)
    assert math.log(limit_ratio(k, k // 2)) == pytest.approx(each * (k // 2), rel=1e-9)


# ---- attacks


@facts("attack_component")
def test_attack_component(given: dict[str, int], expected: dict[str, str | None]) -> None:
    result = attack_component(given["s"], given["forbidden"])

    for name in ("full_user", "constrained_user"):
        value = expected[name]
        assert getattr(result, name) == (None if value is None else Fraction(value))


@facts("steps_to_full_deanonymisation")
def test_steps_to_full_deanonymisation(given: dict[str, int], expected: str) -> None:
    assert steps_to_full_deanonymisation(given["s"], given["forbidden"]) == Fraction(expected)


@pytest.mark.parametrize("s", [3, 4])
def test_steps_by_trying_every_target(s: int) -> None:
    @cache
    def steps(matchings: frozenset[tuple[int, ...]]) -> Fraction:
        if len(matchings) == 1:
            return Fraction(0)
        return 1 + min(
            sum(
                (
                    Fraction(len(left), len(matchings)) * steps(frozenset(left))
                    for behaviour in range(s)
                    if (left := [order for order in matchings if order[user] == behaviour])
                ),
                Fraction(0),
            )
            for user in range(s)
            if len({order[user] for order in matchings}) > 1
        )

    for forbidden in range(s + 1):
        allowed = frozenset(
            order
            for order in permutations(range(s))
            if all(order[i] != i for i in range(forbidden))
        )

        assert steps_to_full_deanonymisation(s, forbidden) == steps(allowed)


# ---- logarithms


@pytest.mark.parametrize("k", [1, 2, 5, 29, 30, 31, 170, 171, 1000, 3000])
def test_logs_of_factorials(k: int) -> None:
    exact = precise_log(math.factorial(k))

    assert log_factorial(k) == pytest.approx(float(exact), rel=1e-15)
    assert phi(k) == pytest.approx(float(exact / k), rel=1e-15)
    assert psi(k) == pytest.approx(float(exact / k - precise_log(k) + 1), rel=1e-13)
    later = precise_log(math.factorial(k + 1)) / (k + 1) - exact / k
    assert phi_difference(k, k + 1) == pytest.approx(float(later), rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(10, 3), (500, 99), (500, 101), (5000, 2500), (5000, 4990)])
def test_logs_of_binomials(n: int, k: int) -> None:
    assert log_binomial(n, k) == pytest.approx(float(precise_log(math.comb(n, k))), rel=1e-14)


# ---- refusals


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: restricted_permutations(3, 4), "forbidden must be at most s = 3, not 4"),
        (lambda: restricted_permutations(-1, 0), "s must be a whole number from 0, not -1"),
        (lambda: restricted_permutations(True, 0), "s must be a whole number from 0, not True"),
        (lambda: linked_pair(3, 2, 3, 0), "links must be at most 2 each way, not 3"),
        (lambda: equity_increment(1), "a must be a whole number from 2, not 1"),
        (lambda: limit_ratio(3, 3), "b is what is left of the users after parts of k = 3, not 3"),
        (lambda: attack_component(1, 1), "a part of 1 with 1 forbidden has no matching to attack"),
        (
            lambda: steps_to_full_deanonymisation(1, 1),
            "a part of 1 with 1 forbidden has no matching to attack",
        ),
    ],
)
def test_refusals_say_what_is_wrong(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(am.InputError) as error:
        call()

    assert str(error.value) == words
