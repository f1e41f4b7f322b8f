"""Large exact integers: balanced products, and polynomials packed into one integer.

A polynomial with non-negative coefficients below 2^(8 width) is packed as its value at
2^(8 width) (Kronecker substitution): one addition, shift or product of Python integers then does
the same to the polynomials.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

LN2 = math.log(2.0)


def product(values: Sequence[int]) -> int:
    """Product by halves, so that the large multiplications are between equals.

    Examples
    --------
    >>> product([2, 3, 7]), product([])
    (42, 1)
    """
    if len(values) <= 16:
        result = 1
        for value in values:
            result *= value
        return result
    middle = len(values) // 2
    return product(values[:middle]) * product(values[middle:])


def pack(coefficients: Sequence[int], width: int) -> int:
    """Value of the polynomial at 2^(8 width); every coefficient must lie in [0, 2^(8 width))."""
    return int.from_bytes(b"".join(c.to_bytes(width, "little") for c in coefficients), "little")


def unpack(packed: int, width: int) -> list[int]:
    """Coefficients of a packed polynomial, without leading zeros."""
    length = -(-packed.bit_length() // (8 * width))
    raw = packed.to_bytes(length * width, "little")
    return [int.from_bytes(raw[k : k + width], "little") for k in range(0, len(raw), width)]


def width_of(bound: int) -> int:
    """Bytes that hold every integer from 0 to ``bound``."""
    return max(1, -(-bound.bit_length() // 8))


def multiply(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Product of two polynomials with non-negative coefficients.

    Examples
    --------
    >>> multiply([1, 1], [1, 2])
    [1, 3, 2]
    """
    width = width_of(sum(left) * sum(right))  # no coefficient exceeds the product at 1
    return unpack(pack(left, width) * pack(right, width), width)


def multiply_all(polynomials: Sequence[Sequence[int]]) -> list[int]:
    """Product of polynomials with non-negative coefficients, by halves."""
    if len(polynomials) <= 1:
        return list(polynomials[0]) if polynomials else [1]
    middle = len(polynomials) // 2
    return multiply(multiply_all(polynomials[:middle]), multiply_all(polynomials[middle:]))


def power(polynomial: Sequence[int], exponent: int) -> list[int]:
    """Power of a polynomial whose constant coefficient is 1.

    From f (f^m)' = m f' f^m, comparing coefficients (J. C. P. Miller's recurrence): linear in the
    length of the result for a fixed polynomial, and every division is exact.
    """
    if exponent == 1:
        return list(polynomial)
    degree = len(polynomial) - 1
    result = [1]
    for n in range(1, degree * exponent + 1):
        terms = range(1, min(n, degree) + 1)
        total = sum((k * (exponent + 1) - n) * polynomial[k] * result[n - k] for k in terms)
        result.append(total // n)
    return result


def divide(polynomial: Sequence[int], divisor: Sequence[int]) -> list[int]:
    """Exact quotient by a divisor whose constant coefficient is 1."""
    quotient: list[int] = []
    tail = divisor[1:]
    for k in range(len(polynomial) - len(tail)):
        known = sum(tail[t] * quotient[k - 1 - t] for t in range(min(k, len(tail))))
        quotient.append(polynomial[k] - known)
    return quotient


Objects = npt.NDArray[np.object_]
Words = npt.NDArray[np.uint64]

_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide primality below 3.3e24
_SMALL = product([3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37])
_PRIME_BITS = 62  # every prime used is above 2^62


def words_for(bits: float) -> int:
    """Words whose moduli multiply to more than 2^bits."""
    return 1 + max(0, math.ceil((bits - 64) / _PRIME_BITS))


def primes(number: int) -> tuple[int, ...]:
    """The largest primes below 2^63, in falling order."""
    return primes_below(63, number)


def primes_below(bits: int, number: int) -> tuple[int, ...]:
    """The largest primes below 2^bits, in falling order; ``bits`` at most 64."""
    chosen = _falling_primes(bits)
    candidate = chosen[-1] - 2 if chosen else 2**bits - 1
    while len(chosen) < number:
        if math.gcd(candidate, _SMALL) in (1, candidate) and is_prime(candidate):
            chosen.append(candidate)
        candidate -= 2
    return tuple(chosen[:number])


@cache
def _falling_primes(bits: int) -> list[int]:
    """Those that were found so far; the list grows."""
    return []


def chinese(residues: Sequence[int], moduli: Sequence[int], coefficients: Sequence[int]) -> int:
    """The integer below the product of the moduli that has these residues.

    ``coefficients``: for each modulus the inverse, modulo it, of the product of the others.

    Examples
    --------
    >>> chinese([1, 2], [3, 5], [2, 2])
    7
    """
    parts = [r * c % m for r, c, m in zip(residues, coefficients, moduli, strict=True)]
    value, modulus = _joined(parts, moduli)
    return value % modulus


def _joined(parts: Sequence[int], moduli: Sequence[int]) -> tuple[int, int]:
    """The sum of every part times the other moduli, and the product of all moduli, by halves."""
    if len(parts) == 1:
        return parts[0], moduli[0]
    middle = len(parts) // 2
    left, below = _joined(parts[:middle], moduli[:middle])
    right, above = _joined(parts[middle:], moduli[middle:])
    return left * above + right * below, below * above


def residues(values: Objects, words: int) -> Words:
    """Residues of integers, value by value: ``words`` entries each."""
    moduli = (2**64, *primes(words - 1))
    return np.array([[value % m for m in moduli] for value in values], dtype=np.uint64).reshape(-1)


def combine(words: Words, number: int) -> list[int]:
    """Integers below the product of the moduli, from ``number`` words each (Chinese remainders)."""
    if number == 1:
        return [int(word) for word in words]
    weights, modulus = _weights(number)
    table: list[list[int]] = words.reshape(-1, number).tolist()
    return [_dot(row, weights) % modulus for row in table]


def _dot(left: list[int], right: tuple[int, ...]) -> int:
    return sum(map(int.__mul__, left, right))


@cache
def _weights(number: int) -> tuple[tuple[int, ...], int]:
    """Numbers that are 1 modulo one modulus and 0 modulo the others, and the product of all."""
    moduli = (2**64, *primes(number - 1))
    product = math.prod(moduli)
    return tuple(product // m * pow(product // m, -1, m) for m in moduli), product


def is_prime(n: int) -> bool:
    """Whether a number below 3.3e24 is prime (Miller and Rabin).

    Examples
    --------
    >>> [n for n in range(50) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    """
    if n < 2 or any(n % witness == 0 for witness in _WITNESSES):
        return n in _WITNESSES
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        x: Any = pow(witness, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True
