"""Make the example files again: python examples/make_examples.py."""

from __future__ import annotations

import csv
import random
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "anonymatch" / "examples"

# A mix holds each message for one to six seconds. The attacker sees when users send and when
# messages leave, in seconds after nine o'clock.
SENT = {
    "ann": 0, "bob": 1, "cem": 2, "dan": 3, "eva": 5, "fay": 6,
    "gus": 14, "hal": 20, "ida": 21, "jon": 23, "kim": 26, "lea": 29,
}  # fmt: skip
LEFT = (4, 5, 6, 7, 8, 10, 17, 22, 26, 29, 31, 32)
SHORTEST, LONGEST = 1, 6

# A hospital releases ages in ranges; the attacker knows the true ages.
AGES = {"mia": 23, "noa": 27, "oli": 31, "pia": 34, "ron": 38, "sue": 41, "tom": 46, "uma": 52}
RANGES = ((20, 29), (20, 34), (25, 39), (30, 39), (30, 49), (40, 49), (40, 59), (50, 59))

# Three users behind six relays: how many paths lead from each user to each site.
PATHS = {
    "ann": {"news": 4, "shop": 2, "mail": 1},
    "bob": {"news": 1, "shop": 3, "mail": 2},
    "cem": {"news": 1, "shop": 1, "mail": 6},
}

# Three users sent, but only two messages that could be theirs came out.
LOST = {"ann": "xy", "bob": "xy", "cem": "xy", "dan": "xyz", "eva": "zw"}

# Sixteen people write to newspapers, hour after hour, through a mix that lets six messages out at
# once. ann writes in every second hour, and bob always to the same paper.
PEOPLE = (
    "ann", "bob", "cem", "dan", "eva", "fay", "gus", "hal",
    "ida", "jon", "kim", "lea", "mia", "noa", "oli", "pia",
)  # fmt: skip
PAPERS = (
    "Argus", "Bee", "Comet", "Dawn", "Echo", "Flame",
    "Globe", "Herald", "Item", "Journal", "Ledger", "Mirror",
)  # fmt: skip
HOURS, AT_ONCE = 60, 6
FAVOURITES = (12, 6, 4, 3)  # of the papers that a person writes to, how often each


def hours(seed: int = 3) -> list[tuple[object, ...]]:
    """What is seen of them, and which message is which."""
    draw = random.Random(seed)
    papers = {person: draw.sample(PAPERS, len(FAVOURITES)) for person in PEOPLE}
    papers["bob"] = papers["bob"][:1]
    rows: list[tuple[object, ...]] = []
    for hour in range(1, HOURS + 1):
        senders = draw.sample(PEOPLE[1:], AT_ONCE)
        if hour % 2:
            senders[draw.randrange(AT_ONCE)] = PEOPLE[0]
        messages = []
        for person in senders:
            own = papers[person]
            [paper] = draw.choices(own, FAVOURITES[: len(own)])
            messages.append((person, paper, AT_ONCE * (hour - 1) + len(messages) + 1))
        rows += [(hour, "in", person, "", number) for person, _, number in messages]
        left = sorted(messages, key=lambda message: message[1])
        rows += [(hour, "out", "", paper, number) for _, paper, number in left]
    return rows


def tables() -> dict[Path, list[tuple[object, ...]]]:
    """The rows of every example, by the file that holds them."""
    mix = [
        (user, f"09:00:{left:02}")
        for user, sent in SENT.items()
        for left in LEFT
        if SHORTEST <= left - sent <= LONGEST
    ]
    log = [(f"09:00:{sent:02}", "in", user, "") for user, sent in SENT.items()]
    log += [(f"09:00:{left:02}", "out", "", f"09:00:{left:02}") for left in LEFT]
    log = [(f"2026-11-02T{time}", *rest) for time, *rest in sorted(log)]
    release = [
        (person, f"row {row} ({low} to {high})")
        for person, age in AGES.items()
        for row, (low, high) in enumerate(RANGES, start=1)
        if low <= age <= high
    ]
    relays = [(user, site, n) for user, sites in PATHS.items() for site, n in sites.items()]
    lost = [(user, message) for user, messages in LOST.items() for message in messages]
    return {
        PACKAGE / "mix.csv": [("user", "behaviour"), *mix],
        PACKAGE / "mix_log.csv": [("time", "direction", "user", "behaviour"), *log],
        HERE / "release.csv": [("user", "behaviour"), *release],
        HERE / "relays.csv": [("user", "behaviour", "weight"), *relays],
        HERE / "lost.csv": [("user", "behaviour"), *lost],
        HERE / "rounds.csv": [("round", "direction", "user", "behaviour", "message"), *hours()],
    }


if __name__ == "__main__":
    for path, rows in tables().items():
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{path}: {len(rows) - 1} rows")
