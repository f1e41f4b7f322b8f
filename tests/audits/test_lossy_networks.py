"""Audits of link logs with losses, cover traffic and a cut start: exact, fitted and calibrated."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.audits.link_logs import simulated_links, tiny_loops, tiny_network, write_links

import anonymatch as am


def own_bits(fates: dict[int | str, float]) -> float:
    """Return the entropy over exits, given that the message came out."""
    exits = [p for to, p in fates.items() if isinstance(to, int)]
    left = sum(exits)
    return -sum(p / left * math.log2(p / left) for p in exits if p > 0.0) if left > 0.0 else 0.0


@pytest.mark.grid(quick=3)
@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("drained", [False, True])
def test_audit_of_a_tiny_network_equals_all_histories(
    tmp_path: Path, cover: bool, cut: bool, drained: bool
) -> None:
    compared = 0
    for seed in range(12):
        network = tiny_network(seed, cover=cover, cut=cut, drained=drained)
        fates = network.fates()
        path = network.write(tmp_path / "links.csv")
        if fates is None:
            with pytest.raises(
                am.InputError, match=r"no matching explains its packets|did not leave: give loss"
            ):
                am.audit(path, **network.how())
            continue
        if all(set(one) <= {"lost", "inside"} for one in fates):
            continue
        users = am.audit(path, **network.how()).users
        columns = {name: users[name].to_list() for name in users.columns}
        number = len(fates)
        departed = columns.get("departed", [1.0] * number)
        lost, inside = (columns.get(name, [0.0] * number) for name in ("lost", "inside"))
        for k, fate in enumerate(fates):
            exits = sum(p for to, p in fate.items() if isinstance(to, int))
            assert departed[k] == pytest.approx(exits, abs=1e-10)
            assert lost[k] == pytest.approx(fate.get("lost", 0.0), abs=1e-10)
            assert inside[k] == pytest.approx(fate.get("inside", 0.0), abs=1e-10)
            assert columns["shannon"][k] == pytest.approx(own_bits(fate), abs=1e-9)
            compared += 1
    assert compared >= 10


def test_entropy_of_a_lossy_network_does_not_grow_with_the_log(tmp_path: Path) -> None:
    entropies = {}
    for seconds in (60, 240):
        rows = simulated_links(1, loss=0.01, seconds=seconds)
        path = write_links(tmp_path / "links.csv", rows)
        given = am.audit(path, source="network", law="exponential:0.5", loss=0.01)
        fitted = am.audit(path, source="network", law="exponential:0.5")
        assert fitted.entropy.value == pytest.approx(given.entropy.value, abs=0.005)
        assert any("Loss fitted" in note and "standard deviation" in note for note in fitted.notes)
        assert given.exact
        entropies[seconds] = given.entropy.value
    assert abs(entropies[240] - entropies[60]) < 0.25
    assert entropies[240] < 5.0  # 6.0 and more if lost packets stay inside for ever


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_log_score_shows_losses_that_are_left_out(tmp_path: Path, seed: int) -> None:
    """Also where scores are too low at first, too high in the end, and right on average."""
    rows = simulated_links(seed, loss=0.05, seconds=60)
    path = write_links(tmp_path / "links.csv", rows, message=True)
    fitted, without = (
        am.audit(path, source="network", law="exponential:0.5", loss=loss).score
        for loss in (None, 0.0)
    )
    assert fitted is not None
    assert without is not None
    assert fitted.calibrated
    assert not without.calibrated


def test_losses_are_fitted_without_a_mean_delay(tmp_path: Path) -> None:
    path = write_links(tmp_path / "links.csv", simulated_links(2, loss=0.02, seconds=60))
    known = am.audit(path, source="network", law="exponential:0.5", loss=0.02)
    fitted = am.audit(path, source="network", law="exponential")
    assert any("Mean delay per hop fitted" in note for note in fitted.notes)
    assert fitted.entropy.value == pytest.approx(known.entropy.value, abs=0.1)


def test_lossless_logs_are_audited_without_losses(tmp_path: Path) -> None:
    for seed in range(8):
        path = write_links(tmp_path / "links.csv", simulated_links(seed, seconds=30, warm=0.0))
        audit = am.audit(path, source="network", law="exponential:0.5")
        assert not any("fitted" in note for note in audit.notes)
        same = am.audit(path, source="network", law="exponential")
        assert same.entropy.value == pytest.approx(audit.entropy.value, abs=1e-9)


def test_cut_log_is_audited_with_packets_inside_at_the_start(tmp_path: Path) -> None:
    rows = simulated_links(3, loss=0.01, seconds=40, warm=20)
    for message in (False, True):
        path = write_links(tmp_path / "links.csv", rows, message=message)
        audit = am.audit(path, source="network", law="exponential:0.5", since=0, until=40)
        assert any("starts in running traffic" in note for note in audit.notes)
        assert 4.0 < audit.entropy.value < 5.0
    later = am.audit(path, source="network", law="exponential:0.5", since=10)
    assert any("starts in running traffic" in note for note in later.notes)
    assert len(later.users) < len(audit.users)


@pytest.mark.parametrize("message", [False, True])
def test_mixes_of_a_cut_log_are_those_of_the_whole_log(tmp_path: Path, message: bool) -> None:
    rows = ["0,a,m1,1", "0.5,b,m1,2", "1,m1,m2,1", "1.2,m1,m2,2", "1.5,m2,x,1", "2,m2,y,2"]
    kept = rows if message else [row.rsplit(",", 1)[0] for row in rows]
    path = tmp_path / "links.csv"
    path.write_text("\n".join(["time,from,to" + ",message" * message, *kept]))
    how: dict[str, Any] = {"source": "network", "law": "exponential:1"}

    early = am.audit(path, until=1.1, **how)  # m2 sends nothing yet, and receives nothing for good
    assert "2 mixes" in early.observation.source
    assert (early.n_users, early.n_behaviours, early.identified) == (2, 0, 0)
    with pytest.raises(am.InputError, match="nobody who is no mix sends a message"):
        am.audit(path, since=1.1, **how)  # m1 is no user, though nothing comes to it any more


def test_exit_dummies_are_fitted_where_more_packets_leave(tmp_path: Path) -> None:
    path = write_links(tmp_path / "links.csv", simulated_links(4, cover=0.5, seconds=60))
    audit = am.audit(path, source="network", law="exponential:0.5")
    notes = [note for note in audit.notes if "Cover traffic fitted" in note]
    assert len(notes) == 1
    assert all(f"{mix} " in notes[0] for mix in ("m7", "m8", "m9"))
    assert not any("Loss fitted" in note for note in audit.notes)


def test_losses_and_exit_dummies_are_fitted_in_different_mixes(tmp_path: Path) -> None:
    rows = simulated_links(4, loss=0.02, cover=0.5, seconds=100)
    path = write_links(tmp_path / "links.csv", rows)
    fitted = am.audit(path, source="network", law="exponential:0.5")
    notes = " ".join(str(note) for note in fitted.notes)
    assert "Loss fitted" in notes
    assert "Cover traffic fitted" in notes
    cover = {f"m{k}": 0.5 for k in (7, 8, 9)}
    given = am.audit(path, source="network", law="exponential:0.5", loss=0.02, cover_rate=cover)
    assert fitted.entropy.value == pytest.approx(given.entropy.value, abs=0.1)


@pytest.mark.parametrize("seed", [3, 5])
def test_mixes_that_send_dummies_do_not_make_the_losses_of_others_differ(
    tmp_path: Path, seed: int
) -> None:
    rows = simulated_links(seed, loss=0.01, cover=0.3, seconds=100)
    path = write_links(tmp_path / "links.csv", rows)
    fitted = am.audit(path, source="network", law="exponential:0.5")
    notes = " ".join(str(note) for note in fitted.notes)
    assert "per hop, standard deviation" in notes
    assert "mixes differ" not in notes
    cover = {f"m{k}": 0.3 for k in (7, 8, 9)}
    given = am.audit(path, source="network", law="exponential:0.5", loss=0.01, cover_rate=cover)
    assert fitted.entropy.value == pytest.approx(given.entropy.value, abs=0.02)


def test_corrupt_mixes_lower_the_entropy_of_a_lossy_network(tmp_path: Path) -> None:
    rows = simulated_links(5, loss=0.02, seconds=30)
    path = write_links(tmp_path / "links.csv", rows, message=True)
    how: dict[str, Any] = {"source": "network", "law": "exponential:0.5", "loss": 0.02}
    honest, corrupt = am.audit(path, **how), am.audit(path, corrupt=("m1", "m5"), **how)
    assert corrupt.entropy.value < honest.entropy.value - 0.2
    everything = am.audit(path, corrupt=[f"m{k}" for k in range(1, 10)], **how)
    assert everything.entropy.value == pytest.approx(0.0, abs=1e-9)


def test_conditions_by_mix_equal_one_value_for_all(tmp_path: Path) -> None:
    path = write_links(tmp_path / "links.csv", simulated_links(6, loss=0.02, seconds=20))
    mixes = [f"m{k}" for k in range(1, 10)]
    one = am.audit(path, source="network", law="exponential:0.5", loss=0.02)
    each = am.audit(
        path,
        source="network",
        law=dict.fromkeys(mixes, "exponential:0.5"),
        loss=dict.fromkeys(mixes, 0.02),
    )
    assert each.entropy == one.entropy


def lost_rows(log: pl.DataFrame, share: float, seed: int) -> pl.DataFrame:
    """Return the log without the rows of packets after the mix in which they are lost."""
    random = np.random.default_rng(seed)
    message = log["message"].to_numpy()
    hop = log.select(pl.int_range(pl.len()).over("message")).to_series().to_numpy()
    lost = random.geometric(share, int(message.max()) + 1)  # entries until one is lost
    return log.filter(pl.Series(hop < lost[message]))


OTHER_LAWS = [
    "timed:2", "timed-pool:2,5", "timed-pool:2,3,0.5", "binomial:2,0.5", "binomial:2,10,4",
    "cottrell:2,5,0.6", "threshold:5", "pool:5,5", "erlang:2,0.5", "lognormal:1,0.5",
    "window:0.2,1",
]  # fmt: skip


@pytest.mark.grid(quick=3)
@pytest.mark.parametrize("law", OTHER_LAWS)
def test_missing_packets_are_refused_unless_the_law_lets_them_be_inside(
    tmp_path: Path, law: str
) -> None:
    path = tmp_path / "links.csv"
    for seed in range(4):
        log = am.mixes.synthesize_network("3x3", law, messages=400, rate=4.0, seed=seed)
        cut = log.filter(pl.col("time") < 70.0 + seed).drop("message")
        am.mixes.write_network(cut, path)
        observation = am.mixes.read_network(path, law=law)
        assert any("assumed inside at the end" in note for note in observation.notes)
        am.mixes.write_network(lost_rows(log, 0.04, seed).drop("message"), path)
        with pytest.raises(am.InputError) as refused:
            am.mixes.read_network(path, law=law)
        text = str(refused.value)
        assert "lets fewer be inside" in text or "packets were lost" in text
        assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "law"), [("timed", "timed:2"), ("threshold", "threshold:5"), ("pool", "pool:5,5")]
)
def test_missing_packets_are_refused_under_laws_without_numbers(
    tmp_path: Path, name: str, law: str
) -> None:
    path = tmp_path / "links.csv"
    log = am.mixes.synthesize_network("2x2", law, messages=400, rate=4.0, seed=1)
    am.mixes.write_network(log.filter(pl.col("time") < 70.0).drop("message"), path)
    assert am.audit(path, source="network", law=name).exact
    am.mixes.write_network(lost_rows(log, 0.02, 1).drop("message"), path)
    with pytest.raises(am.InputError, match=f"the {name} law lets fewer be inside"):
        am.audit(path, source="network", law=name)


def test_missing_packets_of_coins_need_the_numbers_of_the_law(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    log = am.mixes.synthesize_network("2x2", "binomial:2,0.5", messages=200, rate=4.0, seed=1)
    am.mixes.write_network(log.filter(pl.col("time") < 40.0).drop("message"), path)
    assert am.audit(path, source="network", law="binomial:2,0.5").exact
    with pytest.raises(am.InputError, match="the numbers of the law show whether"):
        am.audit(path, source="network", law="binomial")
    with pytest.raises(am.InputError, match="the mixes are empty at the end"):
        am.audit(path, source="network", law="binomial:2,0.5", drained=True)


def test_flagged_losses_are_refused_in_mixes_that_flush(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("time,from,to,lost\n0,u,A,false\n1,v,A,true\n2,A,x,false\n", "utf-8")
    with pytest.raises(am.InputError, match="column 'lost' has lost packets"):
        am.audit(path, source="network", law="timed:2")


def test_flags_of_losses_and_dummies_set_the_rates(tmp_path: Path) -> None:
    rows = simulated_links(9, loss=0.03, cover=0.4, seconds=40)
    last = {row.packet: row for row in rows}
    lines = ["time,from,to,message,cover,lost"]
    for row in rows:
        lost = last[row.packet] is row and row.to.startswith("m") and row.time < 35
        lines.append(
            f"{float(row.time)!r},{row.from_},{row.to},{row.packet},"
            f"{str(row.kind == 'cover').lower()},{str(lost).lower()}"
        )
    path = tmp_path / "links.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    audit = am.audit(path, source="network", law="exponential:0.5")
    notes = [str(note) for note in audit.notes if "by the flags of the log" in str(note)]
    assert len(notes) == 1
    assert "Cover traffic of" in notes[0]
    assert "a loss of 0.03" in notes[0] or "a loss of 0.02" in notes[0]
    cover = {f"m{k}": 0.4 for k in (7, 8, 9)}
    given = am.audit(path, source="network", law="exponential:0.5", loss=0.03, cover_rate=cover)
    assert audit.entropy.value == pytest.approx(given.entropy.value, abs=0.05)
    assert len(audit.users) == sum(row.from_.startswith("u") for row in rows)


def test_loops_of_mixes_are_estimated_with_and_without_messages(tmp_path: Path) -> None:
    rows = simulated_links(7, loss=0.01, loops=0.3, seconds=30, warm=10)
    how: dict[str, Any] = {"source": "network", "law": "exponential:0.5", "since": 0, "until": 30}
    hidden = write_links(tmp_path / "links.csv", rows)
    shown = write_links(tmp_path / "messages.csv", rows, message=True)
    audits = [
        am.audit(hidden, **how),
        am.audit(shown, **how),
        am.audit(hidden, loop_rate=0.3, loss=0.01, **how),
    ]
    for audit in audits:
        assert not audit.exact
        assert any(str(note).startswith("approximate (loops)") for note in audit.notes)
        assert audit.entropy.high - audit.entropy.low > 0.1
    entropies = [audit.entropy.value for audit in audits]
    assert max(entropies) - min(entropies) < 0.1
    assert any("are mix loops" in str(note) for note in audits[0].notes)
    assert any("Loops by the column 'message'" in str(note) for note in audits[1].notes)


@pytest.mark.parametrize("message", [False, True])
def test_losses_are_fitted_beside_loops(tmp_path: Path, message: bool) -> None:
    fitted = []
    for loss in (0.0, 0.01):
        rows = simulated_links(5, loss=loss, loops=0.3, seconds=120, warm=10)
        log = write_links(tmp_path / "links.csv", rows, message=message)
        audit = am.audit(log, source="network", law="exponential:0.5", since=0, until=120)
        fitted.append([str(note) for note in audit.notes if "Loss fitted" in str(note)])
    assert fitted[0] == []
    assert len(fitted[1]) == 1
    assert "0.00" in fitted[1][0] or "0.01" in fitted[1][0]


def test_drained_mixes_with_missing_packets_ask_for_losses(tmp_path: Path) -> None:
    rows = simulated_links(3, loss=0.05, seconds=30)
    log = write_links(tmp_path / "links.csv", rows)
    with pytest.raises(am.InputError, match=r"that entered it did not leave: give loss"):
        am.audit(log, source="network", law="exponential:0.5", loss={"m1": 0.05}, drained=True)


def test_packets_that_leave_the_network_first_show_running_traffic_beside_loops(
    tmp_path: Path,
) -> None:
    rows = simulated_links(21, width=2, users=6, loops=0.3, loss=0.01, seconds=30, warm=10)
    path = write_links(tmp_path / "links.csv", rows)
    audit = am.audit(path, source="network", law="exponential:0.5")
    assert "starts in running traffic" in " ".join(str(note) for note in audit.notes)
    assert audit.entropy.value > 3.0


def test_loops_of_tiny_networks_are_close_to_all_histories(tmp_path: Path) -> None:
    errors = []
    for seed in range(60):
        network = tiny_loops(seed, mixes=2)
        fates = None if network is None else network.fates()
        if network is None or fates is None:
            continue
        audit = am.audit(network.write(tmp_path / "links.csv"), **network.how())
        assert not audit.exact
        shannon = audit.users["shannon"].to_list()
        errors += [abs(bits - own_bits(fate)) for bits, fate in zip(shannon, fates, strict=True)]
    assert len(errors) > 30
    assert np.mean(errors) < 0.01
    assert max(errors) < 0.15


def test_loops_through_the_outside_are_absorbed_like_losses(tmp_path: Path) -> None:
    rows = simulated_links(8, loss=0.01, seconds=40)
    path = write_links(tmp_path / "links.csv", rows)
    audit = am.audit(path, source="network", law="exponential:0.5", loss=0.01, loop_rate=0.1)
    assert not audit.exact
    assert np.mean(audit.users["lost"].to_numpy()) < 0.1  # a message is never absorbed


@pytest.mark.slow
def test_lossy_networks_are_calibrated_by_the_log_score(tmp_path: Path) -> None:
    differences, entropies = [], []
    for seed in range(24):
        rows = simulated_links(seed, loss=0.01, cover=0.3, seconds=150, warm=20)
        path = write_links(tmp_path / "links.csv", rows, message=True)
        cover = {f"m{k}": 0.3 for k in (7, 8, 9)}
        difference, entropy = log_score(path, cover_rate=cover)
        differences.append(difference)
        entropies.append(entropy)
    error = np.std(differences) / math.sqrt(len(differences))
    assert abs(np.mean(differences)) < 3.0 * error + 0.002
    assert error < 0.02
    assert np.mean(entropies) == pytest.approx(4.58, abs=0.05)


def log_score(path: Path, **how: Any) -> tuple[float, float]:
    """Return the mean of -log2 p(true exit) minus the entropy, and the entropy."""
    audit = am.audit(path, source="network", law="exponential:0.5", loss=0.01, **how)
    scores, entropies = true_scores(audit)
    return float((scores - entropies).mean()), audit.entropy.value


def true_scores(audit: am.Audit) -> tuple[np.ndarray, np.ndarray]:
    """Return -log2 p(true exit) and the entropy of each message that came out."""
    users, truth = audit.answers.users, audit.observation.truth
    assert truth is not None
    assert audit.answers.true_exit is not None
    assert users.departed is not None
    seen = (truth >= 0) & users.counted
    scores = -np.log2(np.maximum(audit.answers.true_exit[seen] / users.departed[seen], 1e-12))
    return scores, users.shannon.value[seen]


@pytest.mark.slow
@pytest.mark.parametrize("loops", [0.1, 0.5])
def test_mix_loops_are_calibrated_by_the_log_score(tmp_path: Path, loops: float) -> None:
    differences = []
    for seed in range(12):
        rows = simulated_links(seed, loss=0.01, loops=loops, seconds=150, warm=20)
        path = write_links(tmp_path / "links.csv", rows, message=True)
        difference, _ = log_score(path, loop_rate=loops, since=0, until=150)
        differences.append(difference)
    # Treating loops as losses and cover differs by 0.15 and 0.29 bits.
    assert abs(np.mean(differences)) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "width", "users", "loops"),
    [(2, 1, 3.33, 1.0), (2, 2, 6.0, 0.3)],
)
def test_intervals_with_loops_hold_the_log_score_of_simulated_logs(
    tmp_path: Path, layers: int, width: int, users: float, loops: float
) -> None:
    held = []
    for seed in range(20):
        rows = simulated_links(
            2000 + seed, layers=layers, width=width, users=users, loss=0.01, loops=loops,
            seconds=100, warm=20,
        )  # fmt: skip
        path = write_links(tmp_path / "links.csv", rows, message=True)
        how: dict[str, Any] = {"loss": 0.01, "loop_rate": loops, "since": 0, "until": 100}
        inside = (users / width + loops) * 0.5
        audit = am.audit(
            path, source="network", law="exponential:0.5", inside_at_start=inside, **how
        )
        scores = true_scores(audit)[0]
        held.append(audit.entropy.low <= scores.mean() <= audit.entropy.high)
        assert audit.confidence == 0.95
    assert np.mean(held) >= 0.95


@pytest.mark.slow
def test_loops_through_a_provider_are_calibrated_by_the_log_score(tmp_path: Path) -> None:
    differences = []
    for seed in range(12):
        rows = simulated_links(seed, loss=0.01, loops=0.5, provider=True, seconds=150, warm=20)
        path = write_links(tmp_path / "links.csv", rows, message=True)
        difference, entropy = log_score(path, loop_rate=0.5, since=0, until=150)
        differences.append(difference)
        assert 4.8 < entropy < 5.6
    error = np.std(differences) / math.sqrt(len(differences))
    assert error < 0.02
    assert abs(np.mean(differences)) < 3.0 * error + 0.01


def test_corrupt_mixes_lower_the_entropy_of_a_network_with_loops(tmp_path: Path) -> None:
    rows = simulated_links(11, loss=0.02, loops=0.3, seconds=30)
    path = write_links(tmp_path / "links.csv", rows, message=True)
    how: dict[str, Any] = {
        "source": "network", "law": "exponential:0.5", "loss": 0.02, "loop_rate": 0.3,
        "inside_at_start": 0.0, "since": 0, "until": 30, "whole_log": True,
    }  # fmt: skip
    entropies = []
    for corrupt in ((), ("m1",), ("m1", "m5"), tuple(f"m{k}" for k in range(1, 10))):
        audit = am.audit(path, corrupt=corrupt, **how)
        users = audit.answers.users
        assert users.departed is not None
        assert users.lost is not None
        assert users.inside is not None
        total = users.departed + users.lost + users.inside
        assert np.abs(total - 1.0).max() < 1e-9
        scores, _ = true_scores(audit)
        assert scores.max() < 30.0  # no true exit is impossible
        assert not audit.exact
        entropies.append(audit.entropy.value)
    assert all(b < a - 0.05 for a, b in pairwise(entropies))
    assert entropies[-1] == pytest.approx(0.0, abs=1e-9)
