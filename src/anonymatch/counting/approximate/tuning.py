"""Thresholds of estimates: how much is drawn, and from when on draws are believed.

Measured speeds are in ``counting/blocks/tuning.py``. These numbers decide how close estimates are;
intervals are made so that they hold for any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

# Skewed weights make nominal intervals hold less often than they should.
NOMINAL = 0.97


@dataclass(frozen=True, repr=False, eq=False)
class EstimateTuning:
    """Counts of blocks (estimate.py, bridge.py)."""

    pilot: int = 64  # draws
    fewest: int = 4
    cheap_draws: int = 1000  # made in any case if they are quick: rare weights show up late
    cheap_seconds: float = 0.5
    few: int = 30  # draws below which the logs of weights are assumed to be normal
    many_users: int = 50_000  # from which on logs of weights are sums of so many parts, likewise
    checks: int = 160  # draws, and samples of chains, that are compared with each other
    cheap_checks: int = 1600  # the same if they take no longer than draws that are made in any case
    fewest_checks: int = 16
    check_share: float = 0.3  # of the seconds
    tree_share: float = 0.6  # the same, for trees
    belief_share: float = 0.25  # for belief propagation
    filter_share: float = 0.15  # for a first look at particle filters
    rest_share: float = 0.6  # for chains in which users rest
    narrow: float = 1.0  # width of a bracket, in logs, below which trees are trusted
    hidden: float = 0.1  # relative variance that draws may not show and still be trusted
    rare: float = 0.1  # relative variance that may be of rare matchings alone
    common: float = 2.0  # times the variance of normal logs that a sample may show by chance
    believed: float = 20.0  # draws that must count, or must reach the other side
    bridged: int = 4000  # draws a side at most between two looks
    rough: float = 0.5  # variance of the logs of weights from which their mean hangs on the largest
    unchecked: float = 1.15  # times as wide where no chain was asked
    tree_variance: float = 0.02  # relative, of a tree as a rule: a particle filter has to beat it
    trees_edges: int = 2_000_000  # of a square block from which trees are no rival
    chain_edges: int = 2_000_000  # with those of added users, that chains go over


@dataclass(frozen=True, repr=False, eq=False)
class GuideTuning:
    """Guided draws and worm chains (importance.py), and matchings drawn by them."""

    small_users: int = 200  # up to which flatter messages cost little
    frozen: float = 0.95  # a probability from which plain messages may miss what else there is
    fewest_sweeps: int = 10  # of belief propagation
    # Chains, and samples that each throws away: as a rule, where few will do, if time is short.
    chains: tuple[int, ...] = (16, 4, 2)
    warming: tuple[int, ...] = (10, 5, 4)
    steps: int = 10  # a user between two samples of a chain
    together: int = 4  # chains that take turns: their waits for memory overlap
    pacing: int = 32  # worms by which the steps of a worm are measured
    giant_pacing: int = 4
    paced_steps: int = 10  # a user, that are enough to measure
    balancing: int = 100  # sweeps
    apart: int = 5  # times that about every user picks between two matchings of chains of moves


@dataclass(frozen=True, repr=False, eq=False)
class EdgeTuning:
    """Probabilities of edges (marginals.py, accuracy.py)."""

    large: int = 2000  # users from which on belief propagation is closer than samples are
    pilot: int = 64  # trees
    pilot_each: int = 16  # samples of a chain
    fewest_each: tuple[int, ...] = (8, 4, 1)  # as a rule, of few chains, of as few as can be
    most_each: int = 100_000
    share: float = 0.6  # of the seconds for the last stage
    moves_share: float = 0.9  # the same, for chains of moves
    filter_share: float = 0.15  # for a first look at particle filters
    belief_share: float = 0.5  # where beliefs are all there is
    padded: int = 20  # times as many edges with added users: then matchings of filters are cheaper
    padded_few: int = 20_000  # edges of which chains are cheap in any case
    fewest_runs: int = 100
    few_runs: int = 4  # where shares of Sinkhorn's are compared with them
    runs_together: int = 500
    start_particles: int = 32  # of runs whose matchings chains begin with
    share_sweeps: int = 50
    at_once: int = 10_000  # exact samples that are counted together
    epsilon: float = 0.1  # of a promise, where only delta is given
    delta: float = 0.05


@dataclass(frozen=True, repr=False, eq=False)
class ParticleTuning:
    """Particle filters (particles.py)."""

    sweeps: int = 30  # of balancing: rougher shares make weights differ more, and stay unbiased
    tolerance: float = 0.01
    fewest: int = 16  # particles
    most: int = 1024
    pilot: int = 8  # runs
    pilot_most: int = 256  # particles
    spread: float = 0.25  # of the log weights of runs, at which more particles would gain little
    widest: float = 0.8  # the same, at most
    roughest: float = 2.0  # the same of large blocks, whose log weights are normal
    normal_users: int = 1000  # from which on they are, as sums over users
    runs_share: int = 10  # runs that the seconds of a first look should be enough for
    state_bytes: int = 4  # a particle and column that is open
    dense: float = 0.5  # width against all behaviours from which users with few edges come first


@dataclass(frozen=True, repr=False, eq=False)
class SpareTuning:
    """Chains of moves where behaviours are left over (spare_chain.py)."""

    chains: int = 8
    warming: int = 30  # samples that a chain throws away
    first: int = 8  # samples of the first batches
    rounds: int = 2  # of batches at least
    batch: int = 8  # samples of a batch at least
    paced: float = 4.0  # times as many picks as users, to measure moves
    slowest: float = 2000.0  # picks a move beyond which chains are given up
    latest: float = 20.0  # times the expected picks of a stretch, likewise
    most_samples: int = 2_000_000
    watched: int = 1 << 18  # edges by which chains are compared, at least if there are
    trust: float = 0.99  # for which errors of entropies are made larger if batches are few
    # The count
    points: int = 28  # of the Gauss rule over logs
    near: float = 0.002  # weight of a rest below which the integrand is a polynomial
    near_points: int = 2
    smooth: float = 0.05  # share by which it may fall there
    far: float = 2000.0  # times the heaviest row and column, where log Z is a short series
    settling: int = 6  # samples thrown away at every point
    least: int = 4  # samples kept there, of every chain,
    pilot: int = 256  # and of a first look, at most
    pilot_share: float = 0.2
    rounding: float = 1e-9  # of the rule and the series, a user


@dataclass(frozen=True, repr=False, eq=False)
class NestedTuning:
    """Counts with a promise (nested_bound.py)."""

    pilot_draws: int = 512
    pilot_seconds: float = 0.5
    pilot_size: float = 50.0  # effective number of draws that makes a guess fit for bets
    looks: float = 50.0  # at the interval in the predicted time
    settling: float = 1.2  # times those draws that it takes as a rule
    patience: float = 3.0  # times the draws of a narrow interval that its value may take to settle
    spread: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)  # around the bet that suits the guess
    shares: tuple[float, ...] = (0.1, 0.15, 0.5, 0.15, 0.1)
    largest_smaller: float = 0.99
    largest_larger: float = 0.8  # in units of 1 / mean
    halvings: int = 44


ESTIMATE = EstimateTuning()
GUIDE = GuideTuning()
EDGES = EdgeTuning()
PARTICLES = ParticleTuning()
SPARE = SpareTuning()
NESTED = NestedTuning()
