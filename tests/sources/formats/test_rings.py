"""Ring signatures: every spelling of the same rings, and files that are broken."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import open_observation
from anonymatch.rings import RingObservation
from anonymatch.rings.ring_files import is_rings, read_rings

PLAIN = {"i1": ["o1", "o2"], "i2": ["o2", "o3"]}


def save(folder: Path, document: object) -> Path:
    path = folder / "rings.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_every_ring_is_matched_and_not_every_output(tmp_path: Path) -> None:
    graph = read_rings(save(tmp_path, PLAIN)).graph

    assert graph is not None
    assert (graph.n_users, graph.n_behaviours) == (2, 3)
    assert am.count(graph, exact=True).value == 3


@pytest.mark.parametrize(
    "document",
    [
        {name: {"members": members} for name, members in PLAIN.items()},
        [{"ring": name, "members": members} for name, members in PLAIN.items()],
    ],
    ids=["objects", "list"],
)
def test_other_spellings_are_the_same_rings(tmp_path: Path, document: object) -> None:
    plain = read_rings(save(tmp_path, PLAIN)).graph

    assert read_rings(save(tmp_path, document)).graph == plain
    assert is_rings(document)
    assert not is_rings(PLAIN)


def test_the_truth_is_kept_by_index(tmp_path: Path) -> None:
    document = {
        "a": {"members": [7, 8], "truth": 8},
        "b": {"members": ["8", "9", 9]},
        "c": {"members": [7], "truth": None},
    }
    observation = read_rings(save(tmp_path, document))

    assert observation.graph is not None
    assert observation.graph.behaviours == ("7", "8", "9")
    assert observation.truth is not None
    assert observation.truth.tolist() == [1, -1, -1]
    assert observation.notes == ("1 member came twice in one ring; once is enough.",)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("", "it is empty"),
        ("nul", "no JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": [1], "a": [2]}', "key 'a' is there twice"),
        ('{"a": [' + "1" * 5000 + "]}", "4300 digits"),
        (7, "rings must be an object {...}, not a number"),
        ({}, "it holds no ring"),
        ([], "it holds no ring"),
        ([[1]], "ring 0 must be an object"),
        ({"a": []}, "ring 'a' has no members; give at least one"),
        ({"rings": {"a": {"members": []}}}, "ring 'a' has no members"),
        ({"a": {"members": ["x", "y"], "weights": [1]}}, "ring 'a' must have as many weights as"),
        ({"a": {"members": ["x"], "weights": [0]}}, "ring 'a' has the weight 0; weights are above"),
        ({"a": {"members": ["x"], "weights": ["1"]}}, "a weight of ring 'a' must be a finite"),
        ({"a": {"members": ["x"], "height": "7"}}, "the height of ring 'a' must be a finite"),
        ({"a": {"members": ["x"], "height": 1}, "b": {"members": ["x"], "time": 1}}, "a height"),
        ({"a": {"members": ["x"], "transaction": []}}, "the transaction of ring 'a' is a list"),
        ({"rings": {"a": ["x"]}, "outputs": {"x": {"age": 3}}}, "'x' has the unknown key 'age'"),
        ({"rings": {"a": ["x"]}, "outputs": {"x": 3}}, "output 'x' must be an object"),
        ({"rings": {"a": ["x"]}, "decoys": 3}, '"decoys" must be the name of a law'),
        ({"rings": {"a": ["x"]}, "decoys": "unifrom"}, "did you mean 'uniform'?"),
        ({"rings": {"a": ["x"]}, "spends": "gamma:1"}, "gamma has a shape and a rate above 0"),
        ({"rings": {"a": ["x"]}, "decoys": "uniform:3"}, "uniform has no numbers"),
        ({"rings": {"a": ["x"]}, "decoys": "uniform"}, "ring 'a' has no height or time"),
        (
            {"rings": {"a": {"members": ["x"], "height": 3}}, "decoys": "uniform"},
            "output 'x' has no height or time",
        ),
        (
            {
                "rings": {"a": {"members": ["x"], "height": 3}},
                "outputs": {"x": {"height": 4}},
                "decoys": "uniform",
            },
            "ring 'a' of height 3 has the member 'x' of height 4, which is later",
        ),
        ({"rings": {"a": ["x"]}, "merging": 0.5}, '"merging" must be 1 or more'),
        ({"rings": {"a": ["x"]}, "merging": "3"}, '"merging" must be a finite number'),
        ({"rings": {"a": ["x"]}, "spend": "gamma"}, "the file has the unknown key 'spend'"),
        ({"rings": []}, "it holds no ring"),
        (
            {
                "rings": {"a": {"members": ["x"], "height": 3}},
                "outputs": {"x": {"height": 1}},
                "decoys": "uniform:unspent",
            },
            "decoys may be spent: unspent is for spends",
        ),
        ({"rings": {"a": ["x"]}, "outputs": []}, '"outputs" must be an object'),
        (
            {"a": {"members": ["x", "x"], "weights": [1, 2]}},
            "ring 'a' has the member 'x' twice with two weights; give it once",
        ),
        ({"a": "xy"}, "ring 'a' must have a list of members"),
        ({"a": [None]}, "a member of ring 'a' is null"),
        ({"a": [1.5]}, "a member of ring 'a' is a number"),
        ({"a": [True]}, "a member of ring 'a' is true or false"),
        ("{" + '"a": [NaN]}', "a member of ring 'a' is a number"),
        ({"a": {"members": ["x"], "truth": "y"}}, "its truth 'y' is none of its members"),
        ({"a": {"member": ["x"]}}, "unknown key 'member'"),
        (
            {"a": {"members": ["x"], "truth": "x"}, "b": {"members": ["x"], "truth": "x"}},
            "gives 'x' to 'a' and 'b'",
        ),
        (
            [{"ring": 1, "members": ["x"]}, {"ring": "1", "members": ["y"]}],
            "ring '1' is there twice",
        ),
    ],
)
def test_broken_rings_are_named(tmp_path: Path, document: object, says: str) -> None:
    with pytest.raises(am.InputError) as caught:
        read_rings(save(tmp_path, document))

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- weights, ages, transactions

RICH: dict[str, Any] = {
    "rings": {
        "i1": {"members": ["a", "b", "c"], "height": 100, "transaction": "t", "truth": "a"},
        "i2": {"members": ["b", "d"], "height": 100, "transaction": "t", "truth": "d"},
        "i3": {"members": ["c", "d", "e"], "height": 120, "weights": [1, 2, 4]},
    },
    "outputs": {
        "a": {"height": 10, "transaction": "old"},
        "b": {"height": 20, "transaction": "other"},
        "c": {"height": 99},
        "d": {"height": 60, "transaction": "old"},
        "e": {"height": 70},
    },
}


def log_gamma_density(seconds: float, shape: float = 19.28, rate: float = 1.61) -> float:
    """Of an age whose log is gamma, by its definition."""
    x = math.log(seconds)
    return float(rate**shape * x ** (shape - 1) * math.exp(-rate * x)) / math.gamma(shape) / seconds


def by_definition(decoys: str, merging: float) -> dict[tuple[str, str], float]:
    """Probabilities of all pairs, from all ways to spend."""
    rings, outputs = RICH["rings"], RICH["outputs"]
    weight = {}
    for name, ring in rings.items():
        for at, member in enumerate(ring["members"]):
            age = 120.0 * (ring["height"] - outputs[member]["height"])
            span = 120.0 * (ring["height"] + 1)
            chosen = {
                "uniform": 1.0,
                "triangular": 1.0 - age / span,
                "gamma": log_gamma_density(age),
                "gamma:10,1": log_gamma_density(age, 10, 1),
            }[decoys]
            value = log_gamma_density(age) / chosen * ring.get("weights", [1, 1, 1])[at]
            if (name, member) in {("i1", "a"), ("i2", "d")}:
                value *= merging
            weight[name, member] = value
    sums: dict[tuple[str, str], float] = {}
    total = 0.0
    for spent in itertools.product(*(ring["members"] for ring in rings.values())):
        if len(set(spent)) == len(spent):
            pairs = list(zip(rings, spent, strict=True))
            way = math.prod(weight[pair] for pair in pairs)
            total += way
            for pair in pairs:
                sums[pair] = sums.get(pair, 0.0) + way
    return {pair: value / total for pair, value in sums.items()}


@pytest.mark.parametrize("decoys", ["uniform", "triangular", "gamma", "gamma:10,1"])
@pytest.mark.parametrize("merging", [1, 7.5])
def test_all_weights_together_are_those_of_their_definitions(
    tmp_path: Path, decoys: str, merging: float
) -> None:
    path = save(tmp_path, RICH | {"decoys": decoys, "merging": merging})
    graph = open_observation(path).graph
    assert graph is not None
    posterior = am.posterior(graph)

    for (ring, member), wanted in by_definition(decoys, merging).items():
        assert posterior[ring][member] == pytest.approx(wanted, rel=1e-9)
    told = open_observation(save(tmp_path, RICH), decoys=decoys, merging=merging)
    assert told.graph == graph


def test_a_table_says_the_same_as_the_document(tmp_path: Path) -> None:
    rows = ["ring,member,true,weight,height,transaction,output_height,output_transaction"]
    for name, ring in RICH["rings"].items():
        for at, member in enumerate(ring["members"]):
            output = RICH["outputs"][member]
            true = {None: ""}.get(ring.get("truth"), str(int(ring.get("truth") == member)))
            cells = (name, member, true, ring.get("weights", [1, 1, 1])[at], ring["height"])
            more = (ring.get("transaction", ""), output["height"], output.get("transaction", ""))
            rows.append(",".join(map(str, cells + more)))
    table = tmp_path / "rings.csv"
    table.write_text("\n".join(rows) + "\n")
    options: dict[str, Any] = {"decoys": "triangular", "spends": "gamma:12,1.5", "merging": 3}
    document = open_observation(save(tmp_path, RICH), **options)
    observation = open_observation(table, **options)

    assert observation.graph == document.graph
    assert observation.truth is not None
    assert document.truth is not None
    assert observation.truth.tolist() == document.truth.tolist()
    assert isinstance(observation, RingObservation)
    assert isinstance(document, RingObservation)
    assert observation.rings.merges == document.rings.merges
    assert np.array_equal(observation.rings.when, document.rings.when)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("ring,member,colour\na,x,red\n", "a table of rings has no column 'colour'"),
        ("ring,member\na,\n", "line 2: member is empty"),
        ("ring,member,true\na,x,maybe\n", "line 2: true is 'maybe'; write true or false"),
        ("ring,member,true\na,x,1\na,y,1\n", "line 3: ring 'a' spends 'x' and 'y'"),
        ("ring,member,weight\na,x,1\na,y,-1\n", "line 3: ring 'a' has the weight -1"),
        ("input,output\na,\n", "line 2: output is empty"),
        ("ring,member,height\na,x,1\na,y,2\n", "line 3: ring 'a' has two heights or times"),
        ("ring,member,height,output_time\na,x,1,1\n", "a time, and others a height"),
        ("ring,member,height\na,x,old\n", "line 2: height is 'old'; give a finite number"),
    ],
)
def test_broken_tables_are_named(tmp_path: Path, table: str, says: str) -> None:
    path = tmp_path / "rings.csv"
    path.write_text(table)
    with pytest.raises(am.InputError) as caught:
        open_observation(path)

    assert says in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_an_input_may_be_called_rings(tmp_path: Path) -> None:
    graph = open_observation(save(tmp_path, {"rings": ["a", "b"], "outputs": ["b"]})).graph

    assert graph is not None
    assert graph.users == ("rings", "outputs")


def test_a_ring_set_over_times_is_that_over_heights(tmp_path: Path) -> None:
    seconds: dict[str, Any] = {
        "rings": {
            name: {key: value for key, value in ring.items() if key != "height"}
            | {"time": 120 * ring["height"]}
            for name, ring in RICH["rings"].items()
        },
        "outputs": {name: {"time": 120 * one["height"]} for name, one in RICH["outputs"].items()},
        "decoys": "uniform",
    }
    by_time = open_observation(save(tmp_path, seconds))
    by_height = open_observation(save(tmp_path, RICH), decoys="uniform")

    assert by_time.graph == by_height.graph
    assert isinstance(by_time, RingObservation)
    assert by_time.rings.unit == "time"


HASHES = [f"{k:064x}" for k in range(6)]


@pytest.mark.parametrize(
    ("document", "source"),
    [
        (PLAIN, "rings"),
        ({"input_1": ["Output 1", "Output 2"]}, "rings"),
        ({HASHES[0]: [17, 18], HASHES[1]: ["18", "19"]}, "rings"),
        ({HASHES[0]: HASHES[2:4], HASHES[1]: [f"{HASHES[3]}:0", HASHES[5]]}, "rings"),
        ({"inputs": {"a": ["x", "y"]}}, "rings"),
        ({"a": {"members": ["x"]}, "b": ["y", "z"]}, "rings"),
        ({"ann": ["x", "y"], "bob": ["y", "z"]}, "edges"),
        ({"i1": ["o1", "o2"], "i2": ["o1", "o2"]}, "edges"),
        ({"i1": ["o1", "o2"], "bob": ["o3"]}, "edges"),
    ],
)
def test_plain_documents_are_rings_if_their_names_are(
    tmp_path: Path, document: object, source: str
) -> None:
    observation = open_observation(save(tmp_path, document))

    assert isinstance(observation, RingObservation) == (source == "rings")


def test_a_note_says_what_plain_documents_were_taken_for(tmp_path: Path) -> None:
    rings = open_observation(save(tmp_path, PLAIN))
    assert any("Read as rings" in note and "source='edges'" in note for note in rings.notes)
    edges = open_observation(save(tmp_path, {"ann": ["x", "y"]}))
    assert any("Read as edges" in note and "source='rings'" in note for note in edges.notes)
    for source in ("rings", "edges"):
        assert not open_observation(save(tmp_path, PLAIN), source=source).notes
    square = save(tmp_path, {"ann": ["x", "y"], "bob": ["x", "y"]})
    assert not open_observation(square).notes


def test_read_takes_rings_with_their_laws(tmp_path: Path) -> None:
    path = save(tmp_path, RICH)
    table = tmp_path / "rings.csv"
    table.write_text("input,output\na,x\na,y\nb,y\n")

    assert am.read(path) == read_rings(path).graph
    options: dict[str, Any] = {"decoys": "triangular", "spends": "gamma:12,1.5", "merging": 3}
    assert am.read(path, **options) == read_rings(path, **options).graph
    assert am.read(table).to_edges() == [("a", "x"), ("a", "y"), ("b", "y")]
    edges = tmp_path / "edges.csv"
    edges.write_text("user,behaviour\nann,x\n")
    with pytest.raises(am.InputError, match="merging is for rings, and this is edges"):
        am.read(edges, merging=3)


def test_weights_of_a_file_are_counted_as_they_are(tmp_path: Path) -> None:
    document = {
        "a": {"members": ["x", "y"], "weights": [1, 3]},
        "b": {"members": ["y", "z"], "weights": [1, 2]},
    }
    graph = am.read(save(tmp_path, document))

    assert am.count(graph, exact=True).value == 1 * 1 + 1 * 2 + 3 * 2
    assert am.posterior(graph)["b"] == pytest.approx({"y": 1 / 9, "z": 8 / 9})


def test_rings_that_cannot_all_spend_are_told_in_their_words(tmp_path: Path) -> None:
    graph = am.read(save(tmp_path, {"rings": {"a": ["x"], "b": ["x"], "c": ["y", "z"]}}))
    with pytest.raises(am.NoMatchingError) as caught:
        am.posterior(graph)

    assert str(caught.value) == (
        "not every ring can spend an output: 2 inputs (a, b) fit only 1 output (x); no output is "
        "spent twice: check the members of these rings"
    )


def test_members_from_after_their_ring_are_noted(tmp_path: Path) -> None:
    document = {
        "rings": {"a": {"members": ["x", "y"], "height": 3}, "b": {"members": ["y", "z"]}},
        "outputs": {"x": {"height": 3}, "y": {"height": 9}},
    }
    notes = read_rings(save(tmp_path, document)).notes

    assert notes == ("1 member came later than a ring that may spend it; check the heights.",)


def simulated_chain(blocks: int, each: int, rings: int, size: int, seed: int) -> dict[str, Any]:
    """Every ring spends one of the unspent outputs by the gamma law, with uniform decoys."""
    rng = np.random.default_rng(seed)
    births = np.repeat(np.arange(blocks), each)
    free = np.ones(len(births), dtype=bool)
    made: dict[str, Any] = {}
    for height in range(20, blocks):
        there = height * each
        logs = np.log(120.0 * (height - births[:there]))
        density = np.exp(18.28 * np.log(logs) - 2.61 * logs)
        for k in range(rings):
            law = density * free[:there]
            spent = int(rng.choice(there, p=law / law.sum()))
            free[spent] = False
            members = {spent, *rng.integers(0, there, size - 1).tolist()}
            made[f"{height}.{k}"] = {"members": sorted(members), "truth": spent, "height": height}
    outputs = {str(k): {"height": int(height)} for k, height in enumerate(births.tolist())}
    return {"rings": made, "outputs": outputs}


def exact_among_unspent(document: dict[str, Any]) -> dict[tuple[Any, Any], float]:
    """By all ways to spend: every ring in turn chooses among what is unspent."""
    rings = document["rings"]
    births = {name: output["height"] for name, output in document["outputs"].items()}
    shares: dict[tuple[Any, Any], float] = {}
    for chosen in itertools.product(*(ring["members"] for ring in rings.values())):
        if len(set(chosen)) < len(chosen):
            continue
        likely, spent = 1.0, set[str]()
        for ring, output in zip(rings.values(), chosen, strict=True):
            logs = {
                name: math.log(max(120.0 * (ring["height"] - birth), 120.0))
                for name, birth in births.items()
                if birth <= ring["height"] and name not in spent
            }
            law = {name: log**18.28 * math.exp(-2.61 * log) for name, log in logs.items()}
            likely *= law[str(output)] / sum(law.values())
            spent.add(str(output))
        for name, output in zip(rings, chosen, strict=True):
            shares[name, str(output)] = shares.get((name, str(output)), 0.0) + likely
    total = sum(shares.values()) / len(rings)
    return {pair: share / total for pair, share in shares.items()}


def test_weights_among_unspent_outputs_are_near_all_ways_in_turn(tmp_path: Path) -> None:
    away = {"gamma": 0.0, "gamma:unspent": 0.0}
    for seed in range(6):
        document = simulated_chain(25, 1, 1, 4, seed)
        wanted = exact_among_unspent(document)
        for law in away:
            graph = am.read(save(tmp_path, document), spends=law)
            shares = am.posterior(graph)
            away[law] += sum(
                abs(wanted.get((ring, output), 0.0) - share)
                for ring in graph.users
                for output, share in shares[ring].items()
            )

    assert away["gamma:unspent"] < 0.5 * away["gamma"]
