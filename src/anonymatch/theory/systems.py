"""Real systems: the anonymity that each of them gives for its cost, in closed form.

Messages arrive as a Poisson process. All systems except the pool mix are measured in bits per
message: log2 of the matchings, divided by the messages. The pool mix is measured by the entropy of
one message, because a closed form of it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.stats import poisson

from anonymatch.counting.measures import metrics
from anonymatch.graph import Graph
from anonymatch.mixes import (
    batch_bits_per_message,
    exponential_bits_per_message,
    pool_mix_bits,
    relay_graph,
    threshold_mix_bits,
)
from anonymatch.reporting.charts import FrontLine

_POINTS = 30  # points of a line
_LAYER = 8  # relays in each layer of the network of the Tor-like system

Knobs = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that a designer can choose; a whole number if ``step`` is 1."""

    name: str
    least: float
    most: float
    usual: float
    hint: str
    step: float = 1
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A kind of system: its knobs, its cost, its anonymity in bits, and its front.

    ``front`` returns lines of comparable choices around the chosen one. The keys of their points
    are choices, which :func:`choice_of` reads.
    """

    name: str
    text: str
    knobs: Mapping[str, Knob]
    price: Callable[[Knobs], float]
    bits: Callable[[Knobs], float]
    front: Callable[[Knobs], tuple[FrontLine, ...]]
    python: Callable[[Knobs], str]
    cost: str = "mean delay"
    unit: str = "s"
    measure: str = "bits per message"
    meaning: str = "each bit doubles the matchings that explain the traffic, for every message"


def choice_of(key: str) -> tuple[str, dict[str, str]]:
    """Return the system and the knobs of a point of a front.

    Examples
    --------
    >>> choice_of("pool batch=20 pool=5 rate=10")
    ('pool', {'batch': '20', 'pool': '5', 'rate': '10'})
    """
    system, *knobs = key.split(" ")
    return system, dict(knob.partition("=")[::2] for knob in knobs)


def timed_bits_per_message(inside: float) -> float:
    """Return the bits per message of a mix that sends all ``inside`` messages at once.

    ``inside`` is a mean. A message is with a Poisson number of others: the result is the mean of
    log2(k!)/k, where k is one more than that number.

    Examples
    --------
    >>> timed_bits_per_message(0.0), round(timed_bits_per_message(7.0), 3)
    (0.0, 1.855)
    """
    if inside <= 0:
        return 0.0
    most = int(inside + 12 * math.sqrt(inside) + 40)
    probabilities = np.asarray(poisson.pmf(np.arange(most + 1), inside))
    bits = [batch_bits_per_message(others + 1) for others in range(most + 1)]
    return float(probabilities @ bits / probabilities.sum())


def _line(
    system: str,
    choices: Iterable[Knobs],
    name: str = "",
    bits: Callable[[Knobs], float] | None = None,
) -> FrontLine:
    """Return choices of one system as a line of a front."""
    chosen = list(choices)
    keys = (" ".join(f"{knob}={value:.6g}" for knob, value in one.items()) for one in chosen)
    return FrontLine(
        name or system,
        [SYSTEMS[system].price(one) for one in chosen],
        [(bits or SYSTEMS[system].bits)(one) for one in chosen],
        [f"{system} {key}" for key in keys],
    )


def _by_delay(knobs: Knobs, chosen: float) -> tuple[FrontLine, ...]:
    """Return what three kinds of mixes give for mean delays around the chosen one."""
    rate, longest = knobs["rate"], max(2 * chosen, 0.5)
    own = {chosen} if chosen > 0 else set()
    delays = sorted({*np.geomspace(longest / 60, longest, _POINTS).tolist(), *own})
    batches = sorted({max(2, round(2 * delay * rate + 1)) for delay in delays})
    return (
        _line("exponential", [{"delay": delay, "rate": rate} for delay in delays]),
        _line("timed", [{"period": 2 * delay, "rate": rate} for delay in delays]),
        _line("threshold", [{"batch": batch, "rate": rate} for batch in batches]),
    )


def _threshold_delay(knobs: Knobs) -> float:
    return (knobs["batch"] - 1) / 2 / knobs["rate"]


def _pool_front(knobs: Knobs) -> tuple[FrontLine, ...]:
    batch, pool, rate = int(knobs["batch"]), int(knobs["pool"]), knobs["rate"]
    pools = sorted({*range(0, 2 * pool + 1, max(1, pool // 12)), pool, 2 * pool, batch})
    sizes = sorted({2 * ((batch - 1) // 2 + each) + 1 for each in pools})
    return (
        _line("pool", [{**knobs, "pool": each} for each in pools], f"pool, {batch} per round"),
        _line(
            "threshold",
            [{"batch": size, "rate": rate} for size in sizes],
            bits=lambda one: threshold_mix_bits(int(one["batch"])),
        ),
    )


def _relays(links: int, skew: int) -> Graph:
    """Return three layers of relays with ``links`` each; one in four is ``skew`` times as fast."""
    names = [[f"{layer}{number}" for number in range(_LAYER)] for layer in "gme"]
    lines = [
        (names[layer][number], names[layer + 1][(number + step) % _LAYER])
        for layer in range(2)
        for number in range(_LAYER)
        for step in range(links)
    ]
    speed = {
        relay: Fraction(skew if number % 4 == 0 else 1)
        for layer in names
        for number, relay in enumerate(layer)
    }
    return relay_graph(
        lines,
        users={f"user {number}": relay for number, relay in enumerate(names[0])},
        exits=dict.fromkeys(names[2], 1),
        bandwidth=speed,
    )


def _relay_bits(knobs: Knobs) -> float:
    """Return the entropy of the matching per user, in bits."""
    graph = _relays(int(knobs["links"]), int(knobs["skew"]))
    return metrics(graph).matching_entropy * batch_bits_per_message(_LAYER)


def _relay_front(knobs: Knobs) -> tuple[FrontLine, ...]:
    def name(skew: float) -> str:
        return "all equally fast" if skew == 1 else f"some {skew:g} times as fast"

    return tuple(
        _line("paths", [{"links": n, "skew": skew} for n in range(1, _LAYER + 1)], name(skew))
        for skew in sorted({knobs["skew"], 1}, reverse=True)
    )


_RATE = Knob(
    "Traffic", 0.5, 50, 10, "Mean number of arriving messages.", 0.5, "messages per second"
)
_CLOSED = "from anonymatch.mixes.closed_forms import"

SYSTEMS: Mapping[str, System] = {
    "threshold": System(
        name="Threshold mix",
        text="Waits until a batch of messages is inside, then sends all of them in random order.",
        knobs={"batch": Knob("Batch", 1, 100, 20, "Messages that leave together."), "rate": _RATE},
        price=_threshold_delay,
        bits=lambda knobs: batch_bits_per_message(int(knobs["batch"])),
        front=lambda knobs: _by_delay(knobs, _threshold_delay(knobs)),
        python=lambda knobs: (
            f"{_CLOSED} batch_bits_per_message\nbatch_bits_per_message({knobs['batch']:g})"
        ),
    ),
    "pool": System(
        name="Pool mix",
        text="Keeps some messages in each round, chosen at random, so that rounds mix as well.",
        knobs={
            "batch": Knob("Batch", 1, 100, 20, "Messages that arrive before each round."),
            "pool": Knob("Pool", 0, 200, 20, "Messages that stay inside after each round."),
            "rate": _RATE,
        },
        price=lambda knobs: ((knobs["batch"] - 1) / 2 + knobs["pool"]) / knobs["rate"],
        bits=lambda knobs: pool_mix_bits(int(knobs["batch"]), int(knobs["pool"])),
        front=_pool_front,
        python=lambda knobs: (
            f"import anonymatch as am\nam.pool_mix_bits({knobs['batch']:g}, {knobs['pool']:g})"
        ),
        measure="bits about one message",
        meaning="each bit doubles the effective anonymity set of one message",
    ),
    "exponential": System(
        name="Exponential mix (Loopix, Katzenpost)",
        text=(
            "Delays each message independently. This is a single mix; a route through several "
            "mixes adds delay and anonymity."
        ),
        knobs={
            "delay": Knob(
                "Mean delay", 0.05, 5, 1, "Mean time of a message in the mix.", 0.05, "s"
            ),
            "rate": _RATE,
        },
        price=lambda knobs: knobs["delay"],
        bits=lambda knobs: exponential_bits_per_message(knobs["rate"] * knobs["delay"]),
        front=lambda knobs: _by_delay(knobs, knobs["delay"]),
        python=lambda knobs: (
            f"{_CLOSED} exponential_bits_per_message\nexponential_bits_per_message("
            f"{knobs['rate'] * knobs['delay']:g})  # mean number of messages inside"
        ),
    ),
    "timed": System(
        name="Timed mix",
        text="Sends all messages that are inside at regular times.",
        knobs={
            "period": Knob("Period", 0.1, 20, 2, "Seconds between two flushes.", 0.1, "s"),
            "rate": _RATE,
        },
        price=lambda knobs: knobs["period"] / 2,
        bits=lambda knobs: timed_bits_per_message(knobs["rate"] * knobs["period"]),
        front=lambda knobs: _by_delay(knobs, knobs["period"] / 2),
        python=lambda knobs: (
            "from anonymatch.theory.systems import timed_bits_per_message\n"
            f"timed_bits_per_message({knobs['rate'] * knobs['period']:g})"
            "  # mean number of messages per period"
        ),
    ),
    "dining": System(
        name="DC-net in groups",
        text="Every member of a group sends in every round, so that the speaker is hidden.",
        knobs={"group": Knob("Group size", 1, 60, 10, "Users in one anonymity set.")},
        price=lambda knobs: knobs["group"],
        bits=lambda knobs: batch_bits_per_message(int(knobs["group"])),
        front=lambda knobs: (
            _line(
                "dining",
                [{"group": size} for size in range(1, max(2 * int(knobs["group"]), 8) + 1)],
                "groups",
            ),
        ),
        python=lambda knobs: (
            "import anonymatch as am\n"
            f"am.design(users={10 * knobs['group']:g}, edges={10 * knobs['group'] ** 2:g}).log2"
            f" / {10 * knobs['group']:g}"
        ),
        cost="bandwidth",
        unit="messages sent per real message",
    ),
    "paths": System(
        name="Path weights (Tor-like)",
        text=(
            f"Three layers of {_LAYER} relays. A message takes a path in proportion to the speed "
            "of its relays. The attacker sees where users enter and where messages leave."
        ),
        knobs={
            "links": Knob("Links of a relay", 1, _LAYER, 3, "Relays of the next layer it may use."),
            "skew": Knob("Speed of the fast ones", 1, 10, 4, "Factor for one relay in four."),
        },
        price=lambda knobs: knobs["links"],
        bits=_relay_bits,
        front=_relay_front,
        python=lambda _: (
            "import anonymatch as am\n"
            "graph = am.relay_graph(links, users=entries, exits=exits, bandwidth=speeds)\n"
            "am.metrics(graph).matching_entropy"
        ),
        cost="edges",
        unit="links per relay",
        measure="bits per user",
        meaning="each bit doubles the matchings that explain the traffic, for every user",
    ),
}
"""Systems by the names that addresses use."""
