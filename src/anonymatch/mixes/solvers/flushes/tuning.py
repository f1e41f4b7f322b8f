"""Measured speeds and thresholds of chains over flushes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- flush_rule
    seconds_a_flush: float = 1e-4
    bytes_a_flush: float = 1000.0
    # ---- flush_states
    state_never: float = -1e200  # the log of 0, such that 0 times it is 0
    state_edge: float = 1e3  # numbers inside so near to the cut tell how much it cost
    state_rank: float = 1e-13  # singular values below are dropped
    state_fresh: int = 32  # flushes between two reductions of rank
    state_far: float = 1e-15  # probabilities below are dropped with their flush
    # ---- known_numbers
    # Numbers of cover messages inside that are less likely are not followed
    known_cut: float = 1e-18
    # ---- flush_table
    table_possible: float = 1e-12  # probabilities above this count as allowed
    # Probabilities closer than this, relatively, are equal: the first is the guess
    table_tie: float = 1e-12
    # ---- flush_chain
    chain_rounding: float = 2.0**-50  # of each step of a chain
    seconds_a_cell: float = 4e-9
    seconds_a_round: float = 4e-4
    chain_columns: int = 48
    most_pairs: int = 20_000_000


FLUSHES = FlushTuning()
