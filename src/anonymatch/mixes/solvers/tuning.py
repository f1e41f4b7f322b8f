"""Measured speeds and thresholds of the choice among solvers, and of those without a folder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- links
    # What a number that is taken as a mean changes at most: in any probability, in the entropy of a
    # message and in joint bits, as measured on logs of 60 to 400 messages where both could be had.
    probability_off: float = 0.01
    entropy_off: float = 0.02
    joint_off: float = 0.75
    least_weight: float = 1e-250  # times other weights, still within doubles
    # ---- exponential
    total_grid: int = 1000  # parts of a bit in which quantiles are told
    total_sure: float = 1e-12
    # ---- any_delay
    delay_bytes: float = 90.0  # of a candidate, at most
    delay_seconds: float = 2.5e-7  # to weigh one
    # Smallest weight of a departure as a dummy, as a share of the largest: of chains, and if exact.
    delay_rarest: float = 1e-10
    rarest_exact: float = 1e-60
    delay_lightest: float = -600.0  # log of the share of the largest weight that is as good as none
    delay_some: int = 1 << 20  # candidates weighed at once
    # ---- offers
    closed_seconds: float = 1e-6  # of a message
    flush_seconds: float = 1e-4  # of a flush
    offer_few: int = 200  # messages whose guessing entropies are all computed
    counting_share: float = 0.5  # of the budget, that counting numbers along the log may take
    # Seconds of counts by hop if no budget is given and estimates fit them
    offer_unasked: float = 20.0
    at_least: float = 0.5  # seconds that any budget allows for them
    offer_left: float = 0.8  # of a budget that the solver before did not fit


SOLVING = SolverTuning()
