"""The least squares disclosure attack (LSDA; Pérez-González and Troncoso 2012).

Messages out of a round are, on average, the sum of its senders' profiles: a regression.
"""

from __future__ import annotations

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.disclosure.methods.incidence import Incidence

__all__ = ["DENSE", "fitted", "fitted_without_negatives"]

DENSE = 2e7  # rounds times users, up to which one dense decomposition serves all users
_PRECISION = 1e-7


def fitted(data: Incidence, users: Ints) -> Floats:
    """Estimated profiles of some users, one a row, as they come: also negative.

    Examples
    --------
    >>> from anonymatch.disclosure.methods.incidence import incidence
    >>> from anonymatch.disclosure import RoundLog
    >>> log = RoundLog.of([(1, "ab", "xy"), (2, "ac", "xz"), (3, "bc", "yz")])
    >>> fitted(incidence(log), np.array([0])).round(9).tolist()
    [[1.0, 0.0, 0.0]]
    """
    rounds, senders = data.sent.shape
    if rounds * senders <= DENSE:
        inverse = np.linalg.pinv(data.sent.toarray())[users]
        return np.asarray(inverse @ data.received)
    return np.array([_row(data, int(user)) for user in users])


def _row(data: Incidence, user: int) -> Floats:
    """One row of the pseudo-inverse: the shortest z with X'z = e, which LSQR finds."""
    from scipy.sparse.linalg import lsqr

    unit = np.zeros(data.sent.shape[1])
    unit[user] = 1.0
    z = lsqr(data.sent.T, unit, atol=_PRECISION, btol=_PRECISION, iter_lim=200)[0]
    return np.asarray(data.received.T @ z)


def fitted_without_negatives(data: Incidence) -> Floats:
    """Profiles of all users that fit best among those without negative numbers; rows sum to 1.

    Raises
    ------
    InputError
        If there are more users and rounds than one dense matrix holds.
    """
    from scipy.optimize import nnls

    rounds, senders = data.sent.shape
    if rounds * senders > DENSE:
        raise InputError(
            f"{rounds} rounds of {senders} users are too many for lsda-nn; choose lsda or sda"
        )
    # The same normal equations by a square root: a triangle has fewer rows than rounds.
    triangle, right = data.sent.toarray(), data.received.toarray()
    if rounds > senders:
        orthogonal, triangle = np.linalg.qr(triangle)
        right = orthogonal.T @ right
    columns = [nnls(triangle, right[:, j], maxiter=30 * senders)[0] for j in range(right.shape[1])]
    profiles = np.array(columns).T
    sums = profiles.sum(axis=1, keepdims=True)
    even = np.full_like(profiles, 1 / profiles.shape[1])
    return np.asarray(np.divide(profiles, sums, out=even, where=sums > 0))
