"""npz: the layout of scipy.sparse.save_npz, so that load_npz reads it too.

Names other than 0, 1, 2, ... are two further arrays, ``users`` and ``behaviours``: bytes (uint8) of
a JSON list. Arrays of text or whole numbers are read as names too. Pickled objects are refused.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.graph.edges import EdgeError
from anonymatch.graph.inputs import join
from anonymatch.graph.io.sides import check_sides, edge_notes, json_names, named
from anonymatch.graph.names import Names
from anonymatch.tabular import Source, check_memory, check_unfolded

if TYPE_CHECKING:
    from typing import BinaryIO

    from anonymatch.graph.edges import AnyArray
    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FORMATS = ("csr", "csc", "coo")
# As numpy writes it; a side may end in L, as Python 2 wrote whole numbers.
_HEADER = re.compile(
    rb"\{\s*'descr':\s*'(?P<descr>[<>|=]?[biufcSUO][0-9]{0,9})',\s*"
    rb"'fortran_order':\s*(?P<fortran>True|False),\s*"
    rb"'shape':\s*\((?P<shape>(?:\s*[0-9]{1,18}L?,)*(?:\s*[0-9]{1,18}L?)?)\s*\),?\s*\}\s*"
)
_SIDE = re.compile(rb"[0-9]+")
_BYTES_AN_ENTRY = 100  # the matrix in several forms and the sorts, at their peak
_DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OSError,
    MemoryError,
    NotImplementedError,
    RuntimeError,  # encrypted
    OverflowError,
    struct.error,
)


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    with source.path.open("rb") as file:
        if file.read(2) != b"PK":
            raise InputError("it is no npz file; give it the right suffix")
    try:
        arrays = _arrays(source)
        if "format" not in arrays:
            raise InputError("it has no array 'format'; write it with scipy.sparse.save_npz")
        layout = _word(arrays["format"])
        if layout not in _FORMATS:
            raise InputError(f"its format is {quoted(layout)}; save it as csr, csc or coo")
        shape = tuple(int(side) for side in arrays["shape"].ravel()[:3])
        if len(shape) != 2 or min(shape) < 0:
            raise InputError(f"its shape is {shape}; need users x behaviours")
        entries = arrays["data"].size
        check_sides((shape[0], shape[1]), entries)
        check_memory(
            entries * _BYTES_AN_ENTRY,
            f"a matrix of {several(entries, 'entry', 'entries')}",
            packed=source.path.stat().st_size,
        )
        coordinates = _coordinates(layout, (shape[0], shape[1]), arrays)
        users, behaviours = (
            _names(arrays.get(f"{noun}s"), size, noun)
            for noun, size in zip(("user", "behaviour"), shape, strict=True)
        )
    except InputError:
        raise
    except _DAMAGE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"the npz data is damaged or cut off ({reason})") from None
    try:
        parts = join(users, behaviours, coordinates.row, coordinates.col, coordinates.data)
    except EdgeError as error:
        raise InputError(str(error)) from None
    return parts, edge_notes(parts, "entry", "entries")


def _coordinates(layout: str, shape: tuple[int, int], arrays: dict[str, AnyArray]) -> Any:
    """The entries of the matrix, after its indices were found to be inside the shape."""
    import scipy.sparse as sparse

    names = ("row", "col") if layout == "coo" else ("indices", "indptr")
    for name in names:
        if arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1:
            raise InputError(
                f"array '{name}' is {arrays[name].dtype}; need a list of whole numbers"
            )
    data, first, second = (arrays[name] for name in ("data", *names))
    if layout == "coo":
        return sparse.coo_array((data, (first, second)), shape=shape)
    matrix = (sparse.csr_array if layout == "csr" else sparse.csc_array)(
        (data, first, second), shape=shape
    )
    matrix.check_format(full_check=True)
    return matrix.tocoo()


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write a CSR matrix (int8 ones for 0/1), and the names if they are not 0, 1, 2, ..."""
    if graph.rounded:
        raise InputError("npz cannot hold weights such as 1/3; write .csv, .json or .parquet")
    ones = np.ones(graph.n_edges, dtype=np.int8)
    arrays: dict[str, AnyArray] = {
        "format": np.array(b"csr"),
        "shape": np.array((graph.n_users, graph.n_behaviours), dtype=np.int64),
        "data": ones if graph.weights is None else graph.weights,
        "indices": graph.indices,
        "indptr": graph.indptr,
        "_is_array": np.array(True),
    }
    for noun, names in (("users", graph.users), ("behaviours", graph.behaviours)):
        if not isinstance(names, range):
            text = json_names(names, noun[:-1]).encode("utf-8")
            arrays[noun] = np.frombuffer(text, dtype=np.uint8)
    np.savez_compressed(stream, allow_pickle=False, **cast("dict[str, Any]", arrays))


def _arrays(source: Source) -> dict[str, AnyArray]:
    """Every array but the large ones' trust: headers are compared with what the file holds."""
    with zipfile.ZipFile(source.path) as archive:
        members = archive.infolist()
        if len(members) > 64:
            raise InputError(f"it has {len(members)} arrays; need those of one sparse matrix")
        if any(member.compress_type not in _PACKINGS for member in members):
            raise InputError("it is packed in a way that numpy does not use; save it again")
        packed = source.path.stat().st_size
        check_unfolded(sum(member.file_size for member in members), packed)
        return {
            member.filename.removesuffix(".npy"): _array(archive, member)
            for member in members
            if member.filename.endswith(".npy")
        }


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> AnyArray:
    """One array; its header is read here, because numpy's reader evaluates it as Python."""
    content = archive.read(member)
    name = quoted(member.filename)
    if content[:6] != b"\x93NUMPY" or len(content) < 12:
        raise InputError(f"array {name} is no array of numpy; save it again")
    begin = 10 if content[6] == 1 else 12
    end = begin + int.from_bytes(content[8:begin], "little")
    header = _HEADER.fullmatch(content[begin:end])
    if header is None:
        raise InputError(
            f"array {name} has the header {quoted(content[begin : min(end, begin + 60)])}, none of "
            "plain numbers or text; save it again"
        )
    kind = np.dtype(header["descr"].decode("ascii"))
    if kind.hasobject:
        raise InputError(
            f"array {name} holds pickled objects, which could run code; save plain numbers"
        )
    shape = tuple(int(side) for side in _SIDE.findall(header["shape"]))
    if kind.itemsize * math.prod(shape) > len(content) - end:
        raise InputError(f"array {name} declares {quoted(shape)}, more than the file has")
    flat = np.frombuffer(content, dtype=kind, count=math.prod(shape), offset=end)
    return flat.reshape(shape, order="F" if header["fortran"] == b"True" else "C")


def _word(array: AnyArray) -> str:
    value = array.item()
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _names(array: AnyArray | None, size: int, noun: str) -> Names:
    if array is not None and array.dtype == np.uint8:
        return named(array.tobytes().decode("utf-8"), size, noun)
    if array is not None and (array.dtype.kind not in "iuU" or array.ndim != 1):
        raise InputError(f"array '{noun}s' holds {array.dtype}; need text or whole numbers")
    return Names.given(None if array is None else array.tolist(), size, noun)
