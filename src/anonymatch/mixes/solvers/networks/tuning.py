"""Measured speeds and thresholds of networks in which every link is observed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkTuning:
    """Measured speeds and thresholds; seconds are of one core."""

    # ---- forwarding
    forward_exit: int = 6  # events that an exit costs as much as
    looked_at: int = 4  # groups whose length tells that of the others
    forward_ranked: int = 256  # messages whose guesses are counted: each takes a sort
    forward_sure: float = 1e-9  # probability still inside below which everything has come out
    # ---- network_chains
    # Over all mixes, forwards and backwards; more change probabilities by less than 0.03
    chain_sweeps: int = 3
    chain_step: int = 4096  # events between two looks at whether to stop
    chain_seconds: float = 3e-6  # of an event of a mix with the rows of its matrix, measured
    # Of an entry of a matrix
    entry_seconds: float = 1e-8
    entry_bytes: int = 24
    chain_reach: float = 32.0  # mean delays after which hardly a packet is still inside
    # Of a state of two numbers at an event: of a pass, of a row, and in memory.
    state_seconds: float = 2e-8
    row_seconds: float = 2e-9
    state_bytes: int = 16
    # ---- network_histories
    most_histories: float = 2.0**13  # of one part, to be enumerated
    most_states: int = 2**18  # of all parts together
    history_same: float = 1e-12  # bits, relative: ends closer than this are one number
    history_most: int = 400  # packets of which a permanent is worth a try
    history_errors: float = 2.66  # standard errors that hold with 99 % for a mean of 64
    history_seconds: float = 0.05  # of one permanent
    # ---- link_rows
    row_hops: int = 20  # chained rows from which on they show the mean delay per hop
    # ---- missing_packets
    fewest_lost: int = 2  # missing packets, from which on losses may be fitted
    # Standard deviations beyond which packets are missing from mixes of other laws
    missing_far: float = 4.0
    # Probability below which the number inside at the end is not by chance
    missing_rare: float = 1e-4
    missing_odds: float = 1e3  # likelihood ratio from which on a packet is missing
    missing_runs: int = 3  # last flushes, one of which empties a mix that sends on all it has
    # Of an interval: a flush so near to the end of the log may be incomplete
    missing_soon: float = 1e-3
    missing_delays: int = 4000  # delays at which a law is integrated
    # ---- network_rates
    fit_sure: float = 3.0  # standard deviations beyond which losses or cover traffic are fitted
    loops_seen: float = 20.0  # expected loops from which on links that go back would have been seen
    # Mean delays after which hardly a packet leaves that was inside at the start
    fit_start: float = 10.0
    fit_rounds: int = 6  # of an estimate that depends on itself
    # Mean delays that are tried where none is given
    fit_grid: int = 16
    fit_refined: int = 12
    fit_events: int = 20_000  # of all mixes, that a mean delay is fitted to


NETWORKS = NetworkTuning()
