"""Exact integers from residues: how many words a count needs, and the way back.

Kernels add and multiply modulo 2^64 (word 0) and modulo primes just below 2^63 (the other words),
and never divide. A bound on the count, proven beforehand, tells how many words determine it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["combine", "primes", "residues", "words_for"]

Objects = npt.NDArray[np.object_]
Words = npt.NDArray[np.uint64]

_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide primality below 3.3e24
_PRIME_BITS = 62  # every prime used is above 2^62


def words_for(bits: float) -> int:
    """Words whose moduli multiply to more than 2^bits.

    Examples
    --------
    >>> words_for(64), words_for(64.1), words_for(127)
    (1, 2, 3)
    """
    return 1 + max(0, math.ceil((bits - 64) / _PRIME_BITS))


@cache
def primes(number: int) -> tuple[int, ...]:
    """The largest primes below 2^63, in falling order."""
    found: list[int] = []
    candidate = 2**63 - 1
    while len(found) < number:
        if _is_prime(candidate):
            found.append(candidate)
        candidate -= 2
    return tuple(found)


def residues(values: Objects, words: int) -> Words:
    """Residues of integers, value by value: ``words`` entries each."""
    moduli = (2**64, *primes(words - 1))
    return np.array([[value % m for m in moduli] for value in values], dtype=np.uint64).reshape(-1)


def combine(words: Words, number: int) -> list[int]:
    """Integers below the product of the moduli, from ``number`` words each (Chinese remainders).

    Examples
    --------
    >>> combine(residues(np.array([10**25], dtype=object), 2), 2)
    [10000000000000000000000000]
    """
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


def _is_prime(n: int) -> bool:
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
