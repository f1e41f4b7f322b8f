"""Audits of networks of which every link is seen: exact, calibrated, and told who is worst."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audits.network_logs import all_histories, bits, drawn, entropy, marginals, written

import anonymatch as am
from anonymatch import _native
from anonymatch.mixes import (
    ForwardPlan,
    LinkedNetwork,
    NetworkObservation,
    forward_marginals,
    network_sample,
    open_observation,
    synthesize_network,
    two_layer_bits,
    write_network,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "networks.json").read_text())
G1, G2 = GOLDEN["g1"], GOLDEN["g2"]


@pytest.fixture
def g1(tmp_path: Path) -> Path:
    return written(tmp_path / "g1.csv", G1["rows"])


def links_of(path: Path, **how: Any) -> LinkedNetwork:
    observation = open_observation(path, law="exponential", **how)
    assert isinstance(observation, NetworkObservation)
    return observation.network.links


def posteriors(path: Path, **how: Any) -> np.ndarray:
    """Probability of each message to be each exit, by the kernel."""
    links = links_of(path, **how)
    return _native.network_rows(links.events, links.inside, links.sent)[:, links.out]


def test_a_small_network_has_the_posteriors_of_all_its_histories(g1: Path) -> None:
    audit = am.audit(g1, source="network", law="exponential")
    known = G1["uniform"]
    assert audit.count.value == known["histories"]
    assert audit.users["shannon"].to_list() == pytest.approx(known["own_bits"], abs=1e-12)
    assert posteriors(g1) == pytest.approx(np.array(known["posteriors"]), abs=1e-15)
    assert audit.bits.value * 5 == pytest.approx(known["who_bits"], abs=1e-12)
    assert audit.bound * 5 == pytest.approx(known["box_bits"], abs=1e-12)
    assert audit.exact


def test_a_corrupt_mix_passes_on_who_is_who(g1: Path) -> None:
    audit = am.audit(g1, source="network", law="exponential", corrupt=("A",))
    known = G1["corrupt_a"]
    assert audit.count.value == known["histories"]
    assert posteriors(g1, corrupt="A") == pytest.approx(np.array(known["posteriors"]), abs=1e-15)
    assert audit.bits.value * 5 == pytest.approx(known["who_bits"], abs=1e-12)
    assert audit.score is not None
    assert audit.score.impossible == 0


def test_all_mixes_corrupt_leave_nobody_hidden(g1: Path) -> None:
    audit = am.audit(g1, law="exponential", corrupt="A,B,C,D")
    assert audit.identified == 5
    assert audit.worst[0].reason == "met no mix that is not corrupt"
    assert audit.score is not None
    assert audit.score.right == 1.0


def test_laws_with_a_memory_multiply_the_posteriors_of_the_mixes(g1: Path) -> None:
    known = G1["gamma"]
    audit = am.audit(g1, law=known["law"])
    row = audit.users.row(0, named=True)
    assert row["guess"] == "x"
    assert row["probability"] == pytest.approx(known["u1"]["x"], abs=1e-6)
    assert row["shannon"] == pytest.approx(bits(np.array(list(known["u1"].values()))), abs=1e-5)
    assert audit.bits.value * 5 == pytest.approx(known["who_bits"], abs=1e-6)
    assert audit.count.log2 == pytest.approx(known["histories_bits"], abs=1e-3)


def test_free_routes_are_refused_as_the_product_would_be_wrong(tmp_path: Path) -> None:
    path = written(tmp_path / "g2.csv", G2["rows"], ("time", "from", "to"))
    with pytest.raises(am.InputError, match=r"g2.csv: packets go in a circle, from 'A' to 'B' to"):
        am.audit(path, law="exponential")
    # What the product would say, and what all legal histories say: each packet passes two mixes.
    legal = _two_hops(G2["rows"])
    assert len(legal) == 4
    assert {exits[1] for exits in legal} == {1}
    from_, to = [-1, -1, -1, 0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1, -1, -1, -1]
    events = _native.NetworkEvents(
        np.array(from_, np.int32), np.array(to, np.int32), np.full(9, -1), 2
    )
    rows = _native.network_rows(events, _native.network_inside(events), np.array([1]))
    assert rows[0, 7] == G2["product"]


def _two_hops(rows: list[Any]) -> list[tuple[int, ...]]:
    """Exits of all histories of G2 in which every packet passes two mixes."""
    found: list[tuple[int, ...]] = []

    def go(at: int, inside: dict[str, tuple[tuple[int, int], ...]], out: tuple[int, ...]) -> None:
        if at == len(rows):
            found.append(out)
            return
        _, source, target = rows[at]
        choices = inside[source] if source in inside else ((int(source[1]) - 1, 0),)
        for packet, hops in choices:
            after = dict(inside)
            if source in inside:
                after[source] = tuple(o for o in choices if o[0] != packet)
            if target in after:
                after[target] = (*after[target], (packet, hops + 1))
                go(at + 1, after, out)
            elif hops == 2:
                go(at + 1, after, (*out, packet))

    go(0, {"A": (), "B": ()}, ())
    return found


@pytest.mark.grid(quick=5)
@pytest.mark.parametrize("seed", range(12))
def test_random_networks_agree_with_all_their_histories(tmp_path: Path, seed: int) -> None:
    rows = drawn(seed, packets=4 + seed % 3, layers=1 + seed % 3)
    order = np.random.default_rng(seed).permutation(len(rows))
    path = written(tmp_path / "log.csv", [rows[k] for k in order])
    for law, weigh in (
        ("exponential", lambda delay: 1.0),
        ("erlang:2,0.7", lambda delay: delay * math.exp(-delay / 0.7)),
    ):
        solution = all_histories(rows, weigh)
        audit = am.audit(path, law=law, whole_log=True)
        packets = [int(user[1:]) for user in audit.users["user"].to_list()]
        table = marginals(solution, len(packets))[packets]
        expected = [bits(row) for row in table]
        assert audit.users["shannon"].to_list() == pytest.approx(expected, abs=1e-9)
        assert audit.users["probability"].to_list() == pytest.approx(table.max(axis=1), abs=1e-9)
        joint = entropy(solution)
        assert audit.bits.low * len(packets) - 1e-9 <= joint
        assert joint <= audit.bits.high * len(packets) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_joint_bits_hold_where_packets_stay_inside(tmp_path: Path, seed: int) -> None:
    rows = drawn(seed, packets=5)
    rows = [row for row in rows if row[0] < rows[-1][0] * 0.7]
    names = {row[1] for row in rows} & {row[2] for row in rows}
    if not names:
        pytest.skip("nothing came through")
    path = written(tmp_path / "log.csv", rows, ("time", "from", "to"))
    audit = am.audit(path, law="exponential", whole_log=True)
    joint, number = entropy(all_histories(rows)), audit.n_users
    assert audit.bits.low * number - 1e-9 <= joint <= audit.bits.high * number + 1e-9


def test_rows_of_one_time_are_one_by_one_where_the_file_tells_their_order(tmp_path: Path) -> None:
    rows = [
        (0, "a", "A"),
        (1, "A", "B"),
        (1, "b", "A"),
        (1, "B", "x"),
        (1, "A", "B"),
        (1, "B", "y"),
    ]
    late = [rows[0], *rows[2:4], *rows[4:], rows[1]]  # B sends on what it has not got

    def own(name: str, some: list[Any]) -> list[float]:
        path = written(tmp_path / f"{name}.csv", some, ("time", "from", "to"))
        return [float(one) for one in am.audit(path, law="exponential").users["shannon"]]

    assert own("in order", rows) == [0.0, 0.0]
    # Else those who arrive come before those who leave: the file tells no order, or a wrong one.
    assert own("out of order", rows[::-1]) == own("impossible", late) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("law", "mix"),
    [
        ("threshold", _native.NetworkMix("batch", batch=10)),
        ("pool", _native.NetworkMix("batch", batch=4, kept=3)),
    ],
)
def test_batches_at_one_instant_have_the_bits_of_the_simulation_that_drew_them(
    tmp_path: Path, law: str, mix: _native.NetworkMix
) -> None:
    draw = np.random.default_rng(6)
    arrivals = np.repeat(np.arange(60.0), 12)
    routes = (draw.integers(0, 3, (len(arrivals), 3)) + 3 * np.arange(3)).astype(np.int32)
    log = _native.network_draw(arrivals, routes, 9, mix, seed=5)
    events = _native.NetworkEvents(log.from_, log.to, np.full(len(log.from_), -1), 9)
    targets = np.flatnonzero(log.from_ == _native.OUTSIDE)
    simulated = _native.network_forward(
        events, _native.network_inside(events), targets, lanes=32
    ).shannon
    rows = [
        (
            time,
            f"user {packet}" if from_ == _native.OUTSIDE else f"m{from_}",
            f"receiver {packet}" if to == _native.OUTSIDE else f"m{to}",
        )
        for time, from_, to, packet in zip(log.time, log.from_, log.to, log.packet, strict=True)
    ]
    path = written(tmp_path / "log.csv", rows, ("time", "from", "to"))
    audit = am.audit(path, law=law, whole_log=True)
    by_user = dict(zip(audit.users["user"], audit.users["shannon"], strict=True))
    early = targets[:200]  # who have left when the log ends
    seen = [by_user[f"user {packet}"] for packet in log.packet[early].tolist()]
    assert seen == pytest.approx(simulated[:200].tolist(), abs=1e-9)


def test_links_that_take_time_are_followed_on_their_way(tmp_path: Path) -> None:
    log = synthesize_network("3x2", "exponential:1", messages=300, rate=3.0, link=0.2, seed=3)
    write_network(log, tmp_path / "links.csv")
    audit = am.audit(tmp_path / "links.csv", law="exponential")
    assert audit.score is not None
    assert audit.score.calibrated
    # A link of no time is the same as one event.
    short = synthesize_network("3x2", "exponential:1", messages=300, rate=3.0, seed=3)
    write_network(short, tmp_path / "one.csv")
    two = short.rename({"time": "sent"}).with_columns(received=short["time"])
    write_network(two, tmp_path / "two.parquet")
    one, both = (
        am.audit(tmp_path / name, law="exponential").users["shannon"].to_list()
        for name in ("one.csv", "two.parquet")
    )
    assert one == both


@pytest.mark.parametrize(
    "law",
    ["exponential:2", "threshold:4", "timed:3", "pool:3,4", "timed-pool:3,4", "binomial:2,0.4",
     "cottrell:2,3,0.6", "timed-pool:2,3,0.5", "binomial:2,6,3"],
)  # fmt: skip
def test_every_law_that_chooses_uniformly_keeps_its_promises(tmp_path: Path, law: str) -> None:
    path = tmp_path / "log.parquet"
    write_network(synthesize_network("3x2", law, messages=2500, rate=4.0, seed=7), path)
    audit = am.audit(path, law=law)
    score, truth = audit.score, audit.answers.true_exit
    assert score is not None
    assert truth is not None
    assert score.calibrated
    # The probability of the true exit is on average the sum of squares that posteriors promise.
    users = audit.answers.users
    assert audit.observation.truth is not None
    assert audit.ceiling is not None
    known = np.flatnonzero(audit.observation.truth >= 0)
    promised = 2.0 ** -users.renyi2.value[known]
    error = math.sqrt(float((promised * (1 - promised)).sum())) / len(known)
    assert abs(float(truth[known].mean() - promised.mean())) < 4 * error
    assert (
        float((audit.answers.users.shannon_all or users.shannon).value.mean())
        <= audit.ceiling.value
    )


def test_a_corrupt_mix_in_each_layer_keeps_promises_and_identifies_some(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_network(synthesize_network("3x3", "exponential:2", messages=3000, rate=4.0, seed=2), path)
    audit = am.audit(path, law="exponential", corrupt="m1,m4,m7")
    assert audit.score is not None
    assert audit.score.calibrated
    assert 0.02 < audit.identified / audit.n_counted < 0.06  # 1 in 27 takes corrupt mixes only
    assert audit.worst[0].reason == "met no mix that is not corrupt"


@pytest.mark.slow
def test_the_ceiling_is_never_exceeded(tmp_path: Path) -> None:
    laws = ("exponential:1", "pool:2,3", "threshold:3", "timed:2", "binomial:1,0.5")
    for seed in range(60):
        shape, law = ("one", "cascade:2", "2x2", "3x2")[seed % 4], laws[seed % 5]
        log = synthesize_network(shape, law, messages=5 + seed, rate=1.0 + seed / 20, seed=seed)
        path = tmp_path / "log.csv"
        write_network(log, path)
        audit = am.audit(path, law=law, whole_log=True)
        users = audit.answers.users
        own = users.shannon if users.shannon_all is None else users.shannon_all
        assert audit.ceiling is not None
        assert float(own.value.mean()) <= audit.ceiling.value + 1e-9
        path.unlink()


def test_a_pool_that_swaps_one_at_a_time_nearly_reaches_the_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_network(synthesize_network("one", "pool:1,6", messages=3000, seed=1), path)
    audit = am.audit(path, law="pool:1,6")
    assert audit.ceiling is not None
    assert audit.entropy.value == pytest.approx(audit.ceiling.value, abs=0.01)


# ---- cover


def test_cover_hides_others_and_is_nobody(tmp_path: Path) -> None:
    log = synthesize_network("2x2", "exponential:2", messages=400, rate=2.0, cover=1.0, seed=5)
    write_network(log, tmp_path / "log.csv")
    hidden = am.audit(tmp_path / "log.csv", law="exponential")
    seen = am.audit(tmp_path / "log.csv", law="exponential", cover_visible=True)
    alone = am.audit(
        written(tmp_path / "real.csv", log.filter(~log["cover"]).rows()), law="exponential"
    )
    assert hidden.n_users == seen.n_users == alone.n_users == 400
    assert hidden.cost.cover == pytest.approx(0.5, abs=0.1)
    assert seen.users["shannon"].to_list() == alone.users["shannon"].to_list()
    assert hidden.entropy.value > seen.entropy.value + 0.5
    assert hidden.bits.high <= hidden.entropy.high + 0.1  # per packet, and cover is as well hidden


def test_a_dummy_that_a_mix_drops_or_makes_is_told_to_the_attacker(tmp_path: Path) -> None:
    rows = [
        (0, "a", "A", 1, False), (0.5, "d", "A", 2, True), (1, "b", "A", 3, False),
        (1.5, "A", "z", 4, True), (2, "A", "x", 1, False), (3, "A", "y", 3, False),
    ]  # fmt: skip
    columns = ("time", "from", "to", "message", "cover")
    audit = am.audit(written(tmp_path / "log.csv", rows, columns), law="exponential")
    assert audit.users["user"].to_list() == ["a", "b"]
    assert audit.users["shannon"].to_list() == [1.0, 1.0]
    assert audit.count.value == 2


# ---- samples


def test_a_sample_with_the_worst_holds_what_all_messages_show(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    write_network(
        synthesize_network("2x2", "exponential:2", messages=20_000, rate=6.0, seed=9), path
    )
    every = am.audit(path, law="exponential")
    some = am.audit(path, law="exponential", budget=0.01)
    assert every.answers.chosen is None
    assert some.answers.chosen is not None
    assert some.confidence == 0.99
    assert not some.exact
    assert some.n_users == every.n_users == 20_000
    assert some.entropy.low <= every.entropy.value <= some.entropy.high
    assert some.entropy.high - some.entropy.low < 0.1
    for share in (0.01, 0.05, 0.5):
        quantile = some.entropy_quantile(share)
        assert quantile.low <= every.entropy_quantile(share).value <= quantile.high
    assert some.identified_share.low <= every.identified_share.value <= some.identified_share.high
    assert (some.bits.low, some.bits.high) == (every.bits.low, every.bits.high)
    # Those that meet the fewest are all among them.
    met = links_of(path).first_met()[1]
    assert set(np.flatnonzero(met == met.min())[:600]) <= set(some.answers.chosen.tolist())


def test_a_sample_stands_for_all_messages() -> None:
    sample = network_sample(np.arange(1000), size=100, worst=10, seed=3)
    assert len(sample.chosen) == 110
    assert sample.weights.sum() == pytest.approx(1000)
    assert set(range(10)) <= set(sample.chosen.tolist())
    assert (sample.weights[:10] == 1.0).all()


def test_threads_and_the_order_of_targets_do_not_change_posteriors(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    write_network(synthesize_network("3x2", "exponential:2", messages=3000, rate=5.0), path)
    links = links_of(path)
    plan = ForwardPlan(links)
    every = forward_marginals(plan, np.arange(3000))
    third = forward_marginals(plan, np.arange(0, 3000, 3))
    assert every.shannon[::3] == pytest.approx(third.shannon, abs=1e-9)
    with ThreadPoolExecutor(2) as threads:
        spread = am.audit(path, law="exponential", executor=threads)
    assert (
        spread.users["shannon"].to_list()
        == am.audit(path, law="exponential").users["shannon"].to_list()
    )
    assert every.error < 1e-9


def test_permanents_of_drawn_histories_hold_the_bits_of_two_layers(tmp_path: Path) -> None:
    missed = 0
    for seed in range(12):
        rows = drawn(seed, packets=6, layers=2)
        links = links_of(written(tmp_path / "log.csv", rows))
        found = two_layer_bits(links, draws=100, seed=seed)
        assert found is not None
        joint = entropy(all_histories(rows))
        missed += not found.low - 1e-9 <= joint <= found.high + 1e-9
    assert missed <= 1
    three = links_of(written(tmp_path / "log.csv", drawn(1, layers=3)))
    assert two_layer_bits(three) is None


def test_an_interval_of_joint_bits_of_two_layers_has_its_estimate_between(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_network(synthesize_network("2x2", "exponential:3", messages=60, seed=1), path)
    audit = am.audit(path, law="exponential")
    assert audit.bits.low < audit.bits.value < audit.bits.high
    assert any("by permanents of drawn histories" in note for note in audit.notes)


def test_an_audit_of_a_network_goes_on_from_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.running.budget._RECORDS_PAY_FROM", 0.0)
    path = tmp_path / "log.parquet"
    write_network(synthesize_network("2x2", "exponential:2", messages=500, rate=5.0), path)
    answers = []
    for _ in range(2):
        with am.Checkpoint(tmp_path / "run") as run:
            answers.append(am.audit(path, law="exponential", executor=run))
    assert answers[0].users.equals(answers[1].users)


def test_a_corrupt_mix_leaves_the_others_their_memory(g1: Path, tmp_path: Path) -> None:
    law = G1["gamma"]["law"]
    audit = am.audit(g1, law=law, corrupt="A")
    # Of u1 only C is left, where link events at 2.5, 3.5 and 6 s leave at 5.5, 8 and 9 s.
    delays = np.array([5.5, 8.0, 9.0]) - np.array([[2.5], [3.5], [6.0]])
    weights = np.where(delays > 0, delays * np.exp(-1.1 * delays), 0.0)
    row = am.posterior(am.Graph.from_biadjacency(weights)).matrix.toarray()[0]
    assert audit.users["shannon"][0] == pytest.approx(bits(row), abs=1e-9)
    assert audit.users["probability"][0] == pytest.approx(row.max(), abs=1e-9)
    # Links that take no time are the same log.
    two = [(row[0], row[0], *row[1:]) for row in G1["rows"]]
    columns = ("sent", "received", "from", "to", "message")
    linked = am.audit(written(tmp_path / "two.csv", two, columns), law=law, corrupt="A")
    assert linked.users["shannon"].to_list() == pytest.approx(
        audit.users["shannon"].to_list(), abs=1e-12
    )


def test_a_log_that_ends_in_mid_traffic_keeps_its_promises(tmp_path: Path) -> None:
    for law in ("exponential:2", "window:1,4"):
        log = synthesize_network("2x2", law, messages=600, rate=2.0, seed=3)
        path = tmp_path / "log.csv"
        times = log["time"].to_numpy()
        write_network(log.filter(times < 0.5 * times.max()), path)
        audit = am.audit(path, law=law)
        assert audit.score is not None
        assert audit.score.calibrated
        departed = audit.users["departed"].to_numpy()
        assert departed.min() < 1.0
        assert departed.max() == pytest.approx(1.0)
        path.unlink()


def test_rows_of_one_message_at_one_time_chain_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "tie.csv"
    path.write_text("time,from,to,message\n2,m,x,p\n2,a,m,p\n2,b,m,q\n3,m,y,q\n")
    audit = am.audit(path, source="network", law="exponential", whole_log=True)
    assert audit.entropy.value == pytest.approx(1.0)
