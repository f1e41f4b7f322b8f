"""Who sent and who received in which round, as sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from anonymatch.sources import RoundLog

__all__ = ["Incidence", "incidence"]


class Incidence(NamedTuple):
    """Messages by round: rows are rounds."""

    sent: csr_array  # messages of each user
    received: csr_array  # messages of each behaviour
    sizes: Floats  # messages out of each round

    @property
    def messages(self) -> Floats:
        """Messages of each user."""
        return np.asarray(self.sent.sum(axis=0), dtype=np.float64).ravel()


def incidence(log: RoundLog) -> Incidence:
    """The matrices of a log."""
    sent = _matrix(log.sent, log.sender, len(log.users))
    received = _matrix(log.received, log.receiver, len(log.behaviours))
    return Incidence(sent, received, np.diff(log.received).astype(np.float64))


def _matrix(starts: Ints, codes: npt.NDArray[np.int32], number: int) -> csr_array:
    from scipy.sparse import csr_array

    # Copies: who comes twice in a round is put together in place.
    parts = (np.ones(len(codes)), codes.copy(), starts.copy())
    matrix = csr_array(parts, shape=(len(starts) - 1, number), dtype=np.float64)
    matrix.sum_duplicates()
    return matrix
