"""PlanTuning: how thoroughly a plan simulates, and the limits of what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["TUNING", "Effort", "Sweep"]


class Effort(NamedTuple):
    """How much of a stretch is drawn: targets, and packets at most between filling and leaving.

    So many packets through three layers; on longer ways there are fewer.
    """

    targets: int
    packets: int
    ranked: bool  # whether guesses are counted


_CONFIRM = Effort(targets=300, packets=75_000, ranked=True)


class Sweep(NamedTuple):
    """How well settings are simulated before one is chosen, and how well that one again."""

    points: int  # of a curve
    runs: int
    effort: Effort
    again: int = 24
    confirm: Effort = _CONFIRM


# Enough to name the nearest setting where nothing can meet the targets.
_LIGHT = Sweep(7, 8, Effort(targets=150, packets=15_000, ranked=False))
_UNRANKED = _CONFIRM._replace(ranked=False)
_EXPECTED = Effort(targets=200, packets=10_000, ranked=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTuning:
    """Numbers that decide how long a plan takes, and how large its request may be."""

    # ---- the search; the thorough sweeps first, because the budget decides
    efforts: tuple[Sweep, ...] = (
        Sweep(14, 16, Effort(targets=150, packets=30_000, ranked=False)),
        _LIGHT,
        _LIGHT._replace(confirm=_UNRANKED),  # ranking guesses is long where many are in flight
        _LIGHT._replace(again=12, confirm=_UNRANKED),
        Sweep(5, 4, Effort(targets=100, packets=5_000, ranked=False), 8, _UNRANKED),
    )
    confirmed: int = 2  # settings that a plan simulates again, as a rule
    tries: int = 8  # settings that are simulated again before a plan gives up
    least_stay: float = 0.25  # arrivals of a mix, unless targets ask for more
    most_stay: float = 20.0
    longest_stay: float = 2000.0
    room: float = 1.03  # more than just enough, so that noise seldom undoes it
    longer: float = 1.06  # by which the delay of a setting that misses grows
    flushes: int = 100_000  # of an n-1 attack that are gone through

    # ---- simulation
    lanes: int = 32
    layers: int = 3  # for which an effort names packets
    packet_seconds: float = 0.4e-6  # to draw a packet at a hop, with its share of passes; about
    packet_bytes: int = 120  # of a packet at a hop; about
    tick_seconds: float = 50e-9  # of a mix, at most
    rank_seconds: float = 0.7e-6  # to rank what is open for a target, per packet in flight; about
    kept_delays: int = 2000
    least_bursts: int = 30  # of a stretch
    batches: int = 4  # of a stretch
    certain: float = 1e-9  # bits of a message that is identified
    expected_runs: int = 8
    expected_effort: Effort = _EXPECTED
    expected_longest: float = 2.0  # predicted seconds

    # ---- requests
    most_rate: float = 1e9  # packets per second
    most_mixes: int = 10_000
    most_cover: float = 1e6
    widths: int = 80  # mixes per layer up to which an open width is swept
    most_networks: int = 20
    most_settings: int = 100
    most_hours: int = 168
    largest_file: int = 64_000  # bytes of a plan that a person wrote
    least_arrivals: int = 30  # from which on a plan says something

    # ---- results
    front: int = 12  # settings of the front that are shown
    load: float = 0.5  # of a client's queue where no delay is asked
    katzenpost_loops: float = 0.05  # share of the payload stream: it reads a LambdaL of 0 as unset


TUNING = PlanTuning()
