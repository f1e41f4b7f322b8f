"""Thresholds and speeds of measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, repr=False, eq=False)
class MeasureTuning:
    """Numbers that decide how figures are computed and how wide their intervals are."""

    # ---- users (users.py, user_posteriors.py)
    together: int = 100_000  # users whose edges are looked at together: a million would fill memory
    edges: int = 1 << 18  # and edges of several users: arrays of more come as fresh pages
    wide: int = 256  # edges a user on average, from which on a look for equal users is worth it
    cells: int = 2**22  # probabilities that are sorted together
    tie: float = 1e-12  # closer probabilities, relatively, are equal: the first is the guess
    reached: float = 1e-9  # a threshold missed by less, relatively, is reached

    # ---- means and quantiles (averages.py)
    errors: float = 2.576  # standard errors that hold with 99 %
    reaches: tuple[float, ...] = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0)  # to either side
    nobody: float = 0.02  # fewer expected are none
    close: float = 1e-12  # a share of the weight missed by less is reached
    stretches: int = 14  # of time, whose means tell how much a mean varies with the traffic
    each: int = 4  # users of a stretch at least,
    fewest: int = 4  # and stretches
    resamples: int = 200  # of stretches, for the error of a quantile

    # ---- a model and a chain together (shrinking.py)
    group: int = 100  # probabilities of one size, that tell how far the model is off
    most_groups: int = 20
    group_fewest: int = 40  # below, counts alone tell
    shrunk_errors: float = 3.0  # of an interval: Student's of 15, and rows that mix less
    pooled: float = 15.0  # replicas that the noise of all probabilities together stands for
    stray: float = 3.0  # standard errors from the model beyond which counts alone are believed
    least: float = 1e-9
    fewest_of_all: int = 8  # rows that show how far a model is off, with a wide error
    counts_alone: float = 1e9  # relative variance about a model that says nothing
    none: float = 3.0  # hits that are still likely, at 95 %, where none is counted

    # ---- classes of messages (messages.py)
    step_seconds: float = 1.5e-6  # one way to spread alike messages in one state
    join_seconds: float = 2e-7  # one class of a block with one of the blocks before
    state_bytes: float = 220.0  # a state with its weight in a dictionary
    largest: float = 690.0  # log of a number of states: far beyond any budget, and a double
    polynomial: float = 1e6  # work to count ways to spread; beyond, a bound without it

    # ---- the whole system (system.py)
    most_exponent: int = 1000  # of a sum: doubles end at 1024
    equal_sums: float = 1e-9  # relative difference of row and column sums that counts as none


MEASURES = MeasureTuning()
