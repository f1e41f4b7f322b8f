"""Plain values as bytes and back: numbers, text, arrays, and tuples of them. Nothing is executed.

Files with such bytes may come from anybody: what does not decode is refused, and what does is data
and never code. The same bytes name values: equal ones have equal fingerprints.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

__all__ = ["decode", "encode", "fingerprint", "is_a", "name_of", "returned_by"]

_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
_SIZE = struct.Struct("<Q")
_FLOAT = struct.Struct("<d")
_DEEPEST = 16  # tuples within tuples
_MOST_AXES = 8


def encode(value: object) -> bytes:
    """The value as bytes; tuples and lists, with names or not, become plain ones.

    Raises
    ------
    TypeError
        If it is, or holds, something that is no plain value.

    Examples
    --------
    >>> decode(encode((1, -(2**70), "a", None, [0.5, True])))
    (1, -1180591620717411303424, 'a', None, [0.5, True])
    >>> decode(encode(np.arange(3)))
    array([0, 1, 2])
    """
    parts: list[bytes] = []
    _write(value, parts, names=False)
    return b"".join(parts)


def fingerprint(value: object) -> bytes:
    """Sixteen bytes that name a value; also of fractions, dataclasses, and what has a ``digest``.

    Examples
    --------
    >>> fingerprint((1, "a")) == fingerprint((1, "a")) != fingerprint((1, "b"))
    True
    """
    parts: list[bytes] = []
    _write(value, parts, names=True)
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()


def name_of(function: Any) -> str:
    """Where a function or a class is found.

    Examples
    --------
    >>> name_of(fingerprint)
    'anonymatch.running.codec.fingerprint'
    """
    return f"{function.__module__}.{function.__qualname__}"


def decode(data: bytes) -> Any:
    """The value that :func:`encode` made bytes of.

    Raises
    ------
    ValueError
        If these are no such bytes.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.position != len(data):
        raise ValueError("bytes are left over")
    return value


# ---- types


def is_a(value: object, kind: Any) -> bool:
    """Whether a plain value is of a type: as it is decoded, where tuples have lost their names.

    Arrays of objects are of whole numbers; the shapes of arrays are not looked at.

    Examples
    --------
    >>> is_a((1, [0.5]), tuple[int, list[float] | None]), is_a((1, "a"), tuple[int, int])
    (True, False)
    >>> is_a(np.arange(3), npt.NDArray[np.int64]), is_a(np.arange(3), npt.NDArray[np.float64])
    (True, False)
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(is_a(value, one) for one in arguments)
    if kind is float:  # a whole number is one too, unless it is beyond them
        return type(value) is float or (type(value) is int and value.bit_length() <= 1023)
    if kind in (bool, int, str, bytes, NoneType):
        return type(value) is kind
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _holds(value, get_args(arguments[1])[0])
    if origin is list:
        return isinstance(value, list) and all(is_a(item, arguments[0]) for item in value)
    if origin is tuple:
        return _is_tuple(value, arguments)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _is_tuple(value, tuple(get_type_hints(kind)[name] for name in kind._fields))
    raise TypeError(f"{kind} is no type of plain values")


def _is_tuple(value: object, kinds: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return all(is_a(item, kinds[0]) for item in value)
    return len(value) == len(kinds) and all(map(is_a, value, kinds))


def _holds(array: npt.NDArray[Any], entry: Any) -> bool:
    if entry is Any:
        return True
    if array.dtype != entry:
        return False
    return array.dtype != object or all(type(item) is int for item in array.flat)


@cache
def returned_by(function: Callable[..., Any]) -> Any:
    """The type that a function says it returns: any, if it says nothing."""
    return get_type_hints(function).get("return", Any)


# ---- writing


def _write(value: Any, parts: list[bytes], *, names: bool) -> None:
    if value is None:
        parts.append(b"N")
    elif isinstance(value, bool | np.bool_):
        parts.append(b"T" if value else b"F")
    elif isinstance(value, int | np.integer):
        number = int(value)
        _sized(b"i", number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True), parts)
    elif isinstance(value, float | np.floating):
        parts += b"f", _FLOAT.pack(value)
    elif isinstance(value, str):
        _sized(b"s", value.encode("utf-8", "surrogatepass"), parts)
    elif isinstance(value, bytes):
        _sized(b"b", value, parts)
    elif isinstance(value, tuple | list):
        parts += b"t" if isinstance(value, tuple) else b"l", _SIZE.pack(len(value))
        for item in value:
            _write(item, parts, names=names)
    elif isinstance(value, np.ndarray):
        _write_array(value, parts, names=names)
    elif names:
        _write_name(value, parts)
    else:
        raise TypeError(f"{type(value).__name__} is no plain value")


def _sized(tag: bytes, data: bytes, parts: list[bytes]) -> None:
    parts += tag, _SIZE.pack(len(data)), data


def _write_array(array: npt.NDArray[Any], parts: list[bytes], *, names: bool) -> None:
    shape = tuple(array.shape)
    if array.dtype == object:
        items = array.reshape(-1).tolist()
        if all(type(item) is int for item in items):
            # All in the width of the largest: far quicker than one by one.
            width = max((item.bit_length() for item in items), default=0) // 8 + 1
            raw = b"".join([item.to_bytes(width, "little", signed=True) for item in items])
            parts.append(b"I")
            _write((shape, width, raw), parts, names=False)
        else:
            parts.append(b"O")
            _write((shape, items), parts, names=names)
        return
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if plain.dtype.str not in _DTYPES:
        raise TypeError(f"an array of {array.dtype} is no plain value")
    parts.append(b"a")
    _write((plain.dtype.str, shape, plain.tobytes()), parts, names=False)


def _write_name(value: Any, parts: list[bytes]) -> None:
    """Of values that are named and not stored: never read back."""
    digest = getattr(value, "digest", None)
    if isinstance(digest, bytes):
        _sized(b"h", digest, parts)
    elif isinstance(value, Fraction):
        parts.append(b"q")
        _write((value.numerator, value.denominator), parts, names=True)
    elif is_dataclass(value) and not isinstance(value, type):
        _sized(b"d", name_of(type(value)).encode(), parts)
        _write(tuple(getattr(value, field.name) for field in fields(value)), parts, names=True)
    else:
        raise TypeError(f"{type(value).__name__} has no fingerprint")


# ---- reading


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def value(self, depth: int) -> Any:
        tag = self._take(1)
        if tag in b"NTF":
            return {b"N": None, b"T": True, b"F": False}[tag]
        if tag == b"f":
            return _FLOAT.unpack(self._take(8))[0]
        if tag == b"i":
            return int.from_bytes(self._sized(), "little", signed=True)
        if tag == b"b":
            return self._sized()
        if tag == b"s":
            return self._sized().decode("utf-8", "surrogatepass")
        if depth == _DEEPEST:
            _refuse()
        if tag in b"tl":
            number = self._number()
            if number > len(self._data) - self.position:  # each takes a byte at least
                _refuse()
            items = [self.value(depth + 1) for _ in range(number)]
            return tuple(items) if tag == b"t" else items
        return self._array(tag, self.value(depth + 1))

    def _array(self, tag: bytes, parts: Any) -> npt.NDArray[Any]:
        if tag not in _ARRAYS or not isinstance(parts, tuple):
            _refuse()
        try:
            return _ARRAYS[tag](*parts)
        except TypeError:  # other parts than it has
            _refuse()

    def _take(self, number: int) -> bytes:
        taken = self._data[self.position : self.position + number]
        if len(taken) != number:
            _refuse()
        self.position += number
        return taken

    def _number(self) -> int:
        return int(_SIZE.unpack(self._take(8))[0])

    def _sized(self) -> bytes:
        return self._take(self._number())


def _cells(shape: Any) -> int:
    sizes_fit = isinstance(shape, tuple) and len(shape) <= _MOST_AXES
    if not (sizes_fit and all(type(size) is int and size >= 0 for size in shape)):
        _refuse()
    return math.prod(shape)


def _numbers(kind: Any, shape: Any, raw: Any) -> npt.NDArray[Any]:
    if kind not in _DTYPES or len(raw) != _cells(shape) * np.dtype(kind).itemsize:
        _refuse()
    return np.frombuffer(raw, dtype=kind).reshape(shape).copy()


def _integers(shape: Any, width: Any, raw: Any) -> npt.NDArray[Any]:
    if width < 1 or len(raw) != _cells(shape) * width:
        _refuse()
    starts = range(0, len(raw), width)
    return _objects(
        shape, [int.from_bytes(raw[k : k + width], "little", signed=True) for k in starts]
    )


def _objects(shape: Any, items: Any) -> npt.NDArray[Any]:
    if not isinstance(items, list) or len(items) != _cells(shape):
        _refuse()
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def _refuse() -> NoReturn:
    raise ValueError("no plain value")


_ARRAYS: dict[bytes, Callable[..., npt.NDArray[Any]]] = {
    b"a": _numbers,
    b"I": _integers,
    b"O": _objects,
}
