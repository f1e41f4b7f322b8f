"""How many ways a large block has: between two proven bounds, with an estimate between them."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.running import check_work

__all__ = ["block_log"]

_ROUNDS = 2000
_LEAST_ROUNDS = 10
_NEAR = 1e-10
_SETTLED = 1e-7
_ROUND, _PAIR = 2e-5, 1.5e-8  # seconds of a round, and of each pair in it
_TREES = 2e-10  # seconds of a node to the third when spanning trees are counted, at most
_MOST_NODES = 3000  # kinds and classes of a block whose spanning trees are counted


def block_log(
    kinds: Ints,
    classes: Ints,
    people: Ints,
    rows: Ints,
    *,
    flow: Ints | None = None,
    seconds: float = math.inf,
    connected: bool = True,
) -> tuple[Floats, float, float, float]:
    """The likeliest table, about, and the natural log of the matchings of a block by classes: an
    estimate, and what it is at least and at most.

    At least: with factors x and y that make rows and columns of x_i y_j sum to 1, the permanent of
    that matrix is at least prod (1 - p)^(1 - p) over its entries (Schrijver). At most: Brègman's
    bound from both sides. Between them, of ``connected`` blocks that are not too large, the sum
    over tables by its largest term and the curvature there, which spanning trees give; else the
    lower one.

    When the predicted ``seconds`` of one core are too few to find factors, the matchings of one
    table, ``flow``, are what there is at least.

    Examples
    --------
    >>> pairs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> table, log, low, high = block_log(*pairs, np.array([30, 10]), np.array([20, 20]))
    >>> low < log < high, abs(log - math.lgamma(41)) < 0.05
    (True, True)
    """
    from scipy.special import gammaln

    mean = _scaled(kinds, classes, people, rows, seconds)
    probability = mean / (people[kinds] * rows[classes])
    edges = people[kinds] * rows[classes]
    # log of prod x^-1 prod y^-1 is the entropy of the scaled matrix.
    entropy = -float((edges * probability * np.log(probability)).sum())
    rest = 1.0 - probability
    with np.errstate(divide="ignore", invalid="ignore"):
        schrijver = np.where(rest > 0.0, rest * np.log(rest), 0.0)
    bethe = entropy + float((edges * schrijver).sum())
    whole = float(gammaln(people + 1.0).sum() + gammaln(rows + 1.0).sum())
    off = float(np.abs(np.bincount(kinds, mean) / people - 1.0).max())
    # Of margins that did not settle nothing follows but that there is one way.
    low = bethe - 2.0 * off * float(people.sum()) if off < _SETTLED else 0.0
    if flow is not None:
        low = max(low, whole - float(gammaln(flow + 1.0).sum()))
    own = np.bincount(kinds, rows[classes])
    other = np.bincount(classes, people[kinds])
    high = min(
        float((people * gammaln(own + 1.0) / own).sum()),
        float((rows * gammaln(other + 1.0) / other).sum()),
    )
    nodes = len(people) + len(rows)
    if not connected or nodes > _MOST_NODES or _TREES * nodes**3 > seconds:
        return mean, min(max(bethe, low), high), min(low, high), high
    closed = len(kinds) - len(people) - len(rows) + 1
    log = whole - float(gammaln(mean + 1.0).sum())
    log += 0.5 * (closed * math.log(2 * math.pi) + float(np.log(mean).sum()))
    log -= 0.5 * _log_trees(kinds, classes, mean, len(people), len(rows))
    return mean, min(max(log, low), high), low, high


def _scaled(kinds: Ints, classes: Ints, people: Ints, rows: Ints, seconds: float) -> Floats:
    """Numbers x_i y_j of pairs with the sizes as their margins: the likeliest table, about."""
    y = np.ones(len(rows))
    rounds = min(max(seconds / (_ROUND + _PAIR * len(kinds)), _LEAST_ROUNDS), _ROUNDS)
    for _ in range(max(int(rounds), 1)):
        check_work()
        x = people / np.bincount(kinds, y[classes])
        fresh = rows / np.bincount(classes, x[kinds])
        near = bool(np.abs(fresh / y - 1.0).max() < _NEAR)
        y = fresh
        if near:
            break
    return np.asarray(x[kinds] * y[classes], dtype=np.float64)


def _log_trees(kinds: Ints, classes: Ints, weights: Floats, left: int, right: int) -> float:
    """Natural log of the sum over spanning trees of the products of their weights."""
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu

    size = left + right
    begin, end = kinds, left + classes
    degrees = np.bincount(begin, weights, size) + np.bincount(end, weights, size)
    laplacian = sparse.coo_array(
        (
            np.concatenate((-weights, -weights, degrees)),
            (
                np.concatenate((begin, end, np.arange(size))),
                np.concatenate((end, begin, np.arange(size))),
            ),
        ),
        shape=(size, size),
    ).tocsc()
    factors = splu(laplacian[1:, 1:].tocsc())
    return float(np.log(np.abs(factors.U.diagonal())).sum())
