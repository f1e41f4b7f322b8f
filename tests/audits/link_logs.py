"""Link logs of exponential mixes: simulated packet by packet, and solved by all their histories."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "LinkRow",
    "TinyNetwork",
    "simulated_links",
    "tiny_loops",
    "tiny_network",
    "write_links",
]


class LinkRow(NamedTuple):
    """A packet on a link, with the number of the packet and its kind."""

    time: float
    from_: str
    to: str
    packet: int
    kind: str


def simulated_links(
    seed: int,
    *,
    layers: int = 3,
    width: int = 3,
    users: float = 10.0,
    hop: float = 0.5,
    loss: float = 0.0,
    cover: float = 0.0,
    loops: float = 0.0,
    provider: bool = False,
    seconds: float = 60.0,
    warm: float = 0.0,
) -> list[LinkRow]:
    """Return the rows of an observation of ``seconds`` that starts after ``warm`` seconds.

    Users send Poisson traffic through one random mix per layer; every mix loses a packet that
    enters it with probability ``loss``. Mixes of the last layer send ``cover`` dummies per second
    outside. Every mix sends ``loops`` loops per second through one mix of every layer back to
    itself, from the last layer straight to the first, or with ``provider`` through the outside:
    they leave like mail, wait for a second on average and come in again like mail.
    """
    random = np.random.default_rng(seed)
    end = warm + seconds
    rows: list[LinkRow] = []
    packets = 0

    def mix(layer: int, place: int) -> str:
        return f"m{layer * width + place + 1}"

    def send(time: float, from_: str, route: list[str], kind: str, packet: int) -> float | None:
        for k, to in enumerate(route):
            rows.append(LinkRow(time, from_, to, packet, kind))
            last = k == len(route) - 1
            if to.startswith("r"):
                return time
            if random.random() < loss or (kind == "loop" and last):
                return None
            time += random.exponential(hop)
            from_ = to
        return None

    for time in random.uniform(0, end, random.poisson(users * end)):
        route = [mix(layer, int(random.integers(width))) for layer in range(layers)]
        send(time, f"u{packets}", [*route, f"r{packets}"], "user", packets)
        packets += 1
    for layer in range(layers):
        for place in range(width):
            own = mix(layer, place)
            for time in random.uniform(0, end, random.poisson(loops * end)):
                if provider:
                    route = [mix(k, int(random.integers(width))) for k in range(layer + 1, layers)]
                    out = send(time, own, [*route, f"r{packets}"], "loop", packets)
                    packets += 1
                    if out is not None:
                        route = [mix(k, int(random.integers(width))) for k in range(layer)]
                        again = out + random.exponential(1.0)
                        send(again, f"u{packets}", [*route, own], "loop", packets)
                        packets += 1
                    continue
                way = [(layer + 1 + k) % layers for k in range(layers - 1)]
                route = [mix(one, int(random.integers(width))) for one in way]
                send(time, own, [*route, own], "loop", packets)
                packets += 1
            if layer == layers - 1:
                for time in random.uniform(0, end, random.poisson(cover * end)):
                    send(time, own, [f"r{packets}"], "cover", packets)
                    packets += 1
    seen = sorted(row for row in rows if warm <= row.time < end)
    return [row._replace(time=row.time - warm) for row in seen]


def write_links(path: Path, rows: list[LinkRow], *, message: bool = False) -> Path:
    """Write rows as a CSV file, with the packet numbers in a column ``message`` if asked."""
    lines = ["time,from,to,message" if message else "time,from,to"]
    for row in rows:
        line = f"{float(row.time)!r},{row.from_},{row.to}"
        lines.append(f"{line},{row.packet}" if message else line)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@dataclass(kw_only=True)
class TinyNetwork:
    """A link log of a few packets, with the rates of its mixes."""

    events: list[tuple[float, str, str]]
    mean: dict[str, float]
    loss: dict[str, float]
    cover_rate: dict[str, float]
    loop_rate: dict[str, float] = field(default_factory=dict)
    inside: dict[str, float] = field(default_factory=dict)
    begin: float = 0.0
    end: float = 8.0
    drained: bool = False

    def write(self, path: Path) -> Path:
        """Write the log as a CSV file."""
        rows = [LinkRow(time, from_, to, 0, "") for time, from_, to in self.events]
        return write_links(path, rows)

    def how(self) -> dict[str, Any]:
        """Return the conditions as keywords of an audit."""
        return {
            "source": "network",
            "law": {mix: f"exponential:{mean!r}" for mix, mean in self.mean.items()},
            "loss": self.loss,
            "cover_rate": self.cover_rate,
            "loop_rate": self.loop_rate or None,
            "inside_at_start": self.inside or 0.0,
            "since": self.begin,
            "until": self.end,
            "drained": self.drained,
            "whole_log": True,
        }

    def fates(self) -> list[dict[int | str, float]] | None:
        """Return the probabilities of each user's exits, "lost" and "inside", by all histories.

        A history says of every departure from a mix which packet it is, and of every arrival
        whether the packet is lost. Loops end at the mix that sent them and never leave the network;
        if there are loops, other packets go on to later mixes only, in the order of their names.
        None if no history explains the log.
        """
        users = [k for k, (_, from_, _) in enumerate(self.events) if from_ not in self.mean]
        sums: dict[int, dict[int | str, float]] = {user: {} for user in users}
        total = 0.0
        inside: dict[str, list[tuple[int | None, str, float]]] = {mix: [] for mix in self.mean}
        fate: dict[int, int | str] = {}

        def finish(weight: float) -> None:
            nonlocal total
            for mix, packets in inside.items():
                for _, _, since in packets:
                    weight *= math.exp(-(self.end - since) / self.mean[mix])
            if self.drained and any(inside.values()):
                return
            total += weight
            for user in users:
                to = fate.get(user, "inside")
                sums[user][to] = sums[user].get(to, 0.0) + weight

        def arrive(k: int, who: int | None, owner: str, weight: float) -> None:
            time, from_, to = self.events[k]
            if owner and to not in self.mean:
                return
            if (
                self.loop_rate
                and not owner
                and from_ in self.mean
                and to in self.mean
                and to < from_
            ):
                return
            if to not in self.mean:
                if who is not None:
                    fate[who] = k
                step(k + 1, weight)
                fate.pop(-1 if who is None else who, None)
                return
            lost = self.loss[to]
            if lost:
                if who is not None:
                    fate[who] = "lost"
                step(k + 1, weight * lost)
                fate.pop(-1 if who is None else who, None)
            if owner == to:
                step(k + 1, weight * (1.0 - lost))
                return
            inside[to].append((who, owner, time))
            step(k + 1, weight * (1.0 - lost))
            inside[to].pop()

        def step(k: int, weight: float) -> None:
            if k == len(self.events):
                finish(weight)
                return
            time, from_, _ = self.events[k]
            if from_ not in self.mean:
                arrive(k, k, "", weight)
                return
            mean = self.mean[from_]
            pool = inside[from_]
            for place in range(len(pool)):
                who, owner, since = pool.pop(place)
                arrive(k, who, owner, weight * math.exp(-(time - since) / mean) / mean)
                pool.insert(place, (who, owner, since))
            born = self.cover_rate[from_]
            born += self.inside.get(from_, 0.0) * math.exp(-(time - self.begin) / mean) / mean
            if born > 0.0:
                arrive(k, None, "", weight * born)
            if self.loop_rate.get(from_):
                arrive(k, None, from_, weight * self.loop_rate[from_])

        step(0, 1.0)
        if total == 0.0:
            return None
        return [{to: w / total for to, w in sums[user].items()} for user in users]


def tiny_network(seed: int, *, cover: bool, cut: bool, drained: bool = False) -> TinyNetwork:
    """Return a random log of two or three mixes, at most 9 events."""
    random = np.random.default_rng(seed)
    mixes = ["A", "B", "C"][: int(random.integers(2, 4))]
    mean = {mix: float(random.uniform(0.5, 2.0)) for mix in mixes}
    packets: list[tuple[float, str, str]] = []
    for user in range(int(random.integers(2, 5))):
        time, from_ = float(random.uniform(0, 4)), f"u{user}"
        route = ["A", *([str(random.choice(mixes[1:]))] if random.random() < 0.8 else []), "r"]
        for to in route:
            packets.append((time, from_, to))
            if random.random() < 0.15:
                break
            time, from_ = time + float(random.exponential(1.0)), to
    if cover or cut:
        number = int(random.integers(1, 3))
        packets += [
            (float(random.uniform(0, 3)), str(random.choice(mixes)), "r") for _ in range(number)
        ]
    events = sorted(one for one in packets if one[0] < 8.0)[:9]
    return TinyNetwork(
        events=events,
        mean=mean,
        loss={mix: float(random.choice([0.0, 0.05, 0.3])) for mix in mixes},
        cover_rate={mix: float(random.choice([0.1, 0.4])) if cover else 0.0 for mix in mixes},
        inside={mix: float(random.uniform(0.3, 1.5)) for mix in mixes} if cut else {},
        begin=-0.5 if cut else 0.0,
        drained=drained,
    )


def tiny_loops(seed: int, *, mixes: int, most: int = 10) -> TinyNetwork | None:
    """Return a log of a short cascade whose mixes send loops, drawn from the model itself.

    None if the log has no user's exit or more than ``most`` events.
    """
    names = ["A", "B", "C"][:mixes]
    rows = simulated_links(
        seed, layers=mixes, width=1, users=1.2, hop=0.7, loss=0.05, loops=0.2, seconds=4.0
    )
    new = {f"m{k + 1}": name for k, name in enumerate(names)}
    events = [
        (float(row.time), new.get(row.from_, row.from_), new.get(row.to, "out")) for row in rows
    ]
    if len(events) > most or not any(to == "out" for _, _, to in events):
        return None
    return TinyNetwork(
        events=events,
        mean=dict.fromkeys(names, 0.7),
        loss=dict.fromkeys(names, 0.05),
        cover_rate=dict.fromkeys(names, 0.0),
        loop_rate=dict.fromkeys(names, 0.2),
        end=4.0,
    )
