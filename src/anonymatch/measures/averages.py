"""Figures of many users as one: means and quantiles, with the interval that holds them.

A mean of figures that lie in intervals lies between the means of the ends. The same is true of
quantiles: if no figure falls, the k-th smallest does not. So both are exact interval arithmetic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.errors import InputError
from anonymatch.measures.figure import Figure
from anonymatch.measures.users import Range, UserFigures

__all__ = ["largest", "mean", "quantile", "smallest"]

Floats = npt.NDArray[np.float64]

_CLOSE = 1e-12  # a share of the weight missed by less is reached


def mean(users: UserFigures, figures: Range) -> Figure | None:
    """The mean over the counted users, each as much as it is likely to have departed.

    None if there is nobody.

    Examples
    --------
    >>> import anonymatch as am
    >>> users = am.metrics(am.partition([2, 4])).user_figures
    >>> round(mean(users, users.shannon).value, 6)
    1.666667
    """
    weights, some = _counted(users, figures)
    total = float(weights.sum())
    if not total > 0.0:
        return None
    value, low, high = (float(weights @ part) / total for part in some.parts)
    return Figure.rounded(value, low, high).clipped(float(some.low.min()), float(some.high.max()))


def quantile(users: UserFigures, figures: Range, share: float) -> Figure | None:
    """What the worst share of the counted users does not exceed; 0 is the smallest figure of all.

    Users count as in :func:`mean`. None if there is nobody.

    Examples
    --------
    >>> import anonymatch as am
    >>> users = am.metrics(am.partition([1, 2, 4])).user_figures
    >>> [round(quantile(users, users.shannon, share).value, 6) for share in (0.1, 0.3, 0.5)]
    [0.0, 1.0, 2.0]
    """
    if not 0.0 <= share <= 1.0:
        raise InputError(f"a quantile is a share from 0 to 1, not {share!r}")
    weights, some = _counted(users, figures)
    if not float(weights.sum()) > 0.0:
        return None
    return Figure(*(_quantile(part, weights, share) for part in some.parts))


def smallest(users: UserFigures, figures: Range) -> Figure | None:
    """The smallest figure of the counted users; None if there is nobody."""
    return quantile(users, figures, 0.0)


def largest(users: UserFigures, figures: Range) -> Figure | None:
    """The largest figure of the counted users; None if there is nobody."""
    return quantile(users, figures, 1.0)


def _counted(users: UserFigures, figures: Range) -> tuple[Floats, Range]:
    """How much each counted user counts, and its figure: in the middle where it is not known."""
    counted = users.counted
    some = figures.at(counted)
    middle = np.where(np.isnan(some.value), (some.low + some.high) / 2, some.value)
    weights = np.ones(len(middle)) if users.departed is None else users.departed[counted]
    return weights, Range(middle, some.low, some.high)


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0.0]
    reached = np.cumsum(weights[order])
    wanted = share * reached[-1] * (1 - _CLOSE)
    return float(values[order[min(np.searchsorted(reached, wanted), len(order) - 1)]])
