"""AttackTuning: measured speeds and thresholds by which attacks plan their work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["AttackTuning", "attack_tuning", "attacks_tuned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackTuning:
    """Measured speeds and thresholds; tests take others by :func:`attacks_tuned`."""

    branches: int = 4000  # outcomes that are followed before truths are sampled instead
    samples: int = 100  # truths that expectations are averaged over
    forced_cells: int = 20_000_000  # edges that are looked at to say who would be forced
    cell: float = 1e-7  # seconds an edge of a residual graph, to say who is forced
    split_cells: int = 2_000_000  # edges of residual graphs that are split in one call
    equal_digits: int = 10  # to which shares in doubles must agree to be called equal
    rounding: float = 1e-9  # of predicted seconds: what is said to be affordable is
    splits_remembered: int = 20_000  # more are forgotten and made anew

    # ---- results
    normal: float = 1.96  # standard errors to either side of a 95 % interval
    written_log: float = 2000.0  # of the count up to which exact numbers are written out
    shown: int = 10  # ties that a record names, rows that a notebook shows

    # ---- the tree of best play
    node: float = 1.5e-3  # seconds to expand a node
    node_bytes: float = 4000.0
    position: float = 2e-5  # seconds to value a position of several blocks
    together: int = 200  # edges of a block up to which all that it can become is found at once
    probe: int = 2000  # nodes that are tried before a tree that could be too large is refused

    # ---- which edges to add
    equal_gains: float = 1e-9  # relative difference of gains in doubles that counts as none
    exact_counts: float = 3.0  # of a block without a user, against probabilities in doubles
    searched_users: int = 2000  # of a block whose minors are computed
    chained_users: int = 900  # in blocks that edges connect: a dense matrix, gains within doubles
    rectangular: int = 250_000  # users times behaviours up to which a rectangular graph is searched
    pairs: int = 1_000_000  # users times behaviours up to which all pairs are compared


ATTACK_TUNING = AttackTuning()

_CURRENT: ContextVar[AttackTuning] = ContextVar("attack_tuning", default=ATTACK_TUNING)


def attack_tuning() -> AttackTuning:
    """What holds here."""
    return _CURRENT.get()


@contextmanager
def attacks_tuned(**changes: Any) -> Iterator[AttackTuning]:
    """Other speeds and thresholds for what is planned within the context.

    Examples
    --------
    >>> with attacks_tuned(branches=3):
    ...     attack_tuning().branches
    3
    >>> attack_tuning().branches
    4000
    """
    token = _CURRENT.set(replace(_CURRENT.get(), **changes))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)
