"""Flow pairs: the two conditions against their definition, and files that are broken."""

from __future__ import annotations

import json
from math import lgamma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.mixes.formats.mixmatch import FLOW_PAIR, _of_law, read_flow_pairs
from anonymatch.mixes.laws import Erlang

MS = 10**6
Times = tuple[list[int], list[int]]  # milliseconds: sent, received


def side(sent: list[int], received: list[int], name: str | None = None) -> dict[str, Any]:
    return {
        "nym_identity": name,
        "to_gateway": [[time * MS, 2413] for time in sent] + [[0, 53]],
        "from_gateway": [[time * MS, 1675] for time in received] + [[10**15, 53]],
    }


def save(folder: Path, pairs: list[tuple[Times, Times]]) -> Path:
    for number, (one, two) in enumerate(pairs):
        (folder / f"{number:03}").mkdir(parents=True)
        document = {"start": 0, "end": 0, "initiator": side(*one), "responder": side(*two)}
        (folder / f"{number:03}" / FLOW_PAIR).write_text(json.dumps(document))
    return folder


def possible(one: Times, two: Times, longest: int, strays: int, origin: int) -> bool:
    """By definition, at every tick of a hundredth of the longest delay."""
    sent, received = one[0] + two[0], one[1] + two[1]
    missing = len(sent) - len(received)
    tick = longest // 100
    ends = [(min(a + b), max(a + b)) for a, b in (one, two)]
    spans = [((a - origin) // tick, (b - origin) // tick + 102) for a, b in ends]
    if spans[0][0] >= spans[1][1] or spans[1][0] >= spans[0][1]:
        return False
    for count in range(min(low for low, _ in spans), max(high for _, high in spans)):
        time = origin + count * tick
        until = sum(other <= time for other in received)
        if until > sum(other <= time for other in sent) + strays:
            return False
        if until < sum(other <= time - longest for other in sent) - missing - strays:
            return False
    return True


times = st.lists(st.integers(0, 900), min_size=1, max_size=4).map(sorted)


@given(
    st.lists(st.tuples(st.tuples(times, times), st.tuples(times, times)), min_size=1, max_size=5),
    st.integers(0, 2),
)
def test_edges_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Times, Times]], strays: int
) -> None:
    folder = save(tmp_path_factory.mktemp("flows"), pairs)
    graph = read_flow_pairs(folder, longest_delay=0.3, strays=strays).graph
    assert graph is not None
    origin = min(min(flow[0] + flow[1]) for pair in pairs for flow in pair)
    expected = {
        (user, behaviour)
        for user, (one, _) in enumerate(pairs)
        for behaviour, (_, two) in enumerate(pairs)
        if possible(one, two, 300, strays, origin)
    }

    assert set(zip(graph.rows().tolist(), graph.indices.tolist(), strict=True)) == expected


def test_true_pairs_are_always_possible(tmp_path: Path) -> None:
    """Delays below the longest, some packets lost, loops of cover traffic on both sides."""
    rng = np.random.default_rng(5)
    pairs = []
    for number in range(12):
        begin = 40 * number + np.array([0, 3, 5, 8])
        requests, replies = begin + 0, begin[-1] + 400 + np.sort(rng.integers(0, 800, 30))
        loops = [begin[0] + np.sort(rng.integers(0, 900, 9)) for _ in range(2)]
        heard, got, *back = (
            sent + rng.integers(0, 290, len(sent)) for sent in (requests, replies, *loops)
        )
        got = got[: len(got) - number % 3]
        pairs.append(
            (
                ([*requests, *loops[0]], [*got, *back[0]]),
                ([*replies, *loops[1]], [*heard, *back[1]]),
            )
        )
    whole = [tuple(([*map(int, a)], [*map(int, b)]) for a, b in pair) for pair in pairs]
    observation = read_flow_pairs(save(tmp_path, whole), longest_delay=0.3)  # type: ignore[arg-type]

    assert observation.graph is not None
    assert observation.truth is not None
    assert observation.notes == ()
    assert np.count_nonzero(observation.graph.rows() == observation.graph.indices) == 12
    assert observation.graph.n_edges < 144


def test_flows_far_apart_have_nothing_to_do_with_each_other(tmp_path: Path) -> None:
    day = 86_400_000
    pairs = [(([k * day], [k * day + 90]), ([k * day + 60], [k * day + 30])) for k in range(30)]
    observation = read_flow_pairs(save(tmp_path, pairs))

    assert observation.graph is not None
    assert observation.graph.n_edges == 30
    assert observation.mean_delay == pytest.approx(0.03)


def test_a_true_pair_that_is_ruled_out_is_noted(tmp_path: Path) -> None:
    pairs = [(([0, 10], [80]), ([50], [30, 40])), (([0], [500]), ([400], [5]))]
    observation = read_flow_pairs(save(tmp_path, pairs), longest_delay=0.05)

    assert observation.notes[0].startswith("1 of 2 true pairs are ruled out")


def test_a_pair_without_data_is_left_out(tmp_path: Path) -> None:
    observation = read_flow_pairs(
        save(tmp_path, [(([0], [9]), ([5], [2])), (([], []), ([5], [2]))])
    )

    assert observation.graph is not None
    assert observation.graph.n_users == 1
    assert observation.notes == ("Left out: 1 flow pair with a side without data packets.",)


def test_identities_that_come_twice_get_a_number(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        pair = {"initiator": side([0], [9], "ann"), "responder": side([5], [2], f"x{number}")}
        (tmp_path / str(number) / FLOW_PAIR).write_text(json.dumps(pair))
    graph = read_flow_pairs(tmp_path).graph

    assert graph is not None
    assert graph.users == ("ann", "ann (2)")


GOOD = {"initiator": side([0], [9]), "responder": side([5], [2])}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("[]", "a flow pair must be an object"),
        ("[" * 100_000, "nested too deep"),
        ("{}", '"initiator" must be an object'),
        (json.dumps(GOOD | {"responder": 7}), '"responder" must be an object'),
        (json.dumps(GOOD | {"initiator": {"to_gateway": 3}}), '"to_gateway" of the initiator'),
        ('{"initiator": {"to_gateway": [[1]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [[1, 2], [3]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [[1.5, 2]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [[NaN, 2]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [[-1, 2]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [["1", "2"]], "from_gateway": []}}', "whole, from 0"),
        ('{"initiator": {"to_gateway": [[9e99, 2]], "from_gateway": []}}', "whole, from 0"),
        (f'{{"initiator": {{"to_gateway": [[{10**30}, 2]]}}}}', "whole, from 0"),
        (f'{{"initiator": {{"to_gateway": [[{"9" * 5000}, 2]]}}}}', "4300 digits"),
    ],
)
def test_broken_flow_pairs_are_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / FLOW_PAIR).write_text(text)
    with pytest.raises(am.InputError, match=says) as caught:
        read_flow_pairs(tmp_path)

    assert "\n" not in str(caught.value)
    assert FLOW_PAIR in str(caught.value)


def test_odd_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match=f"no folder in it has a {FLOW_PAIR}"):
        read_flow_pairs(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(am.InputError, match=f"no folder in it has a {FLOW_PAIR}"):
        read_flow_pairs(tmp_path)
    with pytest.raises(am.InputError, match="cannot list it"):
        read_flow_pairs(tmp_path / "nowhere")
    with pytest.raises(am.InputError, match="cannot list it"):
        read_flow_pairs(tmp_path / "loop")


def test_flows_without_end_are_refused(tmp_path: Path) -> None:
    save(tmp_path, [(([0, 10**12], [9]), ([5], [2]))])
    with pytest.raises(am.InputError, match="lasts 1e\\+09 s"):
        read_flow_pairs(tmp_path)
    with pytest.raises(am.InputError, match="longest_delay must be"):
        read_flow_pairs(tmp_path, longest_delay=0)


# ---- recordings apart in time, and laws

HOUR = 3_600_000  # milliseconds


def exchange(begin: int) -> tuple[Times, Times]:
    """One packet each way, 400 ms apart."""
    return ([begin], [begin + 900]), ([begin + 500], [begin + 400])


def test_recordings_that_do_not_overlap_are_told(tmp_path: Path) -> None:
    observation = read_flow_pairs(save(tmp_path, [exchange(number * HOUR) for number in range(3)]))

    assert len(observation.notes) == 1
    assert observation.notes[0].startswith("No two of the 3 recordings overlap in time")
    assert observation.notes[0].endswith("align='start'.")


def test_some_recordings_that_overlap_no_other_are_told(tmp_path: Path) -> None:
    observation = read_flow_pairs(save(tmp_path, [exchange(0), exchange(10), exchange(HOUR)]))

    assert observation.notes[0].startswith("1 of 3 recordings overlaps no other in time")


def test_recordings_that_overlap_need_no_note(tmp_path: Path) -> None:
    assert read_flow_pairs(save(tmp_path, [exchange(0), exchange(10)])).notes == ()


def test_aligned_recordings_are_those_that_began_together(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    gaps = [sorted(draw.integers(0, 300, 3).tolist()) for _ in range(6)]
    flows = [(([0, a], [a + b + 400]), ([b + 200], [c + 100])) for a, b, c in gaps]

    def moved(pair: tuple[Times, Times], by: int) -> tuple[Times, Times]:
        one, two = (([t + by for t in s], [t + by for t in r]) for s, r in pair)
        return one, two

    apart = save(tmp_path / "apart", [moved(pair, k * HOUR) for k, pair in enumerate(flows)])
    together = save(tmp_path / "together", flows)
    observation = read_flow_pairs(apart, align="start")
    expected = read_flow_pairs(together)

    assert observation.graph is not None
    assert expected.graph is not None
    assert observation.graph.rows().tolist() == expected.graph.rows().tolist()
    assert observation.graph.indices.tolist() == expected.graph.indices.tolist()
    assert observation.graph.n_edges > 6
    assert observation.mean_delay == pytest.approx(expected.mean_delay)
    assert observation.notes[-1] == "The 6 recordings were shifted in time to begin together."


@pytest.mark.parametrize(
    ("law", "longest"),
    [
        ("window:0,3", 3.0),
        ("timed:1.5", 1.5),
        ("exponential:0.1", 0.1 * 9 * np.log(10)),
        ("erlang:1,0.1", 0.1 * 9 * np.log(10)),
    ],
)
def test_flow_pairs_take_the_longest_delay_of_a_law(
    tmp_path: Path, law: str, longest: float
) -> None:
    observation = read_flow_pairs(save(tmp_path, [exchange(0)]), law=law)

    assert observation.longest_delay == pytest.approx(longest)


@pytest.mark.parametrize("hops", [2, 3, 10, 200])
def test_hardly_a_packet_takes_longer_than_the_longest_delay_of_an_erlang_law(hops: int) -> None:
    longest = _of_law(Erlang(hops, 0.05)) / 0.05
    terms = [k * np.log(longest) - longest - lgamma(k + 1) for k in range(hops)]

    assert np.logaddexp.reduce(terms) == pytest.approx(np.log(1e-9), abs=1e-6)
