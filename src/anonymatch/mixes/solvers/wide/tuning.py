"""Measured speeds and thresholds of chains over matchings of wide logs."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WideTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- bands
    band_hopeless: float = 1e3  # budgets beyond which no plan can be wrong
    state_seconds: float = 2e-9  # of a state in an exact programme, for a look ahead
    band_valley: float = math.log(10.0)  # how much lower than what is on both sides of it
    few_rows: float = 0.05
    band_peaks: int = 2000  # rows that are enough to tell that
    # ---- link_chain
    # Seconds, measured: of an entry in a step of the scaling, of a row in a sweep of all replicas,
    # without weights and with, and of a row in a sample.
    link_entry_seconds: float = 1e-9
    sweep_seconds: tuple[float, float] = (100e-9, 170e-9)
    # The same with weights, for each entry of a row: they come from farther
    link_farther_seconds: float = 2e-10
    link_record_seconds: float = 150e-9
    link_row_seconds: float = 60e-9  # of an entry, for figures of its row
    top_seconds: float = 15e-9  # of an entry, for the likeliest column of its row
    link_setup_seconds: float = 15e-9  # of an entry
    # What is added falls as exp(-x): from about where nothing is paired to where nothing is added.
    first_added: float = -4.0
    last_added: float = 9.0
    # Of nodes, and where the budget is small
    link_apart: float = 0.65
    link_far_apart: float = 1.0
    link_thin: int = 4
    link_node_sweeps: int = 50
    link_samples: int = 500
    least_settled: float = 0.3  # of the sweeps before the first sample that are made always
    link_settled: int = 150  # sweeps after the weights have risen
    # Sweeps: replicas that begin first in, first out tell too little for tens of them
    link_burn: int = 400
    link_most_effort: float = 60.0
    link_share: float = 0.8  # of the budget, for the chain: the rest is for the log and its band
    # Seconds of the chain, and a row, if nobody told a budget
    link_unasked: float = 8.0
    link_unasked_each: float = 4e-4
    # Of the scaling
    link_steps: int = 400
    least_steps: int = 50
    link_parting: int = 12  # sweeps before the first node: all pairs are given up
    # Bits a message that the integral may leave out
    link_integral_off: float = 1e-4
    link_far_off: float = 5e-4
    # Times the sweeps to settle: as a rule, told numbers are the expected ones then
    link_tuning: int = 3
    link_nothing: float = 2e-4  # of all rows and columns
    link_farthest: float = 60.0  # that what is added may go, in logs, either way
    link_farther: float = 8.0  # before the first node: all pairs are given up
    plain_steps: int = 16
    link_close: float = 1e-7  # of rows' sums to 1, where the scaling may stop
    # Of both ways, the share of that up, and of their difference, by which that may be off. It was
    # measured on windows, log-normal and Erlang logs with losses, cover or both, 4 to 27 sweeps a
    # node: the share was 0.30 to 0.43.
    link_upward: float = 0.37
    link_lag_left: float = 0.08
    link_rounds: int = 4  # of short runs that make the told number of pairs the expected one
    link_scalings: int = 40  # that make them so by the scaling, before
    far_from_mean: float = 5.0  # standard deviations that are as good as never passed
    top_errors: float = 3.0  # standard errors by which a column may be likelier than it seems
    link_normal: float = 4.0  # variance from which on numbers of pairs are nearly normal
    # ---- link_estimate
    # Bits of the divergence, which is taken to its second order
    estimate_divergence_off: float = 2e-5
    # Bits of the same, over the root of samples and rows: of counts themselves
    estimate_noise: float = 0.5
    # ---- wide_links
    step_seconds: float = 2e-7  # per state and choice, measured
    exact_row_seconds: float = 1e-4  # per row
    most_steps: float = 1e7  # of which each takes 8 bytes
    exact_bits: int = 62  # of a key: columns taken, and numbers of pairs and of lost rows
    exact_share: float = 0.5  # of the budget
    exact_possible: float = 1e-12
    # Probabilities closer than this, relatively, are equal: the first is the guess.
    exact_tie: float = 1e-12
    exact_rounding: float = 2.0**-50
    most_states: int = 50_000_000  # of a programme over who is lost
    # ---- swap_chain
    # Seconds of a row's entry in a step of the scaling, and of a proposal in one replica, measured:
    # without weights and with.
    swap_entry_seconds: tuple[float, float] = (0.8e-9, 1.0e-9)
    proposal_seconds: tuple[float, float] = (0.95e-9, 3.0e-9)
    # The same with weights, for each entry of a row: they come from farther
    swap_farther_seconds: float = 9e-12
    swap_record_seconds: float = 3e-9  # of a row in one replica
    swap_row_seconds: float = 45e-9  # of an entry, for figures of its row
    swap_setup_seconds: float = 8e-9  # of an entry
    swap_highest: float = 12.0  # tilt at which nothing is left to swap: exp(-12) a message
    # Tilt at which it does not matter any more, over the square of the reach
    swap_lowest: float = 0.02
    # Of logs of tilts, and where the budget is small
    swap_apart: float = 0.45
    swap_far_apart: float = 0.7
    swap_thin: int = 4
    looked_at: int = 300  # rows whose entropies say how far swaps reach
    swap_burn: int = 100
    swap_node_sweeps: int = 45
    swap_samples: int = 500
    swap_most_effort: float = 16.0
    swap_small: float = 0.12  # effort below which tilts are farther apart
    swap_share: float = 0.4  # of the budget, for the chain
    most_share: float = 0.8  # the same at most: what takes more is left out
    fewest_steps: int = 12
    fewest_samples: int = 8
    # Seconds of the chain, and a row, if nobody told a budget
    swap_unasked: float = 8.0
    swap_unasked_each: float = 4e-4
    swap_steps: int = 400  # of the scaling
    swap_relaxation: float = 1.98
    swap_close: float = 1e-6  # of columns' sums to 1, where the scaling may stop
    # Bits a message that the integral may leave out then
    swap_integral_off: float = 1e-4
    swap_far_off: float = 1e-3
    swap_lag_left: float = 0.25  # of the difference between both ways, that their mean may be off
    swap_divergence_off: float = 2e-5  # bits of the divergence, which is taken to its second order


WIDE = WideTuning()
