"""RoundsOptions: which statistical disclosure attack on a log of rounds, and on whom."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.base.options import above_zero, option, whole

__all__ = ["RoundsOptions"]


def _methods() -> str:
    from anonymatch.disclosure import METHODS

    return f"Attack method: {', '.join(METHODS)}."


@dataclass(frozen=True, kw_only=True)
class RoundsOptions:
    """Keywords of :func:`~anonymatch.disclosure.rounds`."""

    law: str | None = option(
        None,
        "Delay law, such as exponential:5; FILE is then a message log.",
        metavar="LAW",
        group="Attack",
    )
    method: str | None = option(None, _methods, metavar="NAME", shown="gibbs", group="Attack")
    target: str | None = option(None, "Report only this user.", metavar="USER", group="Attack")
    friends: int | None = option(
        None,
        "Number of contacts of the target, for --method exact.",
        metavar="M",
        read=whole(1),
        group="Attack",
    )
    alpha: float | None = option(
        None,
        "Strength of the Dirichlet prior of sender profiles.",
        metavar="A",
        shown="learnt from the log",
        read=above_zero("a number"),
        group="Attack",
    )
