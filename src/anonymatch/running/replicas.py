"""Intervals from replicas of a chain that all begin alike, at 95 %."""

from __future__ import annotations

import math

from anonymatch.base.arrays import Floats
from anonymatch.base.interval import Interval

__all__ = ["GROUPS", "REPLICA_CONFIDENCE", "T_GROUPS", "T_LANES", "replica_mean"]

REPLICA_CONFIDENCE = 0.95
# Student's t with 15 degrees of freedom, and a sixth more: replicas that begin alike are a little
# closer to each other than to the truth, as logs with exact answers show.
T_LANES = 2.131 * 7 / 6
T_GROUPS = 2.093  # and with 19
GROUPS = 20  # of messages that follow each other, for the error of the divergence


def replica_mean(values: Floats, slack: float) -> Interval:
    """The mean over replicas; ``slack``: what all of them may be off by."""
    value = float(values.mean())
    half = T_LANES * float(values.std(ddof=1)) / math.sqrt(len(values)) + slack
    return Interval(value, value - half, value + half)
