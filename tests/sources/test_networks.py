"""Logs of networks: what is read, what is refused, and what is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.mixes import NetworkObservation, open_observation, synthesize_network, write_network
from anonymatch.mixes.networks.network_conditions import network_law

LOG = """time,from,to,message
0,ann,A,1
1,bob,A,2
2,A,B,1
3,B,x,1
4,A,B,2
5,B,y,2
"""
LINKS = "time,from,to\n"


def log(tmp_path: Path, text: str = LOG, name: str = "net.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_a_log_of_links_is_known_by_its_columns(tmp_path: Path) -> None:
    observation = open_observation(log(tmp_path), law="exponential")
    assert isinstance(observation, NetworkObservation)
    network = observation.network
    assert network.mixes == ("A", "B")
    assert network.links.layer.tolist() == [0, 1]
    assert observation.passage is not None
    assert observation.passage.users == ("ann", "bob")
    assert observation.passage.behaviours == ("x", "y")
    assert observation.truth is not None
    assert observation.truth.tolist() == [0, 1]
    assert observation.source == "a network of 2 mixes in 2 layers, each choosing uniformly"


@pytest.mark.parametrize("name", ["net.tsv", "net.csv.gz", "net.parquet", "net.jsonl"])
def test_every_format_of_tables_gives_the_same(tmp_path: Path, name: str) -> None:
    plain = am.audit(log(tmp_path), law="exponential")
    path = tmp_path / name
    write_network(pl.read_csv(log(tmp_path)), path)
    other = am.audit(path, law="exponential")
    assert other.users["user"].to_list() == plain.users["user"].to_list()
    assert other.users["shannon"].to_list() == plain.users["shannon"].to_list()


def test_times_may_be_dates_or_in_another_unit(tmp_path: Path) -> None:
    frame = pl.read_csv(log(tmp_path))
    dated = frame.with_columns(
        time=pl.Series([f"2026-01-01T00:00:0{k}Z" for k in frame["time"].to_list()])
    )
    write_network(dated, tmp_path / "dates.csv")
    write_network(frame.with_columns(time=pl.col("time") * 1000), tmp_path / "ms.csv")
    by_date = open_observation(tmp_path / "dates.csv", law="exponential")
    by_ms = open_observation(tmp_path / "ms.csv", law="exponential", unit="ms")
    assert isinstance(by_date, NetworkObservation)
    assert isinstance(by_ms, NetworkObservation)
    assert by_date.mean_delay == by_ms.mean_delay == 3.5


def test_who_sends_and_receives_is_no_mix_where_messages_are_known(tmp_path: Path) -> None:
    text = LOG.replace(",x,", ",bob,").replace(",y,", ",ann,")
    observation = open_observation(log(tmp_path, text), law="exponential")
    assert isinstance(observation, NetworkObservation)
    network = observation.network
    assert network.mixes == ("A", "B")


def test_messages_of_one_sender_are_named_by_their_numbers(tmp_path: Path) -> None:
    audit = am.audit(log(tmp_path, LOG.replace("bob", "ann")), law="exponential")
    assert audit.users["user"].to_list() == ["ann (1)", "ann (2)"]
    assert audit.people is not None
    plain = LOG.replace("bob", "ann").replace(",message", "").replace(",1\n", "\n")
    audit = am.audit(log(tmp_path, plain.replace(",2\n", "\n")), law="exponential")
    assert audit.users["user"].to_list() == ["ann #1", "ann #2"]


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        (LOG, {}, "net.csv: a log of a network needs a law"),
        (LOG, {"law": "exponental"}, "did you mean 'exponential'?"),
        (LOG, {"law": "window"}, "window needs 2 numbers"),
        (LOG, {"law": "window:8,9"}, "mix 'A': no way to match"),
        (LOG, {"corrupt": ("C",)}, "net.csv: there is no mix 'C' to be corrupt; mixes are 'A'"),
        (LOG, {"view": "ends"}, "view='ends' is for simulators' logs"),
        (LOG, {"law": "pool:2,2", "loss": 0.1}, "loss is for networks of exponential mixes"),
        (LOG, {"law": "exponential:1", "loss": {"A": 0.1, "C": 0.1}}, "loss names 'C', and no"),
        (LOG, {"law": "pool:1,0"}, "line 4: mix 'A' holds 2 packets or more, but the law lets"),
        (LOG, {"law": {"A": "exponential:1"}}, "law has no law for mix 'B'"),
        (LOG, {"law": {"A": "pool:2,2", "B": "exponential:1"}}, "law of mix 'A' is 'pool:2,2'"),
        (LOG.replace("2,A,B,1", "2,A,B,"), {"corrupt": "A"}, "csv: line 4: there is no message"),
        (LOG.replace("3,B,x,1\n", "1.5,B,x,1\n"), {}, "csv: line 4: message '1' comes from 'A'"),
        (LOG.replace("3,B,x,1\n", "3,C,x,1\n"), {}, "csv: line 5: message '1' comes from 'C'"),
        (LOG.replace("0,ann,A,1\n", ""), {"law": "pool:2,2"}, "message '1' leaves mix 'A'"),
        (LOG.replace("ann", "A"), {}, "csv: line 2: a packet goes from 'A' to itself"),
        (LOG.replace("0,ann,A,1", "zero,ann,A,1"), {}, "csv: line 2: the time is 'zero'"),
        (LOG.replace("0,ann,A,1", "0,,A,1"), {}, "csv: line 2: there is no from"),
        (f"{LINKS}0,ann,A\n1,bob,A\n", {}, "net.csv: nobody is a mix"),
        (f"{LINKS}0,ann,A\n1,A,x\n2,A,y\n", {"law": "pool:2,2"}, "line 4: a packet leaves mix"),
        (f"{LINKS}0,A,B\n1,B,A\n", {}, "packets go in a circle, from 'A' to 'B' to 'A'"),
        (f"{LINKS}0,ann,A\n1,A,x\n", {"corrupt": "A"}, "add a column 'message'"),
        (LINKS, {}, "net.csv: it has columns and no rows"),
        ("sent,from,to\n0,ann,A\n", {}, "'sent' and none 'received'"),
        ("time,sent,received,from,to\n0,0,0,ann,A\n", {}, "keep time, or the two others"),
        ("sent,received,from,to\n2,1,ann,A\n3,4,A,x\n", {}, "line 2: a packet is received before"),
        ("time,from,to,cover\n0,ann,A,maybe\n1,A,x,no\n", {}, "line 2: cover is 'maybe'"),
        ("time,from,to,cover\n0,ann,A,yes\n1,A,x,no\n", {}, "nobody who is no mix sends"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_log_is_one_line(
    tmp_path: Path, text: str, how: dict[str, Any], says: str
) -> None:
    options = how if "law" in how or says.endswith("needs a law") else how | {"law": "exponential"}
    with pytest.raises(am.InputError) as caught:
        am.audit(log(tmp_path, text), **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_laws_that_choose_uniformly_need_no_numbers() -> None:
    for law in ("exponential", "poisson", "pool", "threshold:5", "timed", "cottrell:1,2,0.5"):
        assert network_law(law).law is None
    assert network_law("erlang:2,1").law is not None


def test_a_packet_past_all_mixes_is_identified(tmp_path: Path) -> None:
    text = "time,from,to\n0,ann,A\n0.5,eve,z\n1,bob,A\n2,A,x\n3,A,y\n"
    audit = am.audit(log(tmp_path, text), law="exponential")
    rows = {row["user"]: row for row in audit.users.to_dicts()}
    assert rows["eve"]["guess"] == "z"
    assert rows["eve"]["probability"] == 1.0
    assert rows["ann"]["shannon"] == 1.0


def test_a_message_still_inside_says_so(tmp_path: Path) -> None:
    text = "time,from,to\n0,ann,A\n1,bob,A\n2,A,x\n"
    audit = am.audit(log(tmp_path, text), law="exponential")
    assert audit.users["departed"].to_list() == [0.5, 0.5]
    assert audit.users["inside"].to_list() == [0.5, 0.5]
    assert audit.identified == 0 or audit.users["probability"].to_list() == [0.5, 0.5]


# ---- made-up logs


@pytest.mark.parametrize("law", ["exponential:1", "pool:2,1", "timed:2", "window:1,3"])
@pytest.mark.parametrize("link", [0.0, 0.25])
def test_made_up_logs_keep_their_order_and_their_truth(law: str, link: float) -> None:
    log = synthesize_network("3x2", law, messages=200, rate=2.0, link=link, seed=4)
    times = log["sent" if link else "time"].to_numpy()
    assert (np.diff(times) > 0).all()
    ways = log.group_by("message", maintain_order=True).agg(pl.col("from"), pl.col("to"))
    for way in ways.to_dicts():
        assert way["from"][1:] == way["to"][:-1]
        assert way["from"][0].startswith("user")
    if link:
        assert ((log["received"] - log["sent"]) >= link - 1e-9).all()


def test_made_up_logs_come_from_their_seed() -> None:
    first, again, other = (
        synthesize_network("2x2", "pool:2,2", messages=50, seed=seed) for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("shape", ["", "0x3", "3x", "ring:3", "cascade:0", "free:3", "999x999"])
def test_a_network_of_no_known_shape_is_refused(shape: str) -> None:
    with pytest.raises(am.InputError, match="no network"):
        synthesize_network(shape, messages=5)


def test_a_cascade_is_a_network_of_width_one() -> None:
    cascade = synthesize_network("cascade:3", messages=20, seed=1)
    assert cascade.equals(synthesize_network("3x1", messages=20, seed=1))
    assert set(cascade["from"]) >= {"m1", "m2", "m3"}


@pytest.mark.parametrize("law", ["timed:1e-9", "timed-pool:1e-9,2,0.5", "binomial:1e-9,9,1"])
def test_a_clock_of_any_speed_is_drawn(law: str) -> None:
    # 1e11 ticks, at nearly all of which nobody leaves.
    log = am.mixes.synthesize_network("2x2", law, messages=200, rate=2.0, seed=3)
    assert log["message"].n_unique() == 200
    assert log["time"].is_sorted()


def test_coins_of_a_fast_clock_are_those_of_the_law() -> None:
    # Where 100 ticks go by between arrivals, it does not matter that idle ones are skipped: each
    # packet leaves by itself, with probability 0.01 a tick of 0.01 s: 1 s on average.
    log = am.mixes.synthesize_network("one", "binomial:0.01,0.01", messages=20_000, seed=4)
    times = log.sort("message", "time")["time"].to_numpy().reshape(-1, 2)
    delays = np.diff(times, axis=1).ravel()
    assert delays.mean() == pytest.approx(1.0, abs=0.03)
    assert np.quantile(delays, 0.9) == pytest.approx(np.log(10), abs=0.1)
