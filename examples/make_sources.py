"""Make the examples of other sources again: python examples/make_sources.py.

They look like what simulators and measurements write, with few and seeded entries; nobody in them
is real.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
BEGIN = 1_700_000_000 * 10**9  # nanoseconds


def table(rows: list[tuple[object, ...]], separator: str = ",") -> str:
    """Rows as text, the first with the names of the columns."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def mixim(seed: int = 1, clients: int = 6, messages: int = 40) -> dict[str, str]:
    """Logs as MiXiM writes them: three layers, dummies of clients and of mixes."""
    rng = np.random.default_rng(seed)
    sent: list[tuple[object, ...]] = []
    received: list[tuple[object, ...]] = []
    clock = 0.0
    for number in range(messages):
        clock += float(rng.exponential(0.5))
        kind = rng.choice(["Real", "ClientDummy", "Dummy"], p=[0.75, 0.15, 0.1])
        sender, receiver = rng.choice(clients, 2, replace=False)
        mixes = [
            f"( id: {3 * layer + int(rng.integers(3))}, corrupt: False )" for layer in range(3)
        ]
        delays = [round(float(delay), 4) for delay in rng.exponential(0.8, 3)]
        name, first = f"{sender}_{number}", f"Client id: {sender}"
        if kind == "Dummy":
            name, first = f"d_{3 + int(rng.integers(3))}_{number}", "None"
        route = f"[{', '.join([first, *mixes, f'Client id: {receiver}'])}]"
        left, arrived = round(clock, 4), round(clock + sum(delays), 4)
        if kind != "Dummy":
            sent.append((name, kind, left, delays, route))
        if arrived < 20:
            received.append((name, kind, left, arrived, delays, route, [0.0]))
    received.sort(key=lambda row: float(str(row[3])))
    head = ("", "MessageID", "MessageType", "MessageTimeLeft")
    logs = {
        "SentMessages.csv": ((*head, "MessageDelay", "MessageRoute"), sent),
        "ReceivedMessages.csv": (
            (*head, "MessageTimeReceived", "MessageDelay", "MessageRoute", "MessageTarget"),
            received,
        ),
    }
    return {
        f"mixim/{name}": table([columns, *((at, *row) for at, row in enumerate(rows))])
        for name, (columns, rows) in logs.items()
    }


def nym(seed: int = 2, packets: int = 30) -> dict[str, str]:
    """A packet log as the Nym team's simulator writes it."""
    rng = np.random.default_rng(seed)
    head = "Type CurrentTime ClientID PacketID PacketType MessageID PacketTimeQueued PacketTimeSent"
    more = "PacketTimeDelivered TotalFragments PrOthers PrSenderA PrSenderB RealSenderLabel Route"
    rows: list[tuple[object, ...]] = []
    clock = 100.0
    for number in range(packets):
        clock += float(rng.exponential(0.3))
        kind = str(rng.choice(["REAL", "DUMMY"], p=[0.8, 0.2]))
        label = int(rng.integers(3))
        client = f"c{int(rng.integers(4)):02}"
        queued, left = round(clock - 0.1, 4), round(clock, 4)
        delivered = round(clock + float(rng.gamma(3, 0.2)), 4)
        estimates = [round(float(share), 4) for share in rng.dirichlet([8, 1, 1])]
        route = f"[n{int(rng.integers(3))}, n{int(rng.integers(3, 6))}, {client}]"
        message = "-" if kind == "DUMMY" else f"m{number:02}"
        rows.append(
            (f"RCV_PKT_{kind}", delivered, client, f"p{number:02}", kind, message, queued, left,
             delivered, 1, *estimates, label, route, [])
        )  # fmt: skip
    rows.sort(key=lambda row: float(str(row[1])))
    return {"packet_log.csv": table([(*head.split(), *more.split(), "PoolSizes"), *rows], ";")}


def flows(seed: int = 3, pairs: int = 5, packets: int = 25, apart: float = 0.02) -> dict[str, str]:
    """Flow pairs as MixMatch records them: two requests, and an answer in many packets."""
    rng = np.random.default_rng(seed)
    files = {}
    for number in range(pairs):
        begin = BEGIN + int(number * apart * 1e9)
        asked = np.sort(rng.uniform(0.0, 0.05, 2))
        heard = asked + rng.gamma(3, 0.05, 2)
        told = heard.max() + np.sort(rng.uniform(0.3, 2.5, packets))
        got = told + rng.gamma(3, 0.05, packets)
        sides = {
            "initiator": (f"initiator{number}", asked, got),
            "responder": (f"responder{number}", told, heard),
        }
        pair: dict[str, Any] = {"start": begin, "end": begin + int(got.max() * 1e9)}
        for role, (name, sent, received) in sides.items():
            answers = [(begin + int(time * 1e9) + 10**8, 53) for time in sent]
            pair[role] = {
                "nym_identity": name,
                "to_gateway": [(begin + int(time * 1e9), 2413) for time in np.sort(sent)],
                "from_gateway": sorted(
                    [(begin + int(time * 1e9), 1675) for time in received] + answers
                ),
            }
        files[f"flows/pair{number}/flowpair.json"] = json.dumps(pair) + "\n"
    return files


def rings(seed: int = 4, inputs: int = 8, outputs: int = 14, size: int = 4) -> dict[str, str]:
    """Ring signatures with the output that each really spends."""
    rng = np.random.default_rng(seed)
    spent = rng.permutation(outputs)[:inputs]
    document = {}
    for number, real in enumerate(spent.tolist()):
        decoys = rng.choice([other for other in range(outputs) if other != real], size - 1, False)
        members = sorted(f"o{output}" for output in (real, *decoys.tolist()))
        document[f"i{number}"] = {"members": members, "truth": f"o{real}"}
    return {"rings.json": json.dumps(document, indent=1) + "\n"}


def certain_rings() -> dict[str, str]:
    """Seven rings that can be solved by hand: a chain reaction, a closed set, merged outputs."""
    rings: dict[str, object] = {
        "i1": {"members": ["o1"], "height": 100},
        "i2": {"members": ["o1", "o2"], "height": 101},
        "i3": {"members": ["o2", "o3", "o4"], "height": 102},
        "i4": {"members": ["o3", "o4"], "height": 103},
        "i5": {"members": ["o3", "o4", "o5"], "height": 104},
        "i6": {"members": ["o5", "o6", "o7"], "height": 105, "transaction": "t6"},
        "i7": {"members": ["o7", "o8", "o9"], "height": 105, "transaction": "t6"},
    }
    made = {3: "t3", 7: "t1", 8: "t1"}
    outputs = {
        f"o{k}": {"height": 10 * k} | ({"transaction": made[k]} if k in made else {})
        for k in range(1, 10)
    }
    return {"certain_rings.json": _json({"rings": rings, "outputs": outputs})}


def rings_over_time(seed: int = 11, blocks: int = 240) -> dict[str, str]:
    """A spend a block, of three ages: many rings of one member, few decoys, many.

    Ages at which outputs are spent are log-gamma as Moeser et al. (2018) fitted them, cut to the
    chain; decoys are uniform over earlier outputs in the first two thirds, then log-gamma, too.
    """
    rng = np.random.default_rng(seed)
    born: list[int] = list(range(60))  # heights of outputs
    spent: set[int] = set()
    rings: dict[str, object] = {}
    for number in range(blocks):
        height = 60 + number
        born += [height] * 2
        ages = height - np.array(born)
        open_ = np.flatnonzero((ages >= 1) & ~np.isin(np.arange(len(born)), list(spent)))
        truth = int(rng.choice(open_, p=_spends(ages[open_])))
        spent.add(truth)
        era = 3 * number // blocks
        decoys = int(rng.choice([0, 0, 1, 2])) if era == 0 else 3 if era == 1 else 10
        others = np.flatnonzero((ages >= 1) & (np.arange(len(born)) != truth))
        law = _spends(ages[others]) if era == 2 else None
        chosen = rng.choice(others, min(decoys, len(others)), replace=False, p=law).tolist()
        members = sorted([truth, *chosen])
        rings[f"i{number}"] = {
            "members": [f"o{k}" for k in members],
            "truth": f"o{truth}",
            "height": height,
        }
    outputs = {f"o{k}": {"height": height} for k, height in enumerate(born)}
    return {"rings_over_time.json": _json({"rings": rings, "outputs": outputs})}


def _spends(ages: np.ndarray) -> np.ndarray:
    """Log-gamma shares of ages in blocks of two minutes."""
    logs = np.log(120.0 * ages)
    densities = logs**18.28 * np.exp(-2.61 * logs)
    shares: np.ndarray = densities / densities.sum()
    return shares


def _json(document: dict[str, object]) -> str:
    """A line a ring and an output."""
    parts = []
    for key, values in document.items():
        assert isinstance(values, dict)
        lines = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in values.items()
        )
        parts.append(f" {json.dumps(key)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def topology() -> dict[str, str]:
    """Five relays, four users, and two sites seen at each of two exits."""
    document = {
        "links": [list(link) for link in ("tb", "bt", "tm", "tx", "by", "bm", "mx", "my")],
        "entries": {"alice": "t", "bob": "t", "cem": "b", "dan": "b"},
        "exits": {"news": "y", "shop": "y", "mail": "x", "bank": "x"},
        "length": 3,
    }
    return {"topology.json": json.dumps(document, indent=1) + "\n"}


def people(seed: int = 5, size: int = 12) -> dict[str, str]:
    """A register, and the table that was released from it, shuffled and with coarser cells."""
    rng = np.random.default_rng(seed)
    known: list[tuple[object, ...]] = []
    given: list[tuple[object, ...]] = []
    for number in range(size):
        age, code = int(rng.integers(20, 60)), f"10{int(rng.integers(1, 4))}0"
        low = age // 10 * 10
        cells = [
            f"{low}-{low + 9}",
            f"[{low},{low + 10})",
            f"{age // 20 * 20}-{age // 20 * 20 + 19}",
        ]
        known.append((f"person{number:02}", age, code))
        illness = str(rng.choice(["flu", "cold", "asthma"]))
        given.append((cells[number % 3], f"{code[:3]}*" if number % 2 else "10**", illness))
    given = [given[at] for at in rng.permutation(size)]
    return {
        "people.csv": table([("name", "age", "postcode"), *known]),
        "people_released.csv": table([("age", "postcode", "illness"), *given]),
    }


def network(seed: int = 3, messages: int = 40) -> dict[str, str]:
    """Packets on all links of two layers of two mixes, with what each really was."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[object, ...]] = []
    now = 0.0
    for number in range(1, messages + 1):
        now += float(rng.exponential(1.0))
        way = [f"user{rng.integers(9) + 1}", f"a{rng.integers(2) + 1}", f"b{rng.integers(2) + 1}"]
        way.append(f"site{rng.integers(5) + 1}")
        time = now
        for hop in range(3):
            rows.append((round(time, 4), way[hop], way[hop + 1], number))
            time += float(rng.exponential(3.0))
    return {"network.csv": table([("time", "from", "to", "message"), *sorted(rows)])}


def texts() -> dict[Path, str]:
    """The text of every example, by the file that holds it."""
    made = network() | mixim() | nym() | flows() | topology() | people()
    made |= rings() | certain_rings() | rings_over_time()
    return {HERE / name: text for name, text in made.items()}


if __name__ == "__main__":
    for path, text in texts().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
