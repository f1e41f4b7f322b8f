"""Real systems in a few numbers: what each costs, and how much doubt it leaves for that.

Messages come by chance, so many a second. All but the pool mix are measured in bits per message:
log2 of the matchings through the messages. A pool mix is measured by the doubt about one message,
for which a closed form is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from anonymatch.mixes import closed_forms as mixes
from anonymatch.reporting.charts import AnyChart, Chosen, FrontLine, front_chart

__all__ = [
    "SYSTEMS",
    "Knob",
    "System",
    "SystemFigures",
    "choice_of",
    "system_chart",
    "timed_bits_per_message",
]

_STEPS = 30  # points of a line
_LAYER = 8  # relays in each layer of the network that stands for paths through Tor


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A number that a designer can choose."""

    key: str
    name: str
    unit: str = ""
    least: float
    most: float
    step: float = 1
    usual: float
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFigures:
    """What a choice costs and gives, and what others of its kind would.

    Lines of the front are in bits; their keys are choices as :func:`choice_of` reads them.
    ``rate`` is messages a second, where the cost is a delay: then nothing exceeds the ceiling.
    """

    cost: float
    bits: float
    front: tuple[FrontLine, ...]
    python: str
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A kind of system: its knobs, its cost, its measure, and what a choice gives."""

    key: str
    name: str
    story: str
    knobs: tuple[Knob, ...]
    cost: str
    unit: str
    measure: str
    meaning: str
    outcome: Callable[[Mapping[str, float]], SystemFigures] = field(repr=False)


def timed_bits_per_message(inside: float) -> float:
    """Bits per message of a mix that sends everything at once, ``inside`` messages on average.

    A message is with a Poisson number of others: the mean of log2(k!)/k for k one more than that.

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


_RATE = Knob(
    key="rate",
    name="Traffic",
    unit="messages a second",
    least=0.5,
    most=50,
    step=0.5,
    usual=10,
    hint="How many messages come in, on average.",
)
_MESSAGE_BITS = "bits per message"
_MESSAGE_MEANING = "each bit doubles the stories that explain the traffic, for every message in it"


def choice_of(key: str) -> tuple[str, dict[str, str]]:
    """The system and the knobs that a point of a front stands for.

    Examples
    --------
    >>> choice_of("pool batch=20 pool=5 rate=10")
    ('pool', {'batch': '20', 'pool': '5', 'rate': '10'})
    """
    system, *knobs = key.split(" ")
    return system, dict(knob.partition("=")[::2] for knob in knobs)


def _key(system: str, **knobs: float) -> str:
    return " ".join([system, *(f"{name}={value:.6g}" for name, value in knobs.items())])


def _by_delay(rate: float, chosen: float) -> tuple[FrontLine, ...]:
    """What three kinds of mixes give for a mean delay, around the chosen one."""
    longest = max(2 * chosen, 0.5)
    delays = sorted({*np.geomspace(longest / 60, longest, _STEPS).tolist(), *_above_0(chosen)})
    batches = sorted({max(2, round(2 * delay * rate + 1)) for delay in delays})
    return (
        FrontLine(
            "exponential",
            delays,
            [exponential_bits_per_message(rate * delay) for delay in delays],
            [_key("exponential", delay=delay, rate=rate) for delay in delays],
        ),
        FrontLine(
            "timed",
            delays,
            [timed_bits_per_message(2 * rate * delay) for delay in delays],
            [_key("timed", period=2 * delay, rate=rate) for delay in delays],
        ),
        FrontLine(
            "threshold",
            [(batch - 1) / 2 / rate for batch in batches],
            [batch_bits_per_message(batch) for batch in batches],
            [_key("threshold", batch=batch, rate=rate) for batch in batches],
        ),
    )


def system_chart(system: System, figures: SystemFigures) -> AnyChart:
    """The front of a system as the page of plans draws fronts: what a price buys, at most too.

    Bits are drawn as what they hide among, 2 to their power, so that lines of both pages compare.
    """
    rate = figures.rate
    lines = [
        FrontLine(line.name, *zip(*known, strict=True))
        for line in figures.front
        if (known := _positive(line))
    ]
    height = 2.0**figures.bits
    chosen = Chosen("your choice", figures.cost, height, height, height)
    return front_chart(
        lines,
        ceiling=None if rate is None else lambda delay: 2.0 ** mixes.ceiling_bits(rate * delay),
        title=f"{system.name}: anonymity against cost",
        x_label=f"{system.cost} ({system.unit})",
        y_label=f"hides among (2 to the {system.measure})",
        chosen=chosen if figures.cost > 0 else None,
    )


def _positive(line: FrontLine) -> list[tuple[float, float, str]]:
    """Points that a logarithmic axis can show."""
    keys = line.keys or [""] * len(line.x)
    points = zip(line.x, line.y, keys, strict=True)
    return [(x, 2.0**bits, key) for x, bits, key in points if x > 0]


def _above_0(delay: float) -> list[float]:
    return [delay] if delay > 0 else []


def _threshold(knobs: Mapping[str, float]) -> SystemFigures:
    batch, rate = int(knobs["batch"]), knobs["rate"]
    delay = (batch - 1) / 2 / rate
    return SystemFigures(
        cost=delay,
        bits=batch_bits_per_message(batch),
        front=_by_delay(rate, delay),
        rate=rate,
        python=(
            "from anonymatch.mixes.closed_forms import batch_bits_per_message\n"
            f"batch_bits_per_message({batch})"
        ),
    )


def _timed(knobs: Mapping[str, float]) -> SystemFigures:
    period, rate = knobs["period"], knobs["rate"]
    return SystemFigures(
        cost=period / 2,
        bits=timed_bits_per_message(rate * period),
        front=_by_delay(rate, period / 2),
        rate=rate,
        python=(
            "from anonymatch.studio.systems import timed_bits_per_message\n"
            f"timed_bits_per_message({rate * period:g})  # messages in a period, on average"
        ),
    )


def _exponential(knobs: Mapping[str, float]) -> SystemFigures:
    delay, rate = knobs["delay"], knobs["rate"]
    return SystemFigures(
        cost=delay,
        bits=exponential_bits_per_message(rate * delay),
        front=_by_delay(rate, delay),
        rate=rate,
        python=(
            "from anonymatch.mixes.closed_forms import exponential_bits_per_message\n"
            f"exponential_bits_per_message({rate * delay:g})  # messages inside, on average"
        ),
    )


def _pool(knobs: Mapping[str, float]) -> SystemFigures:
    batch, pool, rate = int(knobs["batch"]), int(knobs["pool"]), knobs["rate"]
    delay = ((batch - 1) / 2 + pool) / rate
    pools = sorted({*range(0, 2 * pool + 1, max(1, pool // 12)), pool, 2 * pool, batch})
    threshold = sorted({2 * size + 1 for size in [(batch - 1) // 2 + each for each in pools]})
    return SystemFigures(
        cost=delay,
        bits=pool_mix_bits(batch, pool),
        front=(
            FrontLine(
                f"pool, {batch} a round",
                [((batch - 1) / 2 + each) / rate for each in pools],
                [pool_mix_bits(batch, each) for each in pools],
                [_key("pool", batch=batch, pool=each, rate=rate) for each in pools],
            ),
            FrontLine(
                "threshold",
                [(size - 1) / 2 / rate for size in threshold],
                [threshold_mix_bits(size) for size in threshold],
                [_key("threshold", batch=size, rate=rate) for size in threshold],
            ),
        ),
        rate=rate,
        python=f"import anonymatch as am\nam.pool_mix_bits({batch}, {pool})",
    )


def _dining(knobs: Mapping[str, float]) -> SystemFigures:
    size = int(knobs["group"])
    sizes = list(range(1, max(2 * size, 8) + 1))
    return SystemFigures(
        cost=size,
        bits=batch_bits_per_message(size),
        front=(
            FrontLine(
                "groups",
                sizes,
                [batch_bits_per_message(each) for each in sizes],
                [_key("dining", group=each) for each in sizes],
            ),
        ),
        python=(
            "import anonymatch as am\n"
            f"am.design(users={10 * size}, edges={10 * size * size}).log2 / {10 * size}"
        ),
    )


def _network(links: int, skew: int) -> Graph:
    """Three layers of relays, each linked to the next ``links``; one in four is ``skew`` faster."""
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


def _network_bits(links: int, skew: int) -> float:
    """Entropy of the matching that happened, a user, in bits."""
    share = metrics(_network(links, skew)).matching_entropy  # of what all orders would give
    return share * batch_bits_per_message(_LAYER)


def _paths(knobs: Mapping[str, float]) -> SystemFigures:
    links, skew = int(knobs["links"]), int(knobs["skew"])
    sizes = list(range(1, _LAYER + 1))
    lines = [
        FrontLine(
            _speed(each),
            sizes,
            [_network_bits(size, each) for size in sizes],
            [_key("paths", links=size, skew=each) for size in sizes],
        )
        for each in sorted({skew, 1}, reverse=True)
    ]
    return SystemFigures(
        cost=links,
        bits=_network_bits(links, skew),
        front=tuple(lines),
        python=(
            "import anonymatch as am\n"
            "graph = am.relay_graph(links, users=entries, exits=exits, bandwidth=speeds)\n"
            "am.metrics(graph).matching_entropy"
        ),
    )


def _speed(skew: int) -> str:
    return "all equally fast" if skew == 1 else f"some {skew} times as fast"


def _knob(key: str, name: str, most: int, usual: int, hint: str, least: int = 1) -> Knob:
    return Knob(key=key, name=name, least=least, most=most, usual=usual, hint=hint)


_LIST = (
    System(
        key="threshold",
        name="Threshold mix",
        story="Waits until so many messages are inside, then sends all of them in random order.",
        knobs=(_knob("batch", "Batch", 100, 20, "Messages that leave together."), _RATE),
        cost="mean delay",
        unit="s",
        measure=_MESSAGE_BITS,
        meaning=_MESSAGE_MEANING,
        outcome=_threshold,
    ),
    System(
        key="pool",
        name="Pool mix",
        story="Keeps some messages back in each round, chosen at random, so that rounds mix too.",
        knobs=(
            _knob("batch", "Batch", 100, 20, "Messages that come in before each round."),
            _knob("pool", "Pool", 200, 20, "Messages that stay inside after each round.", 0),
            _RATE,
        ),
        cost="mean delay",
        unit="s",
        measure="bits about one message",
        meaning="each bit doubles the senders among whom one message hides",
        outcome=_pool,
    ),
    System(
        key="exponential",
        name="Exponential mix (Loopix, Katzenpost)",
        story=(
            "Holds each message for a random time of its own. This is one such mix; more of them "
            "in a row add delay and doubt."
        ),
        knobs=(
            Knob(
                key="delay",
                name="Mean delay",
                unit="s",
                least=0.05,
                most=5,
                step=0.05,
                usual=1,
                hint="How long the mix holds a message, on average.",
            ),
            _RATE,
        ),
        cost="mean delay",
        unit="s",
        measure=_MESSAGE_BITS,
        meaning=_MESSAGE_MEANING,
        outcome=_exponential,
    ),
    System(
        key="timed",
        name="Timed mix",
        story="Sends everything that is inside whenever the clock strikes.",
        knobs=(
            Knob(
                key="period",
                name="Period",
                unit="s",
                least=0.1,
                most=20,
                step=0.1,
                usual=2,
                hint="Seconds from one strike to the next.",
            ),
            _RATE,
        ),
        cost="mean delay",
        unit="s",
        measure=_MESSAGE_BITS,
        meaning=_MESSAGE_MEANING,
        outcome=_timed,
    ),
    System(
        key="dining",
        name="DC-net in groups",
        story="In a group everybody sends in every round, so that nobody can tell who spoke.",
        knobs=(_knob("group", "Group size", 60, 10, "Users who hide among each other."),),
        cost="bandwidth",
        unit="messages sent for each one said",
        measure=_MESSAGE_BITS,
        meaning=_MESSAGE_MEANING,
        outcome=_dining,
    ),
    System(
        key="paths",
        name="Path weights (Tor-like)",
        story=(
            f"Three layers of {_LAYER} relays; a message takes a path in proportion to the speed "
            "of its relays. An attacker sees where users enter and where messages leave."
        ),
        knobs=(
            _knob("links", "Links of a relay", _LAYER, 3, "Relays of the next layer it may use."),
            _knob("skew", "Speed of the fast ones", 10, 4, "One relay in four is so much faster."),
        ),
        cost="edges",
        unit="links a relay",
        measure="bits per user",
        meaning="each bit doubles the stories that explain the traffic, for every user in it",
        outcome=_paths,
    ),
)

SYSTEMS: Mapping[str, System] = {system.key: system for system in _LIST}
"""Systems by the name that they have in addresses."""
