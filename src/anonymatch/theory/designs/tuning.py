"""DesignTuning: measured speeds, thresholds and precisions of designs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TUNING", "DesignTuning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignTuning:
    """Numbers that decide how long a design takes, and how exact it is."""

    # ---- what is computed exactly
    digits: int = 10_000  # of a count that is multiplied out
    bound_bits: int = 2_000_000  # of the integer whose root is the bound: about a second
    counted_users: int = 24  # of a part without a closed form: milliseconds
    attacked_users: int = 40  # of a part with a closed form, whose edges are counted one by one
    fraction_users: int = 400  # of a part whose attack is computed in exact fractions
    pair_terms: int = 40  # of sums in doubles whose terms are at most 1 / l!^2
    share_terms: int = 25  # of F(s, j) / s!; the next one is below 1e-25
    short_log: float = 100.0  # natural log of a count that is compared digit by digit
    close: float = 1e-12  # logs that differ by less are treated as equal

    # ---- the search
    vector_call: float = 2e-6  # seconds for one vector operation
    vector_cell: float = 1.2e-9  # seconds for each of its entries
    table_seconds: float = 0.2  # predicted, for one table
    attack_tables: int = 40  # of one search against attacks
    above_twice_k: int = 8  # how far the largest parts of a search exceed 2 k
    part_users: int = 200  # of the largest part of a search
    odd_sizes: int = 40  # of an odd part, tried on both sides of k
    joined_pairs: int = 4  # of parts that spare edges may join
    all_numbers_users: int = 48  # up to which every number of equal parts is tried
    numbers_of_parts: int = 200  # tried around each place where the count may be largest

    # ---- annealing
    hot: float = 0.25  # temperature at the beginning, in natural logs
    cold: float = 0.0005  # temperature at the end
    moves: int = 48  # tried in one call

    # ---- random graphs and rivals
    sample_seconds: float = 60.0  # for all samples together
    samples_at_once: int = 1 << 12  # small graphs counted in one call
    ring_edges: int = 20_000  # of a ring that is counted if it has no closed form
    ring_seconds: float = 0.5

    # ---- output
    piece: int = 1 << 20  # edges written at a time
    edge_bytes: int = 60  # while a graph is made
    drawn_users: int = 1000  # up to which a notebook shows the graph


TUNING = DesignTuning()
