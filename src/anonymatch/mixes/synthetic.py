"""Logs of one mix and of networks that a law makes up, with their truth."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from anonymatch import _native
from anonymatch._native import NetworkMix
from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted
from anonymatch.mixes.laws import Exponential, FlushLaw, Law, Traffic, check_law
from anonymatch.mixes.laws.law import DelayLaw
from anonymatch.mixes.logs.messages import Messages
from anonymatch.running import Cancelled, byte_of_work
from anonymatch.tabular import check_memory, write_table

if TYPE_CHECKING:
    import polars as pl

MOST = 10**9  # messages, and people
SLOWEST, FASTEST = 1e-12, 1e12  # messages a second
_BYTES_A_MESSAGE = 200  # seen once: times, truth and a name, at their peak


def synthesize(
    law: Law | str,
    *,
    messages: int,
    rate: float = 1.0,
    users: int | None = None,
    receivers: int | None = None,
    cover: float = 0.0,
    loss: float = 0.0,
    dummies: str = "exit",
    seed: int = 0,
) -> Messages:
    """A log of messages that come in at random and are held back by the law.

    Parameters
    ----------
    law : Law or str
        Such as ``Window(1, 5)`` or ``"window:1,5"``. Delays of a window are uniform; those of a
        free law need its ``longest``.
    messages : int
        Messages in; they are a Poisson process.
    rate : float
        Messages in a second, on average.
    users, receivers : int, optional
        So many people, each message from and to any of them; as many as messages unless told, and
        each has one.
    cover : float
        Messages out that are nobody's, for each message in, on average. They leave at any time, or
        with any flush. They are flagged, which is the truth and not what the attacker sees.
    loss : float
        Probability of a message to be lost on entry. Flagged as well.
    dummies : {"exit", "pool"}
        Of a mix that sends on by flushes: whether cover traffic joins what leaves, or comes into
        the mix and is counted, held back and sent on like mail. At the exit it is, with each flush,
        a Poisson number with the mean ``cover * rate`` times the seconds from flush to flush. Into
        the pool it comes at that rate: before each tick of a clock, or at any time.
    seed : int

    Returns
    -------
    Messages
        With the truth; -1 for messages that were lost, which `lost` flags, or wait for a flush that
        never comes. A log of a mix with flushes ends with the first one at or after the last
        message in. There are no flags of what was not asked for.

    Examples
    --------
    >>> log = synthesize("window:1,5", messages=100, cover=0.1, seed=1)
    >>> log.n_in, log.n_out, bool((log.true_delays() >= 1).all())
    (100, 110, True)
    """
    rule = check_law(law)
    number = whole(messages, "messages", least=1, most=MOST)
    speed = real(rate, "rate", low=SLOWEST, high=FASTEST)
    extra, probability = real(cover, "cover", high=1e6), real(loss, "loss", high=1.0)
    check_memory(
        int(number * (2 + extra) * _BYTES_A_MESSAGE), "making this log", "ask for fewer messages"
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    arrivals = np.cumsum(draw.exponential(1 / speed, number))
    if dummies not in ("exit", "pool"):
        raise InputError(f"dummies must be exit or pool, not {quoted(dummies)}")
    traffic = Traffic(rate=speed, cover=extra, loss=probability, cover_in_pool=dummies == "pool")
    departures, gone, hidden = rule.drawn(arrivals, traffic, draw)
    left = np.flatnonzero(~np.isnan(departures))
    # Shuffled, so that messages of one flush leave in any order.
    order = draw.permutation(len(left) + len(hidden))
    times = np.concatenate((departures[left], hidden))[order]
    order = order[np.argsort(times, kind="stable")]
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    truth = np.full(number, -1, dtype=np.int64)
    truth[left] = position[: len(left)]
    return Messages(
        arrivals=arrivals,
        departures=np.sort(times, kind="stable"),
        senders=_people("user", number, users, draw),
        receivers=_people("receiver", len(order), receivers, draw),
        truth=truth,
        cover=order >= len(left) if extra else None,
        lost=gone if probability else None,
    )


def _people(
    noun: str, messages: int, people: int | None, draw: np.random.Generator
) -> tuple[Hashable, ...]:
    if people is None:
        numbers = range(1, messages + 1)
    else:
        most = whole(people, f"{noun}s", least=1, most=MOST)
        numbers = (draw.integers(most, size=messages) + 1).tolist()
    return tuple(f"{noun} {number}" for number in numbers)


# ---- logs of networks made up by a law, with their truth: for examples, tests and calibration


_MOST_MIXES = 10**5
_BYTES_A_ROW = 150
_SHAPES = "one, cascade:3, or layers x mixes in each as in 3x3"


def network_shape(text: str) -> tuple[int, int]:
    """Layers, and mixes in each: ``one``, ``cascade:3`` or ``3x4``.

    Examples
    --------
    >>> network_shape("one"), network_shape("cascade:3"), network_shape("3x4")
    ((1, 1), (3, 1), (3, 4))
    """
    given = str(text).strip().lower()
    if given == "one":
        return 1, 1
    cascade, grid = re.fullmatch(r"cascade:(\d+)", given), re.fullmatch(r"(\d+)x(\d+)", given)
    layers, width = 0, 0
    if cascade is not None:
        layers, width = int(cascade[1]), 1
    elif grid is not None:
        layers, width = int(grid[1]), int(grid[2])
    if not 1 <= layers * width <= _MOST_MIXES:
        raise InputError(f"no network {quoted(text)}; give {_SHAPES}")
    return layers, width


def synthesize_network(
    network: str = "3x3",
    law: Law | str = "exponential:1",
    *,
    messages: int,
    rate: float = 1.0,
    users: int | None = None,
    receivers: int | None = None,
    cover: float = 0.0,
    loss: float = 0.0,
    link: float = 0.0,
    seed: int = 0,
) -> pl.DataFrame:
    """A log of all links of a network through which messages go that come in at random.

    Parameters
    ----------
    network : str
        ``one``, ``cascade:L``, or ``LxW``: L layers of W mixes, a message takes any of each layer.
    law : Law or str
        Of all mixes.
    messages, rate, users, receivers, seed
        As for :func:`~anonymatch.mixes.synthetic.synthesize`.
    cover : float
        Dummies for each message, on average. They go all the way and look like messages; the log
        flags them.
    loss : float
        Probability per hop that a packet is lost: its later rows are missing. For laws under which
        packets do not wait for others.
    link : float
        Seconds on every link. If not 0, rows have the columns ``sent`` and ``received``.

    Returns
    -------
    polars.DataFrame
        A row a packet and link, in order of time; ``message`` is the truth. No two rows have the
        same time, so that the order in which packets of one flush leave is kept.

    Examples
    --------
    >>> log = synthesize_network("2x2", "exponential:3", messages=100, seed=1)
    >>> log.columns, log.height, log["time"].is_sorted()
    (['time', 'from', 'to', 'message'], 300, True)
    """
    import polars as pl

    layers, width = network_shape(network)
    rule = check_law(law)
    number = whole(messages, "messages", least=1, most=MOST)
    speed = real(rate, "rate", low=SLOWEST, high=FASTEST)
    extra = real(cover, "cover", high=1e6)
    seconds = real(link, "link", high=1e12)
    lossy = real(loss, "loss", high=1.0)
    if lossy and isinstance(rule, FlushLaw):
        raise InputError(
            Argument("loss"), f" in a network is for laws without flushes, not for the {rule}"
        )
    check_memory(
        int(number * (1 + extra) * (layers + 1) * _BYTES_A_ROW),
        "making this log",
        "ask for fewer messages",
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    dummies = int(draw.poisson(extra * number))
    packets = number + dummies
    arrivals = np.cumsum(draw.exponential(1 / (speed * packets / number), packets))
    routes = draw.integers(width, size=(packets, layers)) + width * np.arange(layers)
    flagged = np.zeros(packets, dtype=np.bool_)
    flagged[draw.choice(packets, dummies, replace=False)] = True
    senders = np.array(_people("user", packets, users, draw))
    targets = np.array(_people("receiver", packets, receivers, draw))
    sent, received, packet, hop = _drawn(rule, arrivals, routes, width * layers, seconds, draw)
    if lossy:  # a packet that is lost in layer k has k + 1 rows
        seen = hop < np.minimum(draw.geometric(lossy, packets), layers + 1)[packet]
        sent, packet, hop = sent[seen], packet[seen], hop[seen]
        received = None if received is None else received[seen]
    mixes = np.array([f"m{k + 1}" for k in range(width * layers)])
    from_ = np.where(hop > 0, mixes[routes[packet, np.maximum(hop - 1, 0)]], senders[packet])
    to = np.where(hop < layers, mixes[routes[packet, np.minimum(hop, layers - 1)]], targets[packet])
    times = {"time": sent} if received is None else {"sent": sent, "received": received}
    log = pl.DataFrame({**times, "from": from_, "to": to, "message": packet + 1})
    return log.with_columns(cover=pl.Series(flagged[packet])) if extra else log


def write_network(log: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a log of links to a file; its suffix tells the format: .csv, .tsv, .parquet, .jsonl."""
    write_table(path, log)


def _drawn(
    law: Law, arrivals: Floats, routes: Ints, mixes: int, link: float, draw: np.random.Generator
) -> tuple[Floats, Floats | None, Ints, Ints]:
    """Rows in order of time: when a packet leaves and arrives, which it is, and at which hop."""
    mix = _mix(law)
    if mix is None:
        return _by_delays(law, arrivals, routes, link, draw)
    seed = int(draw.integers(2**62))
    log = _native.network_draw(
        arrivals, routes.astype(np.int32), mixes, mix, link=link, seed=seed, cancel=byte_of_work()
    )
    if not log.finished:
        raise Cancelled
    time = _apart(log.time)
    starts = log.from_ != _native.CARRIED
    rows = np.flatnonzero(starts)
    packet = log.packet[rows]
    hop = _hops(packet, len(arrivals))
    if link == 0.0:
        return time[rows], None, packet, hop
    received = time[rows] + link  # of the last link, which nobody waits for
    arrived = np.flatnonzero(~starts)
    row_of = np.cumsum(starts) - 1
    received[row_of[log.before[arrived]]] = time[arrived]
    return time[rows], received, packet, hop


def _by_delays(
    law: Law, arrivals: Floats, routes: Ints, link: float, draw: np.random.Generator
) -> tuple[Floats, Floats | None, Ints, Ints]:
    """The same of a law whose delays do not depend on other packets."""
    assert isinstance(law, DelayLaw)
    packets, layers = routes.shape
    delays = law.delays(packets * layers, draw).reshape(packets, layers) + link
    sent = arrivals[:, None] + np.concatenate(
        (np.zeros((packets, 1)), np.cumsum(delays, axis=1)), axis=1
    )
    order = np.argsort(sent.reshape(-1), kind="stable")
    time = sent.reshape(-1)[order]
    packet, hop = order // (layers + 1), order % (layers + 1)
    if link == 0.0:
        return _apart(time), None, packet, hop
    return time, time + link, packet, hop


def _hops(packet: Ints, packets: int) -> Ints:
    """How many rows of the same packet come before each."""
    order = np.argsort(packet, kind="stable")
    counts = np.bincount(packet, minlength=packets)
    hop = np.empty(len(packet), dtype=np.int64)
    hop[order] = np.arange(len(packet)) - np.repeat(np.cumsum(counts) - counts, counts)
    return hop


def _apart(times: Floats) -> Floats:
    """Times from 0 that rise at every row, by as little as doubles can.

    Examples
    --------
    >>> bool((np.diff(_apart(np.array([1.0, 1.0, 1.0, 2.0]))) > 0).all())
    True
    """
    ranks = np.arange(len(times))
    bits = np.ascontiguousarray(times, dtype=np.float64).view(np.int64)  # in the order of doubles
    return (np.maximum.accumulate(bits - ranks) + ranks).view(np.float64)


def _mix(law: Law) -> NetworkMix | None:
    """The law as kernels draw it; None for delays that do not depend on other packets."""
    if isinstance(law, Exponential):
        return NetworkMix("exponential", seconds=law.mean)
    if isinstance(law, DelayLaw):
        return None
    if not isinstance(law, FlushLaw):
        raise InputError(f"no network is drawn of the {law}; take another law")
    rule = law.flush
    if rule.batch is not None:
        return NetworkMix("batch", batch=rule.batch, kept=rule.kept)
    assert rule.interval is not None
    if rule.spread is not None:
        return NetworkMix(
            "normal_coins", seconds=rule.interval, centre=rule.centre, spread=rule.spread
        )
    if rule.portion is not None:
        return NetworkMix("timed_share", seconds=rule.interval, kept=rule.kept, share=rule.portion)
    if rule.share is None:
        return NetworkMix("timed", seconds=rule.interval, kept=rule.kept)
    return NetworkMix("coins", seconds=rule.interval, kept=rule.kept, share=rule.share)
