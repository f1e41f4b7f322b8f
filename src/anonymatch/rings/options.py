"""RingOptions: how rings are to be understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymatch.base.options import above_zero, option

__all__ = ["RingOptions"]

_RINGS: dict[str, Any] = {"group": "Ring signatures", "sources": frozenset({"rings"})}


@dataclass(frozen=True, kw_only=True)
class RingOptions:
    """How rings are to be understood.

    Attributes
    ----------
    decoys, spends : str, optional
        Laws of the ages of decoys and of spent outputs.
    merging : float, optional
        Weight factor for members that one transaction may spend together.
    """

    decoys: str | None = option(
        None,
        "Age law of the decoys: uniform, triangular or gamma:SHAPE,RATE.",
        metavar="LAW",
        **_RINGS,
    )
    spends: str | None = option(
        None,
        "Age law of real spends, as for --decoys [default: gamma if --decoys is given].",
        metavar="LAW",
        **_RINGS,
    )
    merging: float | None = option(
        None,
        "Weight factor for ring members that one transaction may spend together.",
        metavar="TIMES",
        read=above_zero("a factor"),
        **_RINGS,
    )
