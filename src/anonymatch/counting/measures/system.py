"""Figures of the whole system: one number for all users together.

The two flavours of the degree of anonymity, by counting and by weights, rank graphs in opposite
order: four users in two pairs have 0.436 and 0.586, on a cycle of eight edges 0.218 and 0.878.
They answer different questions and are never one figure.
"""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.interval import Interval
from anonymatch.counting import Count, Posterior
from anonymatch.counting.measures.tuning import MEASURES
from anonymatch.graph import Edges, Graph, settle


def full_log(n_users: int, n_behaviours: int) -> float:
    """Natural log of the number of matchings if every user may have done every behaviour.

    That is n! for as many behaviours as users, else b!/(b - n)!.

    Examples
    --------
    >>> round(math.exp(full_log(4, 4))), round(math.exp(full_log(2, 4)))
    (24, 12)
    """
    return float(np.log(np.arange(n_behaviours - n_users + 1, n_behaviours + 1)).sum())


def share_of_full(log: Interval, n_users: int, n_behaviours: int) -> Interval:
    """A count's log or an entropy in nats, as a share of the largest possible one.

    Examples
    --------
    >>> share_of_full(Interval(0.0, 0.0, math.log(2)), 2, 2)
    Interval(value=0.0, low=0.0, high=1.0)
    """
    full = full_log(n_users, n_behaviours)
    if full == 0.0:  # nobody, or one user and one behaviour
        return Interval(0.0, 0.0, 0.0)
    return log.divided(full).clipped(0.0, 1.0)


def degree(matchings: Count, n_users: int, n_behaviours: int) -> Interval:
    """Degree of anonymity: the log of the count over the log of the largest possible count.

    0: one matching explains everything that was seen; 1: all n! do [1]_. The count is of the graph
    without weights. A single user who can have done one thing only has 0.

    References
    ----------
    .. [1] Edman, Sivrikaya, Yener. A combinatorial approach to measuring anonymity. IEEE
       Intelligence and Security Informatics, 2007.

    Examples
    --------
    >>> import anonymatch as am
    >>> round(degree(am.count(am.partition([3, 3])), 6, 6).value, 4)
    0.5447
    """
    return share_of_full(
        Interval(matchings.log, matchings.low, matchings.high), n_users, n_behaviours
    )


def log_common_sum(graph: Graph) -> float | None:
    """Return the natural log of the sum of every row and column; None if sums differ.

    Divided by it the weights are doubly stochastic. A graph without weights has one if all degrees
    are equal. None for no users as well.

    Examples
    --------
    >>> import anonymatch as am
    >>> round(math.exp(log_common_sum(am.ring(6, 3))), 9)
    3.0
    >>> log_common_sum(am.Graph.from_rows(["11", "01"])) is None
    True
    """
    if graph.n_users != graph.n_behaviours or graph.n_users == 0:
        return None
    weights, exponent = _summable(graph)
    sums = np.concatenate(
        [
            np.bincount(graph.rows(), weights=weights, minlength=graph.n_users),
            np.bincount(graph.indices, weights=weights, minlength=graph.n_behaviours),
        ]
    )
    middle = float(sums.mean())
    if not (np.abs(sums - middle) <= MEASURES.equal_sums * middle).all():
        return None
    return math.log(middle) + exponent * math.log(2.0)


def _summable(graph: Graph) -> tuple[Floats, int]:
    """Weights divided by 2 to the power of an exponent, so that no sum of them overflows."""
    if graph.weights is None:
        return np.ones(graph.n_edges), 0
    weights = np.asarray(graph.weights, dtype=np.float64)
    largest = math.frexp(float(weights.max(initial=0.0)))[1]
    exponent = max(largest + graph.n_edges.bit_length() - MEASURES.most_exponent, 0)
    return np.ldexp(weights, -exponent), exponent


def weighted_degree(weight: Count, n: int, log_sum: float) -> Interval:
    """Degree of anonymity of doubly stochastic weights P: ln per(P) / ln(n!/n^n).

    0: P is a permutation, everybody is known; 1: all entries are 1/n [1]_. ``weight`` is the count
    with weights, ``n`` the number of users and of behaviours. P is the weights divided by the sum
    of each row and column, whose natural log is ``log_sum`` (:func:`log_common_sum`).

    References
    ----------
    .. [1] Edman, Sivrikaya, Yener. A combinatorial approach to measuring anonymity. IEEE
       Intelligence and Security Informatics, 2007.

    Examples
    --------
    >>> import anonymatch as am
    >>> round(weighted_degree(am.count(am.ring(4, 2)), 4, math.log(2)).value, 3)
    0.878
    """
    if n == 1:
        return Interval(0.0, 0.0, 0.0)
    shift = n * log_sum
    logs = (weight.log - shift, weight.low - shift, weight.high - shift)
    least = full_log(n, n) - n * math.log(n)
    size = abs(shift) + n * math.log(n)
    share = Interval.rounded(*logs, size=size).divided(least).clipped(0.0, 1.0)
    return Interval(share.value + 0.0, share.low + 0.0, share.high + 0.0)  # 0, not -0


def matching_entropy(
    weight: Count, posterior: Posterior | None, graph: Graph, support: Count
) -> Interval:
    """Entropy, in nats, of the matching that happened: H = ln per(W) - sum of p ln w over edges.

    Without weights it is the log of the count, ``support``; with weights the count is ``weight``.
    Without a posterior only bounds are known [1]_.

    References
    ----------
    .. [1] Bagai, Lu, Li, Tang. An accurate system-wide anonymity metric for probabilistic attacks.
       Privacy Enhancing Technologies, 2011.

    Examples
    --------
    >>> import anonymatch as am
    >>> g = am.Graph.from_biadjacency([[1, 3], [3, 1]])  # two matchings, of weight 1 and 9
    >>> round(matching_entropy(am.count(g), am.posterior(g), g, am.count(am.complete(2))).value, 4)
    0.3251
    """
    if graph.weights is None:
        return Interval(support.log, support.low, support.high)
    logs = np.log(graph.weights)
    if posterior is None:
        # No matching has a larger probability than the product of the largest weights gives it.
        largest = float(np.maximum.reduceat(logs, graph.indptr[:-1]).sum())
        return Interval.between(max(weight.low - largest, 0.0), max(support.high, 0.0))
    # Probabilities of a user sum to 1, so that each row of logs may be shifted to shrink the error.
    ends = np.maximum.reduceat(logs, graph.indptr[:-1])
    middles = (ends + np.minimum.reduceat(logs, graph.indptr[:-1])) / 2
    apart = logs - middles[graph.rows()]
    mean = float(posterior.probabilities @ apart) + float(middles.sum())
    error = float(posterior.margins @ np.abs(apart))
    size = float(np.abs(logs).max()) * graph.n_users
    entropy = Interval.rounded(
        weight.log - mean, weight.low - mean - error, weight.high - mean + error, size=size
    )
    return entropy.clipped(0.0, max(support.high, 0.0))


def rescaled(graph: Graph) -> Graph | None:
    """The graph with entries p abs(ln p), where p is a weight over the sum of its user's weights.

    Edges of p = 1 vanish. None if a user loses all: then somebody is exposed.

    Examples
    --------
    >>> import anonymatch as am
    >>> rescaled(am.complete(2)).weights.tolist()
    [0.3466, 0.3466, 0.3466, 0.3466]
    """
    rows = graph.rows()
    weights, _ = _summable(graph)
    sums = np.bincount(rows, weights=weights, minlength=graph.n_users)
    others = sums[rows] - weights
    # What a large weight leaves for the others would be lost in the difference: sum it.
    largest = np.lexsort((weights, rows))[graph.indptr[1:][graph.degrees > 0] - 1]
    smaller = np.delete(np.arange(graph.n_edges), largest)
    rest = np.bincount(rows[smaller], weights=weights[smaller], minlength=graph.n_users)
    others[largest] = rest[rows[largest]]
    values = weights / sums[rows] * np.log1p(others / weights)
    positive = values > 0
    if len(np.unique(rows[positive])) < graph.n_users:
        return None
    return reweighted(graph.keep_edges(positive), values[positive])


def log_rescaled(graph: Graph, matchings: Count) -> Interval:
    """Natural log of per(p abs(ln p)) with p = 1/degree, for a graph without weights; -inf for 0.

    A reading of a remark on [1]_: feasibility values are "rescaled by absolute values of their
    logarithms". One user with a single edge makes it 0. Each row has the factor ln(d)/d.

    References
    ----------
    .. [1] Bagai, Lu, Li, Tang. An accurate system-wide anonymity metric for probabilistic attacks.
       Privacy Enhancing Technologies, 2011.

    Examples
    --------
    >>> import anonymatch as am
    >>> g = am.partition([2, 2, 3])
    >>> round(math.exp(log_rescaled(g, am.count(g)).value), 4)
    0.017
    """
    degrees = graph.degrees
    if (degrees < 2).any():
        return Interval(-math.inf, -math.inf, -math.inf)
    shift = float(np.log(np.log(degrees) / degrees).sum())
    size = abs(shift) + abs(matchings.log)
    logs = (matchings.log + shift, matchings.low + shift, matchings.high + shift)
    return Interval.rounded(*logs, size=size)


def reweighted(graph: Graph, weights: Floats | None) -> Graph:
    """The same edges with other weights, or with none.

    Examples
    --------
    >>> import anonymatch as am
    >>> reweighted(am.Graph.from_biadjacency([[1, 2], [3, 4]]), None).to_rows()
    ['11', '11']
    """
    floats, _ = settle(weights, None)
    edges = Edges(
        indptr=graph.indptr, indices=graph.indices, weights=floats, exact=None, duplicates=0
    )
    return Graph(graph._users, graph._behaviours, edges)
