"""MiXiM's logs as networks, beside a simulator that writes as it does and says what it knows."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am

LINK, HELD = 0.05, 2.0


class Simulated:
    """A small network of Poisson mixes, with targets whose probability every pool knows.

    As MiXiM does it: a mix knows the probability of each packet inside to be each target, and when
    one leaves, all inside share theirs evenly. Targets are held back on their first link, and
    dummies of clients vanish in their first mix.
    """

    def __init__(self, seed: int, corrupt: tuple[int, ...] = ()) -> None:
        draw = np.random.default_rng(seed)
        self.corrupt = corrupt
        self.packets = []
        now = 0.0
        for number in range(120):
            now += float(draw.exponential(0.1))
            kind = "ClientDummy" if draw.random() < 0.15 else "Real"
            way = [int(1 + 2 * layer + draw.integers(2)) for layer in range(3)]
            delays = draw.exponential(0.3, 3).tolist()
            target = kind == "Real" and number in (40, 55, 70)
            client = int(draw.integers(5))
            self.packets.append((f"{client}_{number}", kind, now, way, delays, target, client))
        self._run()

    def _run(self) -> None:
        targets = [p[0] for p in self.packets if p[5]]
        queue: list[tuple[float, int, int, int]] = []
        for k, (_, kind, left, _, _, target, _) in enumerate(self.packets):
            if kind == "Real":
                first = left + LINK + (HELD if target else 0.0)
                heapq.heappush(queue, (first, 0, k, 0))
        pools: dict[int, dict[int, np.ndarray]] = {}
        known = {
            k: np.array([float(p[0] == name) for name in targets])
            for k, p in enumerate(self.packets)
        }
        self.received: dict[str, tuple[float, np.ndarray]] = {}
        while queue:
            time, leaves, k, hop = heapq.heappop(queue)
            name, _, _, way, delays, _, _ = self.packets[k]
            if hop == 3:
                self.received[name] = (time, known[k])
            elif not leaves:
                pools.setdefault(way[hop], {})[k] = known[k]
                heapq.heappush(queue, (time + delays[hop], 1, k, hop))
            else:
                pool = pools[way[hop]]
                if way[hop] not in self.corrupt:
                    honest = list(pool)
                    share = np.mean([pool[one] for one in honest], axis=0)
                    for one in honest:
                        pool[one] = share
                known[k] = pool.pop(k)
                heapq.heappush(queue, (time + LINK, 0, k, hop + 1))
        self.entropies = {}
        for at, name in enumerate(targets):
            p = np.array([probability[at] for _, probability in self.received.values()])
            p = p[p > 0]
            self.entropies[name] = float(-(p * np.log2(p)).sum())

    def write(self, folder: Path) -> Path:
        sent: list[str] = []
        received: list[str] = []
        for name, kind, left, way, delays, _, client in self.packets:
            mixes = ", ".join(f"( id: {m}, corrupt: {m in self.corrupt} )" for m in way)
            route = f'"[Client id: {client}, {mixes}, Client id: {(client + 1) % 5}]"'
            waits = f'"[{left!r}, {", ".join(map(repr, delays))}, 0]"'
            sent.append(f"{len(sent)},{name},{kind},{left!r},{waits},{route}")
            if name in self.received:
                time = self.received[name][0]
                received.append(f"{len(received)},{name},{kind},{left!r},{time!r},{waits},{route}")
        head = ",MessageID,MessageType,MessageTimeLeft,"
        (folder / "SentMessages.csv").write_text(
            "\n".join([f"{head}MessageDelay,MessageRoute", *sent]) + "\n"
        )
        (folder / "ReceivedMessages.csv").write_text(
            "\n".join([f"{head}MessageTimeReceived,MessageDelay,MessageRoute", *received]) + "\n"
        )
        return folder


@pytest.mark.parametrize("delay", ["1e300", "-0.5", "e"])
def test_delays_that_are_no_seconds_are_refused_by_row(tmp_path: Path, delay: str) -> None:
    folder = Simulated(5).write(tmp_path)
    sent = folder / "SentMessages.csv"
    lines = sent.read_text().splitlines()
    first = lines[3].index(", ", lines[3].index('"[')) + 2
    lines[3] = lines[3][:first] + delay + lines[3][lines[3].index(", ", first) :]
    sent.write_text("\n".join(lines) + "\n")
    with pytest.raises(am.InputError, match=r"SentMessages\.csv.*line 4: MessageDelay must be"):
        am.audit(folder)


@pytest.mark.parametrize("corrupt", [(), (3,), (1, 4)])
def test_entropies_are_those_that_the_simulator_knows(
    tmp_path: Path, corrupt: tuple[int, ...]
) -> None:
    made = Simulated(5, corrupt)
    audit = am.audit(made.write(tmp_path), whole_log=True)
    bits = dict(zip(audit.users["user"], audit.users["shannon"], strict=True))
    assert len(made.entropies) == 3
    for name, entropy in made.entropies.items():
        assert bits[f"client {name.partition('_')[0]} ({name})"] == pytest.approx(entropy, abs=1e-9)
    network = audit.observation.network
    assert network is not None
    assert network.corrupt == tuple(f"mix {mix}" for mix in corrupt)
    assert audit.n_users == sum(kind == "Real" for _, kind, *_ in made.packets)


def test_a_law_or_a_view_of_the_ends_is_the_attacker_who_sees_less(tmp_path: Path) -> None:
    folder = Simulated(5).write(tmp_path)
    links = am.audit(folder)
    ends = am.audit(folder, law="0.2+erlang:3,0.3", view="ends")
    assert isinstance(ends, am.MixAudit)
    assert am.audit(folder, law="0.2+erlang:3,0.3").entropy == ends.entropy
    assert links.observation.source.startswith("MiXiM, a network of 6 mixes in 3 layers")
    with pytest.raises(am.InputError, match="needs a law"):
        am.audit(folder, view="ends")
    with pytest.raises(am.InputError, match="corrupt is for an attacker who sees links"):
        am.audit(folder, view="ends", law="erlang:3,0.3", corrupt="mix 1")


def test_delays_that_do_not_fit_routes_are_refused_by_row(tmp_path: Path) -> None:
    folder = Simulated(5).write(tmp_path)
    sent = folder / "SentMessages.csv"
    lines = sent.read_text().splitlines()
    lines[3] = lines[3].replace(", 0]", "]")
    sent.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        am.InputError, match=r"SentMessages.csv: line 4: MessageDelay has 4 numbers"
    ):
        am.audit(folder)


@pytest.mark.parametrize("name", ["SentMessages.csv", "ReceivedMessages.csv"])
def test_a_message_that_comes_twice_is_refused_by_row(tmp_path: Path, name: str) -> None:
    folder = Simulated(5).write(tmp_path)
    lines = (folder / name).read_text().splitlines()
    (folder / name).write_text("\n".join([*lines, lines[1]]) + "\n")
    with pytest.raises(
        am.InputError, match=rf"{name}: line {len(lines) + 1}: MessageID .* is there twice"
    ):
        am.audit(folder)


def test_a_log_without_delays_says_what_to_do(tmp_path: Path) -> None:
    folder = Simulated(5).write(tmp_path)
    for name in ("SentMessages.csv", "ReceivedMessages.csv"):
        path = folder / name
        path.write_text(path.read_text().replace("MessageDelay", "Delays"))
    with pytest.raises(am.InputError, match="no column MessageDelay, so that links do not show"):
        am.audit(folder)


def test_dummies_among_mixes_are_noted(tmp_path: Path) -> None:
    folder = Simulated(5).write(tmp_path)
    dummies = folder / "DummyMessages.csv"
    dummies.write_text(",DroppingNode,DummyID\n")
    assert not any("dummies" in note for note in am.audit(folder).notes)
    dummies.write_text(",DroppingNode,DummyID\n0,3,d_1\n1,3,d_2\n")
    assert any("has 2 dummies of mixes" in note for note in am.audit(folder).notes)


def test_a_law_without_numbers_is_for_the_links(tmp_path: Path) -> None:
    folder = Simulated(5).write(tmp_path)
    assert am.audit(folder, law="exponential").entropy == am.audit(folder).entropy
