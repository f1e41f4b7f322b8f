"""Measured speeds and thresholds of chains over exponential hops."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HopTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- phase_log
    phase_tolerance: float = 1e-12  # of a message, that is not followed any more
    # Student's t with 9 degrees of freedom: 99 % of means, and 97 % of what the jackknife gives.
    phase_batches: int = 10
    phase_quantile: float = 3.25
    phase_confidence: float = 0.95
    work_seconds: float = 0.27e-9  # a pass over a cell, measured
    phase_backward: float = 2.5  # passes over the log backwards, in forward ones
    phase_drawing: float = 3.0  # the same of drawing, beside the paths themselves
    phase_finer: float = 1.5  # work where nothing to speak of is cut off, in that of drawn figures
    path_seconds: float = 0.7e-9  # an event, a path and a departure to come
    phase_row_seconds: float = 9e-8  # a message and a departure to come, for all batches
    phase_far: float = 36.0  # means of the slowest hop after which a message has left
    # Of a prediction: standard deviations of the number in a hop, passes per event and per cell,
    # where numbers are known and where losses or cover hide them; measured.
    phase_width: float = 4.5
    event_work: float = 6e3
    cell_work: tuple[float, float] = (25.0, 300.0)
    phase_samples: tuple[int, ...] = (400, 200, 100, 40, 20)
    fewest_paths: int = phase_samples[-1]
    enough_samples: int = 200
    more_samples: float = 10.0  # seconds that may go into more samples than that
    # ---- phase_chain
    # Shares of the weight that are left out, smaller on demand
    count_cuts: tuple[float, ...] = (1e-16, 1e-40, 1e-120, 0.0)
    count_cut_error: float = 1e-9  # what may be missing of any probability
    # The same where figures are drawn, which are known less well
    drawn_cuts: tuple[float, ...] = (1e-10, *count_cuts)
    roughest_cut: float = 1e-8  # if that alone fits the budget
    drawn_error: float = 1e-4
    outline_cuts: float = 20.0  # times what is cut off at an event, that may be missing after it
    # Of a log, and messages of each
    fewest_stretches: int = 6
    count_least_core: int = 20
    # Of what is left of a budget, and rounds of scaling
    scaling_share: float = 0.05
    count_most_rounds: int = 100
    # How much dearer the whole log or another stretch may be than the first one
    count_fuller: float = 1.05
    most_tilts: int = 12
    # ---- phase_figures
    outline_normal: float = 1.96
    outline_grid: int = 4000  # delays by which means of the law are taken
    outline_gone: float = math.log(1e-13)  # log of what is left out there,
    outline_tail: float = math.log(1e-4)  # and of candidates of a message
    outline_pairs: float = 2e6  # of a message and a candidate that are looked at
    pair_seconds: float = 4e-8
    message_seconds: float = 1e-6
    # Of scaling, by message and by step of time
    round_seconds: float = 6e-8
    step_seconds: float = 1.2e-7
    # Of time in a mean delay, and for each message at most
    outline_steps: float = 50.0
    most_steps: int = 4
    # Of the likeliest departure's weight, or the least that scaling divides by
    outline_short: float = 1e-7
    outline_confidence: float = 0.95
    # A stretch, in mean delays: before it and of its own; after it until this much of a delay.
    outline_before: float = 2.0
    outline_within: float = 1.0
    outline_after: float = math.log(1e-3)
    # Bits by which a mean may be off because stretches begin and end; measured
    outline_margins: float = 1e-3
    outline_each: float = 0.999  # confidence of the interval of one message
    # ---- hidden_chain
    # Weights of numbers inside that are left out, smaller on demand
    hidden_cuts: tuple[float, ...] = (1e-30, 1e-80, 1e-200)
    hidden_exact: float = 1e-6  # error of a probability beyond which figures are not called exact
    hidden_cut_error: float = 1e-9  # relative evidence that may be left out
    # Events of a call of the kernel, with rows and without: below .1 s
    hidden_step: int = 256
    long_step: int = 16384
    # An event, roughly: only the bar depends on it
    hidden_row_seconds: float = 1e-5
    event_seconds: float = 5e-7
    state_seconds: float = 2.5e-9  # a state and column of the basis, measured
    hidden_columns: int = 40  # of the basis, on average
    most_tilt: float = 30.0  # nats by which odds are tilted until a number is the expected one
    # Of a search for the mean that fits best
    mean_rounds: int = 30
    mean_step: float = 1.3
    # Nats and departures from which it is worth a note
    mean_gain: float = 8.0
    few_real: float = 10.0
    # ---- hidden_rates
    # Of expectation and maximisation; a few are enough where one rate is known
    fit_most_rounds: int = 60
    fit_settled: float = 1e-5  # nats that a round gains, below which no more are worth it
    # ---- stretches
    figure_seconds: float = 2.8e-6  # of all figures, per message and root of the number inside
    stretch_share: float = 0.6  # of the budget
    # Times that the number inside at a moment matters: until e^-20 of that is left
    stretch_margin: float = 20.0
    stretch_quick: float = 0.3  # seconds that any budget allows
    # Messages of a stretch, and seconds beside them
    stretch_least_core: int = 1_000
    stretch_seconds: float = 8e-3
    stretch_fewest: int = 10  # stretches


HOPS = HopTuning()
