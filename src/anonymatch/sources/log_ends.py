"""Messages near an end of a log: what came before or after it was not seen.

The first messages find an emptier mix than those later, the last ones have fewer departures to be.
So their figures say more about the log than about the system.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["near_an_end"]


_FEWEST = 0.5  # of the messages that must be left


def near_an_end(
    arrivals: npt.NDArray[np.float64], begin: float, end: float, reach: float | None
) -> npt.NDArray[np.bool_] | None:
    """Which messages came in near an end; None if nobody did, or hardly anybody would be left.

    Examples
    --------
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 2.0).tolist()
    [True, True, False, False, False, False, False, False, False, True]
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 5.0) is None
    True
    """
    if reach is None or not len(arrivals):
        return None
    near = (arrivals < begin + reach) | (arrivals > end - reach)
    left = np.count_nonzero(~near) / len(arrivals)
    return near if near.any() and left >= _FEWEST else None
