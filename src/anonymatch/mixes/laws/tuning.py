"""Thresholds of laws and of guesses about them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LawTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- candidates
    edge_negligible: float = -700.0  # natural log below which a weight is not a normal float64
    # Seconds and bytes an edge, at their peak; then with weights.
    edge_plain: tuple[float, float] = (4e-8, 16.0)
    edge_weighted: tuple[float, float] = (1.5e-7, 40.0)
    # ---- delays
    # Probability, a message, of the delays that are left out because they are too long
    delay_cut: float = 1e-7
    delay_short: float = -8.0  # standard deviations of the log below which none is: 6e-16 a message
    delay_widest: float = 5.0  # sigma: beyond, a band would reach over any log
    delay_fewest: int = 10  # delays that say something of a density
    delay_most: int = 10_000_000  # that are read
    delay_tail: int = 8  # delays that a step in a tail has at least
    delay_narrowest: float = 1e-5  # of all that was measured: a step is no narrower
    delay_cells: int = 1 << 16  # as which delays are drawn
    # ---- flushes
    flush_most: int = 10**9  # messages of a batch
    flush_most_flushes: int = 10**7
    # ---- guessing
    guess_most: int = 10_000  # delays that are looked at: evenly spaced among all in order of size
    guess_hops: int = 12  # mixes in a row that are tried
    guess_digits: int = 3
    # Of the shortest delay, that links may take of a law that has a density there
    guess_near: float = 0.98
    # Largest distance of distributions that is no misfit, beside what chance explains
    guess_far: float = 0.02
    # Over the root of the number: what the distance exceeds by chance once in a hundred
    guess_chance: float = 1.63
    fewest_flushes: int = 3  # flushes
    # Share of messages out that leave with others, where a clock tells them to
    guess_together: float = 0.5
    guess_off: float = 1e-3  # of an interval, by which a flush may miss its moment
    guess_skipped: int = 6  # intervals without a flush in a row, at most, everywhere in the log
    guess_most_flushes: int = 100_000
    most_kept: int = 200  # numbers of messages that stay which are tried


DELAYS = LawTuning()
