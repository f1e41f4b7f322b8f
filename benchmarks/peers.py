"""Other software that counts, if it is installed: ``pip install '.[bench]'``.

Each function returns a call that takes what the peer needs, or None. They are loaded by name, so
that nothing here needs them.
"""

from __future__ import annotations

import ctypes
import importlib
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native import plan_frontier
from anonymatch.graph import Graph

__all__ = ["Matrix", "exqalibur_float", "exqalibur_integer", "flint", "graphillion", "thewalrus"]

Matrix = npt.NDArray[np.int64]


def thewalrus() -> Callable[[Matrix], int] | None:
    """Ryser's formula on int64, compiled before it is timed."""
    module = _load("thewalrus")
    if module is None:
        return None
    module.perm(np.eye(4, dtype=np.int64), method="ryser")
    return lambda matrix: int(module.perm(matrix, method="ryser"))


def exqalibur_float() -> Callable[[Matrix], float] | None:
    """Glynn's formula on doubles, one thread; its fastest."""
    module = _exqalibur()
    if module is None:
        return None
    return lambda matrix: float(module.permanent_fl(matrix.astype(np.float64), "glynn"))


def exqalibur_integer() -> Callable[[Matrix], int] | None:
    """Ryser's formula on int64, one thread."""
    module = _exqalibur()
    return None if module is None else lambda matrix: int(module.permanent_in(matrix, "ryser"))


def flint() -> Callable[[Matrix], int] | None:
    """FLINT's ``fmpz_mat_permanent``, on one thread.

    python-flint does not offer it, but its wheel has the shared library. Only what FLINT documents
    is relied on: a matrix starts with the pointer to its entries, row after row when it is new, and
    an entry below 2^62 is a plain word.
    """
    package = _load("flint")
    if package is None:
        return None
    result = sorted(Path(package.__file__).parent.parent.glob("python_flint.libs/libflint*"))
    if not result:
        return None  # linked against a FLINT of the system
    library = ctypes.CDLL(str(result[0]))
    if not hasattr(library, "fmpz_mat_permanent"):
        return None
    library.fmpz_get_str.restype = ctypes.c_void_p
    library.flint_set_num_threads(1)

    def permanent(matrix: Matrix) -> int:
        n = len(matrix)
        room = (ctypes.c_void_p * 8)()  # more than the four words of the struct
        library.fmpz_mat_init(room, ctypes.c_long(n), ctypes.c_long(n))
        entries = ctypes.cast(room[0] or 0, ctypes.POINTER(ctypes.c_long))
        for position, value in enumerate(matrix.ravel().tolist()):
            entries[position] = value
        answer = ctypes.c_long(0)
        if not library.fmpz_mat_permanent(ctypes.byref(answer), room):
            raise RuntimeError("FLINT refuses the matrix")
        text = library.fmpz_get_str(None, 10, ctypes.byref(answer))
        value = int(ctypes.string_at(text))
        library.flint_free(ctypes.c_void_p(text))
        library.fmpz_clear(ctypes.byref(answer))
        library.fmpz_mat_clear(room)
        return value

    return permanent


def graphillion() -> Callable[[Graph, bool], int] | None:
    """The set of all perfect matchings as one diagram, and its size.

    The order of edges decides its time. The call takes whether to use its own greedy order, or the
    order of users that our frontier programme would take; which is better differs by graph.
    """
    module = _load("graphillion")
    if module is None:
        return None
    sets = module.GraphSet

    def matchings(graph: Graph, greedy: bool) -> int:
        rows = [graph.indices[a:b] for a, b in pairwise(graph.indptr.tolist())]
        order = range(graph.n_users) if greedy else plan_frontier(graph, 0.01).order
        edges = [(f"u{user}", f"b{behaviour}") for user in order for behaviour in rows[user]]
        sets.set_universe(edges, traversal="greedy" if greedy else "as-is")
        return int(sets.perfect_matchings().len())

    return matchings


def _exqalibur() -> Any:
    module = _load("exqalibur")
    if module is not None:
        module.Config.compute_max_thread_count = 1
    return module


def _load(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what peers say about their own dependencies
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
