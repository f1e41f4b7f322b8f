"""Who sent and who received in which round, as sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from anonymatch.disclosure.logs.round_log import RoundLog

__all__ = ["Incidence", "incidence"]


class Incidence(NamedTuple):
    """Messages by round: rows are rounds. What is summed over all of them is summed once."""

    sent: csr_array  # messages of each user
    received: csr_array  # messages of each behaviour
    sizes: Floats  # messages out of each round
    by_user: csr_array  # rounds in which each user sent, a row a user
    messages: Floats  # of each user
    heard: Floats  # of each behaviour


def incidence(log: RoundLog) -> Incidence:
    """The matrices of a log."""
    sent = _matrix(log.sent, log.sender, len(log.users))
    received = _matrix(log.received, log.receiver, len(log.behaviours))
    by_user = sent.T.tocsr()
    by_user.data[:] = 1.0
    return Incidence(
        sent,
        received,
        np.diff(log.received).astype(np.float64),
        by_user,
        np.bincount(log.sender, minlength=len(log.users)).astype(np.float64),
        np.bincount(log.receiver, minlength=len(log.behaviours)).astype(np.float64),
    )


def _matrix(starts: Ints, codes: npt.NDArray[np.int32], number: int) -> csr_array:
    from scipy.sparse import csr_array

    # Copies: who comes twice in a round is put together in place.
    parts = (np.ones(len(codes)), codes.copy(), starts.copy())
    matrix = csr_array(parts, shape=(len(starts) - 1, number), dtype=np.float64)
    matrix.sum_duplicates()
    return matrix
