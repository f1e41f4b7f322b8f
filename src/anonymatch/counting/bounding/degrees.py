"""Brègman's bound of given degrees: closed forms need it without the other bounds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import wholes
from anonymatch.base.logarithms import log_factorials


def bregman(degrees: npt.ArrayLike) -> float:
    """Brègman's bound for square 0/1 graphs with these degrees, as natural log.

    The count is at most the product of (d!)^(1/d); -inf when somebody has no edge.

    References
    ----------
    .. [1] Brègman. Some properties of nonnegative matrices and their permanents. 1973.

    Examples
    --------
    >>> round(math.exp(bregman([3, 3, 3, 3, 3, 3])), 9)
    36.0
    """
    values = wholes(degrees, "degrees").astype(np.float64)
    if (values == 0).any():
        return -math.inf
    return float(np.sum(log_factorials(values) / values))
