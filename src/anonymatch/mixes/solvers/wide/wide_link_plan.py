"""How much is done for a wide log with losses and cover, and what it costs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anonymatch._native import LINK_CHAIN_SAMPLES
from anonymatch.mixes.solvers.wide.wide_link_band import LinkBand
from anonymatch.running import Budget

__all__ = [
    "ENTRY_SECONDS",
    "FIRST_ADDED",
    "LAST_ADDED",
    "PARTING",
    "ROW_SECONDS",
    "THIN",
    "TOP_SECONDS",
    "LinkPlan",
    "planned_links",
    "record_seconds",
    "sweep_seconds",
]

# Seconds, measured: of an entry in a step of the scaling, of a row in a sweep of all replicas,
# without weights and with, and of a row in a sample.
ENTRY_SECONDS = 1e-9
_SWEEP_SECONDS = (100e-9, 170e-9)
_FARTHER_SECONDS = 2e-10  # the same with weights, for each entry of a row: they come from farther
_RECORD_SECONDS = 150e-9
ROW_SECONDS = 60e-9  # of an entry, for figures of its row
TOP_SECONDS = 15e-9  # of an entry, for the likeliest column of its row
_SETUP_SECONDS = 15e-9  # of an entry
# What is added falls as exp(-x): from about where nothing is paired to where nothing is added.
FIRST_ADDED, LAST_ADDED = -4.0, 9.0
_APART, _FAR_APART = 0.65, 1.0  # of nodes, and where the budget is small
THIN = 4
_NODE_SWEEPS, _SAMPLES = 50, 500
_LEAST_SETTLED = 0.3  # of the sweeps before the first sample that are made always
_SETTLED = 150  # sweeps after the weights have risen
_BURN = 400  # sweeps: replicas that begin first in, first out tell too little for tens of them
_MOST_EFFORT = 60.0
_SHARE = 0.8  # of the budget, for the chain: the rest is for the log and its band
_UNASKED, _UNASKED_EACH = 8.0, 4e-4  # seconds of the chain, and a row, if nobody told a budget
_STEPS, _LEAST_STEPS = 400, 50  # of the scaling
PARTING = 12  # sweeps before the first node: all pairs are given up
_INTEGRAL_OFF, _FAR_OFF = 1e-4, 5e-4  # bits a message that the integral may leave out
_TUNING = 3  # times the sweeps to settle: as a rule, told numbers are the expected ones then


class LinkPlan(NamedTuple):
    """How much is done: steps of the scaling, nodes, sweeps at each, both ways, and samples."""

    steps: int
    nodes: int
    burn: int
    sweeps: int
    settle: int  # sweeps before the first sample
    rounds: int  # in which that is done
    samples: int
    apart: float  # of nodes
    off: float  # bits a message that the integral may leave out

    def sweeps_in_all(self) -> int:
        nodes = 2 * self.nodes * (self.burn + self.sweeps) + PARTING
        return nodes + self.rounds * self.settle + THIN * self.samples

    def seconds(self, band: LinkBand) -> float:
        each = sweep_seconds(band)
        return band.rows * (
            each * self.sweeps_in_all() + record_seconds(band) * self.samples
        ) + band.entries * (
            ENTRY_SECONDS * self.steps + ROW_SECONDS + 3 * TOP_SECONDS + _SETUP_SECONDS
        )


def sweep_seconds(band: LinkBand) -> float:
    """Of a row."""
    if band.weights is None:
        return _SWEEP_SECONDS[False]
    return _SWEEP_SECONDS[True] + _FARTHER_SECONDS * band.entries / max(band.rows, 1)


def record_seconds(band: LinkBand) -> float:
    """Of a row in a sample: counts come from as far as weights."""
    return _RECORD_SECONDS + 2.0 * _FARTHER_SECONDS * band.entries / max(band.rows, 1)


def planned_links(band: LinkBand, budget: Budget) -> LinkPlan:
    """As much as the budget allows, up to where more would hardly be seen."""
    allowed = _SHARE * budget.seconds
    if not budget.chosen:
        allowed = min(allowed, max(_UNASKED, _UNASKED_EACH * band.rows))
    steps = allowed / 8 / (ENTRY_SECONDS * max(band.entries, 1))

    def plan(effort: float) -> LinkPlan:
        apart, off = (_APART, _INTEGRAL_OFF) if effort >= 1.0 else (_FAR_APART, _FAR_OFF)
        sweeps = max(round(_NODE_SWEEPS * effort * apart / _APART), 3)
        most = _BURN if band.told else _SETTLED
        return LinkPlan(
            steps=int(np.clip(steps, _LEAST_STEPS, _STEPS)),
            nodes=1 + math.ceil((LAST_ADDED - FIRST_ADDED) / apart),
            burn=max(sweeps // 3, min(6, sweeps)),
            sweeps=sweeps,
            rounds=_TUNING if band.told else 1,
            settle=int(np.clip(most * effort * 4, _LEAST_SETTLED * most, most)),
            samples=int(np.clip(_SAMPLES * effort, 20, LINK_CHAIN_SAMPLES)),
            apart=apart,
            off=off,
        )

    low, high = 0.0, _MOST_EFFORT
    if plan(high).seconds(band) <= allowed:
        return plan(high)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if plan(middle).seconds(band) <= allowed else (low, middle)
    return plan(low)
