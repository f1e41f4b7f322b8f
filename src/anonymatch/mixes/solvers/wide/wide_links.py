"""Wide logs with losses, cover and an end: a message fits too many others for exact counts.

An explanation says of each message in which message out it is, or that it is none of them; messages
out that are left over are nobody's. It weighs the product of the densities of its pairs, of ``u``
for each message in without a pair (lost, or still inside) and of ``c`` for each message out without
one. Three things are put together [1]_ [2]_:

- *A scaling* of all these weights in which each row and each column adds up to 1 with what is left
  over. It is the posterior of large logs.
- *A chain* in replicas that know nothing of each other: messages swap what they have, move to a
  message out that is nobody's, or make or give up a pair. It has no bias where it is asked for
  means, and corrects the scaling as in :mod:`anonymatch.mixes.solvers.wide.wide_band`.
- *Thermodynamic integration* for the evidence: what is added to ``u`` and ``c`` falls from where
  nothing is paired, whose weight is known, to nothing.

Intervals are Student's, by replicas: 95 %.

References
----------
.. [1] Heilmann, Lieb. Theory of monomer-dimer systems. Comm. Math. Phys., 1972.
.. [2] Gelman, Meng. Simulating normalizing constants: from importance sampling to bridge sampling
   to path sampling. Statistical Science, 1998.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range
from anonymatch.mixes.solvers.wide.wide_band import shares_at
from anonymatch.mixes.solvers.wide.wide_link_band import LinkBand, unexplained_links
from anonymatch.mixes.solvers.wide.wide_link_chain import LinkComputation, ToldNumber
from anonymatch.mixes.solvers.wide.wide_link_estimate import LinksEstimate, links_estimate
from anonymatch.mixes.solvers.wide.wide_link_exact import exact_links
from anonymatch.mixes.solvers.wide.wide_link_plan import planned_links
from anonymatch.running import Budget, Execution

__all__ = ["chain_links", "estimate_links"]

_MOST_STATES = 50_000_000  # of a programme over who is lost


def estimate_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
    asked: Ints | None = None,
) -> LinksEstimate:
    """Evidence, entropy and figures of each message of a wide log.

    They are exact if few messages out are candidates at the same time. Otherwise a chain over
    explanations estimates them with 95 % intervals.

    Parameters
    ----------
    band : LinkBand
    budget : Budget
        Fewer sweeps are made where it is small, and intervals are wider; some are made always.
    edge : array of bool, optional
        Rows that the mean entropy is not about.
    groups : array of int, optional
        Columns that are taken together, such as those of one receiver.
    seed : int
    effort : Execution, optional
        Told how far the work is.
    asked : array of int, optional
        A column by row whose probability is wanted; -1 for none.

    Raises
    ------
    InputError
        If no explanation has a positive weight.

    Examples
    --------
    Two messages in, each lost with probability 1/2 or one of two out, which may be cover.

    >>> band = LinkBand(
    ...     first=np.array([0, 0]), last=np.array([2, 2]), weights=None, columns=2,
    ...     unpaired=np.array([1.0, 1.0]), cover=1.0,
    ... )
    >>> estimate = estimate_links(band, budget=Budget(seconds=1))
    >>> bool(estimate.log_weight.low < np.log(7) < estimate.log_weight.high)
    True
    """
    if not band.entries:
        return _nothing_paired(band, groups is not None)
    exact = exact_links(band, budget=budget, edge=edge, groups=groups, asked=asked)
    if exact is not None:
        return exact
    return chain_links(
        band, budget=budget, edge=edge, groups=groups, seed=seed, effort=effort, asked=asked
    )


def chain_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
    asked: Ints | None = None,
) -> LinksEstimate:
    """Estimate the same figures by a chain over explanations, with 95 % intervals."""
    counted = np.ones(band.rows, dtype=np.bool_) if edge is None else ~edge
    if not counted.any():
        counted[:] = True
    job = LinkComputation(band, planned_links(band, budget), seed, effort or Execution(), counted)
    job.scale()
    job.begin()
    number = ToldNumber(0.0, 0.0, 0.0)
    if band.told:  # weights are known only when their numbers are the expected ones
        number = job.tune()
        record = job.sample()
        job.release()
        risen = job.rise()
    else:  # replicas that come from nothing paired know nothing of each other
        risen = job.rise()
        job.settle()
        record = job.sample()
    integral = job.integral(risen, job.fall(risen))
    job.steps.finish()
    found = links_estimate(job, record, integral, number, counted, job.figures(groups))
    if asked is None:
        return found
    scaling = job.chain.scaling.rows(), job.chain.scaling.columns()
    shares = shares_at(band.first, band.last, band.weights, scaling, asked)
    given = shares / np.maximum(1.0 - job.chain.scaling.alone(), 1e-300)
    departed = 1.0 - found.alone.value
    return replace(found, asked=departed * np.minimum(given * 2.0**found.divergence, 1.0))


def _nothing_paired(band: LinkBand, grouped: bool) -> LinksEstimate:
    """The one explanation of a log in which no message in can be a message out."""
    none = np.zeros(band.rows)
    if band.pairs or (band.unpaired == 0.0).any() or (band.columns and band.cover == 0.0):
        raise unexplained_links()
    log, entropy, lost = _fates(band)
    log += band.columns * math.log(band.cover) if band.columns else 0.0
    nobody = np.full(band.rows, -1, dtype=np.int64)
    sure, real = none + 1.0, np.zeros(band.columns)
    return LinksEstimate(
        log_weight=Interval(log, log, log),
        entropy=Interval(entropy, entropy, entropy),
        lost=None if lost is None else Range(lost, lost, lost),
        alone=Range(sure, sure, sure),
        real=Range(real, real, real),
        shannon=Range(none, none, none),
        mean_shannon=Interval(0.0, 0.0, 0.0),
        collision=sure,
        probability=Range(none, none, none),
        surest=Range(sure, sure, sure),
        guess=nobody,
        guessing=Range(sure, sure, sure),
        allowed=np.zeros(band.rows, dtype=np.int64),
        group_shannon=none if grouped else np.zeros(0),
        group_largest=none if grouped else np.zeros(0),
        group_guess=nobody if grouped else np.zeros(0, dtype=np.int64),
        variance=0.0,
    )


def _fates(band: LinkBand) -> tuple[float, float, Floats | None]:
    """Log weight and entropy where no row has a column, and who is lost if the number is told.

    By a programme over rows and the number that are lost so far, there and back.
    """
    if band.lost is None or band.staying is None:
        return float(np.log(band.unpaired).sum()), 0.0, None
    size, number = band.rows, band.lost
    if size * (number + 1) > _MOST_STATES:
        raise unexplained_links()
    lost = (band.unpaired - band.staying) / band.unpaired
    before = np.zeros((size + 1, number + 1))
    after = np.zeros((size + 1, number + 1))
    before[0, 0] = after[size, number] = 1.0
    for i in range(size):
        before[i + 1] = before[i] * (1.0 - lost[i])
        before[i + 1, 1:] += before[i, :-1] * lost[i]
    for i in range(size - 1, -1, -1):
        after[i] = after[i + 1] * (1.0 - lost[i])
        after[i, :-1] += after[i + 1, 1:] * lost[i]
    total = float(before[size, number])
    if not total > 0.0:
        raise unexplained_links()
    losses = lost * (before[:-1, :-1] * after[1:, 1:]).sum(axis=1) / total
    logs = losses * np.log(np.where(lost > 0.0, lost, 1.0))
    logs += (1.0 - losses) * np.log(np.where(lost < 1.0, 1.0 - lost, 1.0))
    entropy = max(math.log(total) - float(logs.sum()), 0.0)
    return float(np.log(band.unpaired).sum()) + math.log(total), entropy, losses
