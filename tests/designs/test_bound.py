"""Lemma equity: the largest bound, its degrees, its floor, and when it is attained."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given as given_values
from hypothesis import strategies as st
from tests.designs.facts import TABLE, facts

import anonymatch as am
from anonymatch.theory.designs import equity, max_bound


@facts("equity_bound")
def test_bound(given: dict[str, int], expected: dict[str, object]) -> None:
    result = equity(given["n"], given["m"])

    assert result.log == pytest.approx(float(str(expected["ln"])), rel=1e-15)
    assert str(result.floor) == expected["floor"]
    assert [list(pair) for pair in result.degrees] == expected["degrees"]


@facts("equity_bound_ln_huge")
def test_huge_bound(given: dict[str, str], expected: dict[str, str]) -> None:
    assert max_bound(int(given["n"]), int(given["m"])) == pytest.approx(
        float(expected["ln"]), rel=1e-15
    )


def precise_bound(n: int, m: int) -> Decimal:
    """The same by Stirling's series with 50 digits, for k of at least 1000."""

    def log_factorial(k: int) -> Decimal:
        x = Decimal(k)
        pi = Decimal("3.14159265358979323846264338327950288419716939937511")
        series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
        return x * x.ln() - x + (2 * pi * x).ln() / 2 + series

    k, r = divmod(m, n)
    with localcontext(prec=50):
        return (n - r) * log_factorial(k) / k + r * log_factorial(k + 1) / (k + 1)


@pytest.mark.parametrize(
    ("n", "m"), [(10**9, 10**12 + 7), (10**9, 10**18 // 3), (10**6, 10**10 + 999_999)]
)
def test_twelve_digits_and_more_at_a_billion_users(n: int, m: int) -> None:
    assert max_bound(n, m) == pytest.approx(float(precise_bound(n, m)), rel=1e-14)


@given_values(st.integers(1, 30), st.data())
def test_floor_is_exact(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(n, n * n))
    k, r = divmod(m, n)
    floor = equity(n, m).floor
    power = math.factorial(k) ** ((n - r) * (k + 1)) * math.factorial(k + 1) ** (r * k)

    assert floor is not None
    assert floor ** (k * (k + 1)) <= power < (floor + 1) ** (k * (k + 1))


@given_values(st.integers(1, 40), st.data())
def test_bound_is_the_largest_over_degrees(n: int, data: st.DataObject) -> None:
    degrees = data.draw(st.lists(st.integers(1, n), min_size=n, max_size=n))

    assert am.bregman(degrees) <= max_bound(n, sum(degrees)) * (1 + 1e-14) + 1e-14


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['n']}-{row['m']}")
def test_it_is_attained_exactly_where_it_says(row: dict[str, int]) -> None:
    """A count that equals the bound is the whole number that its root is."""
    n, m, best = row["n"], row["m"], row["true_max"]
    result = equity(n, m)
    k, r = divmod(m, n)
    power = math.factorial(k) ** ((n - r) * (k + 1)) * math.factorial(k + 1) ** (r * k)

    assert result.floor == row["floor_bound"]
    assert result.attained == (best ** (k * (k + 1)) == power)
    if result.partition is not None:
        sizes = [size for size, number in result.partition for _ in range(number)]
        assert sum(sizes) == n
        assert sum(size * size for size in sizes) == m
        assert math.prod(map(math.factorial, sizes)) == best


def test_floor_of_something_long_is_left_out() -> None:
    assert equity(10**6, 10**7 + 1).floor is None


@pytest.mark.parametrize(
    ("n", "m", "words"),
    [
        (4, 3, "3 edges are too few for 4 users; give 4 to 16"),
        (4, 17, "17 edges are too many for 4 users; give 4 to 16"),
        (0, 0, "users must be a whole number from 1, not 0"),
        (2.0, 3, "users must be a whole number from 1, not 2.0"),
        (2, True, "edges must be a whole number from 0, not True"),
    ],
)
def test_refusals(n: int, m: int, words: str) -> None:
    with pytest.raises(am.InputError) as error:
        max_bound(n, m)

    assert str(error.value) == words
