"""Plain values as bytes: they come back as they were, and nothing else comes back at all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymatch.counting.blocks.block import Block
from anonymatch.running.codec import decode, encode, fingerprint, is_a

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=20)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
    max_leaves=12,
)
ARRAYS = [
    np.arange(6, dtype=dtype).reshape(2, 3)
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64)
] + [
    np.empty((0, 4), dtype=np.int32),
    np.array([True, False]),
    np.array([math.inf, -math.inf, -0.0]),
    np.arange(12).reshape(3, 4).T[::2],
    np.arange(3, dtype=">i4"),
    np.array([[1, -(2**200)], [0, 2**63]], dtype=object),
    np.array([None, "a"], dtype=object),
]


@settings(max_examples=50)
@given(VALUES)
def test_values_come_back(value: Any) -> None:
    back = decode(encode(value))

    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back(array: Any) -> None:
    back = decode(encode(array))

    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    assert back.tolist() == array.tolist()
    assert back.flags.writeable


def test_a_tuple_with_names_comes_back_without_them() -> None:
    class Point(NamedTuple):
        x: int
        y: Any

    x, y = decode(encode(Point(1, np.arange(2))))
    assert (x, y.tolist()) == (1, [0, 1])


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, {1}, Fraction(1, 2), 1j, np.array(["a"]), len, [len]]
)
def test_what_is_not_plain_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


class Pair(NamedTuple):
    total: int | None
    probabilities: npt.NDArray[np.float64]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, int, True),
        (True, int, False),
        (1.0, int, False),
        (1, float, True),
        (2**2000, float, False),
        (None, int | None, True),
        ("a", int | None, False),
        ([1, 2], list[int], True),
        ([1, None], list[int], False),
        ((1, 2, 3), tuple[int, ...], True),
        ((1,), tuple[int, int], False),
        (Pair(1, np.ones(2)), Pair, True),
        ((1, np.ones(2)), Pair, True),
        ((1.5, np.ones(2)), Pair, False),
        (np.ones(2), npt.NDArray[np.float64], True),
        (np.ones(2, np.float32), npt.NDArray[np.float64], False),
        (np.array([1, 2], object), npt.NDArray[np.object_], True),
        (np.array([1, "a"], object), npt.NDArray[np.object_], False),
        pytest.param(object(), Any, True, id="anything"),
    ],
    ids=repr,
)
def test_types_are_told_apart(value: object, kind: Any, *, expected: bool) -> None:
    assert is_a(value, kind) is expected


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    """A hostile file gets a ValueError and nothing else: no memory, no code, no other error."""
    try:
        value = decode(data)
    except ValueError:
        return
    assert decode(encode(value)) == value or value != value


@given(VALUES, st.data())
def test_damaged_bytes_are_a_value_or_refused(value: Any, draw: Any) -> None:
    data = bytearray(encode((value, np.arange(3), np.array([5], dtype=object))))
    position = draw.draw(st.integers(0, len(data) - 1))
    data[position] = draw.draw(st.integers(0, 255))
    for wrong in (bytes(data), bytes(data[:position])):
        try:
            decode(wrong)
        except ValueError:
            continue


def test_sizes_that_no_file_holds_are_refused_at_once() -> None:
    many = (2**60).to_bytes(8, "little")
    for wrong in (b"t" + many, b"l" + many, b"s" + many, b"i" + many, b"t" + b"\x01" * 400):
        with pytest.raises(ValueError, match="no plain value"):
            decode(wrong)
    deep = b"".join(b"l" + (1).to_bytes(8, "little") for _ in range(5000)) + b"N"
    with pytest.raises(ValueError, match="no plain value"):
        decode(deep)
    shape = encode(("<i8", (2**40, 2**40), b""))
    with pytest.raises(ValueError, match="no plain value"):
        decode(b"a" + shape)


def test_fingerprints_tell_values_apart() -> None:
    rows = np.arange(4, dtype=np.int32)
    block = Block(3, 3, rows, rows[:3])
    values: list[Any] = [
        1, 1.0, True, "1", b"1", (1,), [1], None, (), ((1,), 2), (1, (2,)), np.array([1]),
        np.array([1.0]), np.array([[1]]), np.array([1], dtype=object), block,
        Block(3, 4, rows, rows[:3]), Block(3, 3, rows, rows[:3], np.ones(3)),
    ]  # fmt: skip

    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint(block) == fingerprint(Block(3, 3, rows.copy(), rows[:3].copy()))
