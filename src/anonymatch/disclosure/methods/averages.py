"""The statistical disclosure attack (SDA): what comes more often in the rounds of a user.

Danezis (2003): the mean of what was received in the rounds in which a user sent, less what others
would have caused there, by the rounds in which the user did not send.
"""

from __future__ import annotations

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.disclosure.methods.incidence import Incidence

__all__ = ["averaged"]


def averaged(data: Incidence, users: Ints) -> Floats:
    """Estimated profiles of some users, one a row; they sum to 1 and may be negative.

    Users who never send have none: theirs are 0.

    Examples
    --------
    >>> from anonymatch.disclosure.methods.incidence import incidence
    >>> from anonymatch.disclosure import RoundLog
    >>> log = RoundLog.of([(1, "ab", "xy"), (2, "ac", "xz"), (3, "bc", "yz")])
    >>> averaged(incidence(log), np.array([0])).tolist()
    [[1.0, 0.0, 0.0]]
    """
    present = data.by_user[users]
    with_them = (present @ data.received).toarray()
    size_with = present @ data.sizes
    everything = data.heard
    without = everything - with_them
    size_without = data.sizes.sum() - size_with
    alone = size_without == 0  # no round without them: then what others do is what all do
    without[alone], size_without[alone] = everything, data.sizes.sum()
    messages = data.messages[users]
    others = (size_with - messages) / size_without
    number = np.maximum(messages, 1.0)  # who never sends has a profile of 0
    return np.asarray((with_them - others[:, None] * without) / number[:, None])
