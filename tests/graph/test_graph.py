"""Graph: canonical, immutable, and the same however it was made."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.graph import families
from anonymatch.graph.graph import Graph

pd: Any = import_module("pandas")  # has no types
pa: Any = import_module("pyarrow")

SMALL = Graph.from_rows(["110", "011", "101"])
THIRD = Fraction(1, 3)


def test_the_sizes_names_and_rows_of_a_graph() -> None:
    graph = Graph.from_edges([("ann", "y"), ("bob", "x"), ("ann", "x")], users=["bob", "ann", "c"])

    assert (graph.n_users, graph.n_behaviours, graph.n_edges) == (3, 2, 3)
    assert graph.users == ("bob", "ann", "c")
    assert graph.behaviours == ("y", "x")
    assert graph.indptr.tolist() == [0, 1, 3, 3]
    assert graph.indices.tolist() == [1, 0, 1]
    assert graph.rows().tolist() == [0, 1, 1]
    assert graph.degrees.tolist() == [1, 2, 0]
    assert graph.behaviour_degrees.tolist() == [1, 2]
    assert not graph.weighted
    assert graph.weights is None
    assert graph.exact_weights is None
    assert {str(graph.indptr.dtype), str(graph.indices.dtype)} == {"int32"}


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (Graph.from_rows(["1100", "1100", "0011", "0011"]), "4 users, 4 behaviours, 8 edges"),
        (Graph.from_edges([("a", "x", 2)]), "1 user, 1 behaviour, 1 edge, weighted"),
        (Graph.from_rows([]), "0 users, 0 behaviours, 0 edges"),
        (Graph.from_rows([[]], n_behaviours=2), "1 user, 2 behaviours, 0 edges"),
    ],
)
def test_repr_tells_the_size(graph: Graph, text: str) -> None:
    assert repr(graph) == f"Graph({text})"


def test_every_way_to_make_a_graph_gives_the_same() -> None:
    dense = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    made = [
        Graph.from_rows([[1, 0], (1, 2), {0, 2}]),
        Graph.from_rows([np.array([0, 1]), range(1, 3), "101"]),
        Graph.from_edges(SMALL.to_edges(), users=range(3), behaviours=range(3)),
        Graph.from_edges(np.array(SMALL.to_edges()), users=range(3), behaviours=[0, 1, 2]),
        Graph.from_biadjacency(dense),
        Graph.from_biadjacency(dense.tolist()),
        Graph.from_biadjacency(dense.astype(bool)),
        Graph.from_biadjacency(dense.astype(object)),
        Graph.from_biadjacency(dense.astype(np.float32)),
        Graph.from_biadjacency(np.ma.masked_equal(np.array([[1, 1, 5], [5, 1, 1], [1, 5, 1]]), 5)),
        Graph.from_biadjacency(scipy.sparse.csr_array(dense)),
        Graph.from_biadjacency(scipy.sparse.coo_matrix(dense)),
        Graph.from_biadjacency(scipy.sparse.csc_array(dense.astype(bool))),
        Graph.from_biadjacency(SMALL.to_scipy()),
        Graph.from_rows(SMALL.to_rows()),
        pickle.loads(pickle.dumps(SMALL)),
        copy.deepcopy(SMALL),
    ]

    assert all(graph == SMALL for graph in made)
    assert len({*made, SMALL}) == 1
    assert all(graph.users == range(3) for graph in made)


def test_graphs_differ_by_names_edges_and_weights() -> None:
    assert Graph.from_rows(["11"]) != Graph.from_rows(["10"])
    assert Graph.from_rows(["10"]) != Graph.from_rows(["1"])
    assert Graph.from_edges([("a", "x")]) != Graph.from_edges([("a", "y")])
    assert Graph.from_edges([("a", "x", 2)]) != Graph.from_edges([("a", "x", 3)])
    assert Graph.from_edges([("a", "x", THIRD)]) != Graph.from_edges([("a", "x", 1 / 3)])
    assert Graph.from_rows(["1"]) != "1"


def test_a_graph_never_changes() -> None:
    graph = Graph.from_edges([("a", "x", 2), ("a", "y", THIRD)])
    for array in (graph.indptr, graph.indices, graph.weights, graph.exact_weights):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    again = pickle.loads(pickle.dumps(graph))
    assert not again.indices.flags.writeable
    with pytest.raises(AttributeError, match="never changes"):
        graph.n_users = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="never changes"):
        del graph._users
    assert weakref.ref(graph)() is graph


def test_exports_share_nothing_with_the_graph() -> None:
    matrix = SMALL.to_scipy()
    matrix.data[:] = 7
    matrix.indices[:] = 0

    assert SMALL.to_rows() == ["110", "011", "101"]


def test_weights_are_kept_exactly() -> None:
    given_weights: list[Any] = [
        2,
        THIRD,
        0.1,
        2**60 + 1,
        Decimal("0.5"),
        np.int8(3),
        np.float32(0.5),
    ]
    graph = Graph.from_edges([("a", i, weight) for i, weight in enumerate(given_weights)])

    assert graph.exact_weights is not None
    assert graph.exact_weights.tolist() == [
        2, THIRD, Fraction(0.1), 2**60 + 1, Fraction(1, 2), 3, Fraction(1, 2),
    ]  # fmt: skip
    assert {type(weight) for weight in graph.exact_weights} == {int, Fraction}
    assert graph.weights is not None
    assert graph.weights.tolist() == [2.0, 1 / 3, 0.1, float(2**60 + 1), 0.5, 3.0, 0.5]
    assert graph.rounded
    assert Graph.from_biadjacency(np.array([[2**60 + 1]])).exact_weights == [2**60 + 1]
    assert Graph.from_biadjacency(np.array([[2**64 - 1]], dtype=np.uint64)).rounded
    assert not Graph.from_biadjacency([[0.1, 7]]).rounded


def test_weights_of_one_are_no_weights_and_of_zero_no_edges() -> None:
    assert Graph.from_edges([("a", "x", 1.0), ("b", "x", Fraction(1))]).weights is None
    graph = Graph.from_edges([("a", "x", 0), ("a", "y", 1), ("b", "x", 0.0)])
    assert graph.to_edges() == [("a", "y")]
    assert graph.n_users == 2
    stored_zero = scipy.sparse.csr_array(([0, 1], ([0, 0], [0, 1])), shape=(1, 2))
    assert Graph.from_biadjacency(stored_zero).to_rows() == ["01"]
    assert Graph.from_biadjacency(stored_zero.astype(bool)).to_rows() == ["01"]


def test_equal_duplicates_are_kept_once() -> None:
    assert Graph.from_edges([("a", "x"), ("a", "x")]).n_edges == 1
    assert Graph.from_edges([("a", "x", THIRD), ("b", "x", 2), ("a", "x", THIRD)]).n_edges == 2


def test_repeated_entries_of_a_sparse_matrix_add_up_as_in_scipy() -> None:
    matrix = scipy.sparse.coo_array(([1, 2], ([0, 0], [0, 0])), shape=(1, 1))

    assert Graph.from_biadjacency(matrix).to_edges() == [(0, 0, 3)]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph.from_rows(["11", "1"]), "row 1 has 1 bit, expected 2"),
        (lambda: Graph.from_rows(["1x"]), "row 0 is '1x'; a bit string holds only 0 and 1"),
        (lambda: Graph.from_rows(["1²"]), "holds only 0 and 1"),
        (lambda: Graph.from_rows("1100"), "one row a user"),
        (lambda: Graph.from_rows(np.eye(2)), "use from_biadjacency"),
        (lambda: Graph.from_rows([[1, 1, 0]]), "row 0 names a behaviour twice"),
        (lambda: Graph.from_rows([[0], [-1]]), "row 1 names behaviour -1"),
        (lambda: Graph.from_rows([[5]], n_behaviours=3), "names behaviour 5, outside 0 to 2"),
        (lambda: Graph.from_rows([[5], "110"]), "behaviour 5 is outside the 3 behaviours"),
        (lambda: Graph.from_rows([[0.5]]), "must hold behaviour indices"),  # type: ignore[list-item]
        (lambda: Graph.from_rows([[True]]), "must hold behaviour indices"),
        (lambda: Graph.from_edges(["ab"]), "edge 0 is 'ab'"),
        (lambda: Graph.from_edges([("a",)]), "give (user, behaviour)"),
        (lambda: Graph.from_edges([(None, "x")]), "a user is named None"),
        (lambda: Graph.from_edges([("a", NAN)]), "a behaviour is named nan"),
        (lambda: Graph.from_edges([("a", ["x"])]), "a name must be hashable"),
        (lambda: Graph.from_edges([("a", "x", -2)]), "user 'a', behaviour 'x' is -2"),
        (lambda: Graph.from_edges([("a", "x", NAN)]), "user 'a', behaviour 'x' is nan"),
        (lambda: Graph.from_edges([("a", "x", INF)]), "user 'a', behaviour 'x' is inf"),
        (lambda: Graph.from_edges([("a", "x", "2")]), "behaviour 'x' is '2'; give a number"),
        (lambda: Graph.from_edges([("a", "x", None)]), "is None; give a number"),
        (lambda: Graph.from_edges([("a", "x", 1j)]), "give a number"),
        (lambda: Graph.from_edges([("a", "x", 10**400)]), "does not fit a float64"),
        (lambda: Graph.from_edges([("a", "x", Fraction(1, 10**400))]), "does not fit a float64"),
        (lambda: Graph.from_edges([("a", "x"), ("a", "x", 2)]), "user 'a', behaviour 'x' is given"),
        (lambda: Graph.from_edges([("a", "x", 0), ("a", "x", 2)]), "given twice, with weights 0"),
        (lambda: Graph.from_edges([("a", "x")], users=["b"]), "no user 'a'"),
        (lambda: Graph.from_edges([], users=["b", "b"]), "user 'b' is named twice"),
        (lambda: Graph.from_edges([], behaviours="ab"), "behaviours is the text 'ab'"),
        (lambda: Graph.from_biadjacency([1, 2]), "the matrix has 1 dimension;"),
        (lambda: Graph.from_biadjacency([[1], [1, 2]]), "differ in length"),
        (lambda: Graph.from_biadjacency([[1, -1]]), "user 0, behaviour 1 is -1"),
        (lambda: Graph.from_biadjacency([[1, NAN]]), "user 0, behaviour 1 is nan"),
        (lambda: Graph.from_biadjacency([[1j]]), "weights of type complex128"),
        (lambda: Graph.from_biadjacency([["x"]]), "give numbers"),
        (lambda: Graph.from_biadjacency([[1, 1]], users=["a", "b"]), "2 users are named but"),
        (lambda: Graph.from_networkx(nx.Graph([(1, 2)])), "tell which nodes are users"),
        (lambda: Graph.from_networkx(nx.Graph([(1, 2)]), users=[1, 2]), "1 and 2 are both users"),
        (lambda: Graph.from_networkx(nx.Graph([(1, 2)]), users=[3]), "user 3 is no node"),
        (lambda: SMALL.expose(0, 2), "user 0 cannot be exposed as 2: that is not an edge"),
        (lambda: SMALL.expose(9, 2), "no user 9; close|no user 9; the 3 users begin with 0, 1, 2"),
        (lambda: SMALL.select([0, 0], [1]), "a user is selected twice"),
        (lambda: SMALL.take(np.array([3]), np.array([1])), "a user index is outside 0 to 2"),
        (lambda: SMALL.keep_edges(np.array([True])), "mask must be 6 bools"),
        (lambda: Graph.from_edges([("a", "x", 2)]).to_rows(), "bits hold no weights"),
        (lambda: Graph.from_frame({"user": []}), "a dict is no table"),
    ],
)
def test_bad_input_is_refused_in_one_line(make: Callable[[], Graph], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()

    assert any(part in str(caught.value) for part in message.split("|"))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, (AnonymatchError, ValueError))


def test_an_unknown_name_hints_at_close_ones() -> None:
    graph = Graph.from_edges([("alice", "mail"), ("bob", "chat")])

    assert graph.user_index("bob") == 1
    assert graph.behaviour_index("chat") == 1
    with pytest.raises(InputError, match="no user 'alise'; close names: 'alice'"):
        graph.user_index("alise")
    with pytest.raises(InputError, match="no behaviour 'x'; the 2 behaviours begin with 'mail'"):
        graph.behaviour_index("x")
    with pytest.raises(InputError, match="the graph has no users"):
        Graph.from_rows([]).user_index("x")
    with pytest.raises(InputError, match="no user"):
        graph.user_index(["alice"])  # type: ignore[arg-type]


def test_exposing_takes_both_away() -> None:
    graph = Graph.from_edges([("a", "x", 2), ("a", "y", 3), ("b", "x", 5), ("b", "y", 1)])

    left = graph.expose("a", "x")

    assert left == Graph.from_edges([("b", "y")])
    assert (left.users, left.behaviours) == (("b",), ("y",))
    assert SMALL.expose(1, 1).users == (0, 2)


def test_selecting_keeps_the_order_asked_for() -> None:
    chosen = SMALL.select([2, 0], [2, 1, 0])

    assert chosen.users == (2, 0)
    assert chosen.to_rows() == ["101", "011"]


def test_networkx_round_trip() -> None:
    graph = Graph.from_edges([("a", "x", 2), ("b", "y", THIRD)], users=["a", "b", "c"])
    assert Graph.from_networkx(graph.to_networkx()) == graph
    shared = Graph.from_rows(["11", "01"]).to_networkx()
    assert ("user", 0) in shared
    back = Graph.from_networkx(shared)
    assert back.to_rows() == ["11", "01"]
    directed: nx.DiGraph[str] = nx.DiGraph([("x", "a"), ("a", "y")])
    assert Graph.from_networkx(directed, users=["a"]).n_edges == 2
    twice: nx.MultiGraph[str] = nx.MultiGraph([("a", "x"), ("a", "x")])
    assert Graph.from_networkx(twice, users=["a"]).n_edges == 1


COLUMNS: dict[str, list[Any]] = {
    "user": ["b", "a", "b", "c", None],
    "behaviour": ["x", "x", "y", None, "z"],
    "weight": [1.0, 0.5, 2.0, None, None],
    "time": [1, 2, 3, 4, 5],
}


@pytest.mark.parametrize(
    "make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table], ids=["pl", "lazy", "pd", "pa"]
)
def test_tables_of_every_kind(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    expected = Graph.from_edges(
        [("b", "x", 1), ("b", "y", 2), ("a", "x", 0.5)],
        users=["b", "a", "c"],
        behaviours=["x", "y", "z"],
    )

    assert Graph.from_frame(make(COLUMNS)) == expected
    with pytest.raises(InputError, match="no column 'user'; the columns are 'behaviour'"):
        Graph.from_frame(make({"behaviour": ["x"]}))
    with pytest.raises(InputError, match=r"row 1: the weight of user 'b', behaviour 'x' is -1"):
        Graph.from_frame(make({"user": ["a", "b"], "behaviour": ["x", "x"], "weight": [1, -1]}))


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_tables_with_whole_number_names(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    graph = Graph.from_frame(make({"user": [0, 1, 2], "behaviour": [5, None, 7]}))

    assert graph.users == range(3)
    assert graph.behaviours == (5, 7)
    assert graph.to_edges() == [(0, 5), (2, 7)]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (pl.Series([2, 3], dtype=pl.UInt8), [2, 3]),
        (pl.Series(["1/3", "9007199254740993"]), [THIRD, 2**53 + 1]),
        (pl.Series([Decimal("0.1"), Decimal("2")]), [Fraction(1, 10), 2]),
        (pl.Series([2**70, 3], dtype=pl.Int128), [2**70, 3]),
    ],
)
def test_weights_of_tables_are_exact(weights: pl.Series, expected: list[Any]) -> None:
    graph = Graph.from_frame(pl.DataFrame({"user": [0, 1], "behaviour": [0, 1], "weight": weights}))

    assert graph.exact_weights is not None
    assert graph.exact_weights.tolist() == expected


cells = st.integers(0, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), max_size=6)
)


@given(cells)
def test_matrix_edges_and_networkx_agree(matrix: list[list[int]]) -> None:
    array = np.array(matrix, dtype=np.int64).reshape(len(matrix), len(matrix[0]) if matrix else 0)
    graph = Graph.from_biadjacency(array)

    assert graph.to_scipy().toarray().tolist() == array.tolist()
    sides = {"users": graph.users, "behaviours": graph.behaviours}
    assert Graph.from_edges(graph.to_edges(), **sides) == graph
    assert Graph.from_biadjacency(array.T).behaviour_degrees.tolist() == graph.degrees.tolist()
    assert all((np.diff(graph.indices[a:b]) > 0).all() for a, b in _spans(graph))
    whole = graph.take(np.arange(graph.n_users), np.arange(graph.n_behaviours))
    assert whole == graph == graph.keep_edges(np.ones(graph.n_edges, dtype=np.bool_))


def _spans(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(graph.indptr[:-1].tolist(), graph.indptr[1:].tolist(), strict=True))


def test_dropping_edges_settles_the_weights() -> None:
    graph = Graph.from_edges([("a", "x", 1), ("a", "y", THIRD), ("b", "y", 1)])

    fewer = graph.keep_edges(np.array([True, False, True]))

    assert not fewer.weighted
    assert not fewer.rounded
    assert fewer == Graph.from_edges([("a", "x"), ("b", "y")])


@pytest.mark.slow
def test_a_million_users_are_small() -> None:
    """10^6 users and 10^7 edges: 44 MB of rows; names of a range cost nothing."""
    graph = families.ring(10**6, 10)

    assert graph.indices.nbytes + graph.indptr.nbytes == 4 * (10**7 + 10**6 + 1)
    assert isinstance(graph.users, range)
    assert graph.expose(5, 7).n_edges == 10**7 - 19
