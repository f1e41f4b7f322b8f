"""Tuning: every measured speed and every threshold by which counting plans its work.

Speeds are seconds of one core unless told otherwise. None of these numbers changes what an exact
answer is, only how it is found; those of estimates decide when they are close enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from anonymatch import _native


def _by_factors() -> dict[int, float]:
    four = 1.45 if _native.best_isa.name == "avx512" else 2.1
    return {2: 1.0, 3: 1.0, 4: four, 0: 34.0}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)  # what is not generated starts faster
class Tuning:
    """Measured speeds and thresholds; tests take others by :func:`tuned`."""

    # ---- which method (planning/choose)
    # Below this many predicted seconds the first method that applies is taken: looking for a better
    # one would cost more than it could save.
    search_from: float = 0.002
    recognised_seconds: float = 0.02  # up to which a rook polynomial is taken at once
    recognised_edge: float = 2e-7  # or this for an edge, which other plans cost, too
    moment_users: int = 24  # up to which sums over signs are quicker than such a polynomial
    band_serves: float = 10.0  # predicted seconds up to which no other method is asked
    planning_share: float = 0.1  # of the seconds that are planned, for planning
    look_share: float = 0.25  # of the seconds, for a first look at how wide a block is
    planning_short: float = 0.003  # predicted seconds of planning that nobody waits for
    giant_users: int = 10_000  # from which one look at the width comes before any search
    # users of a block whose matchings are its edges or pairs of them: it is never estimated
    trivial_users: int = 2

    # ---- Glynn's sum over signs (exact/glynn); the speed itself is the kernel's
    glynn_minors: float = 14.0  # all minors against one count, in integers
    glynn_posteriors: float = 6.0  # and in doubles
    glynn_real: float = 2.0  # a count in doubles with its error bound against integers
    # a count by the factors that products of rows are held in (0: they do not fit vector lanes)
    glynn_by_factors: dict[int, float] = field(default_factory=_by_factors)
    glynn_kept: float = 0.75  # of a count that takes no more bits than two factors keep
    all_minors_users: int = 26  # up to which the minors of all pairs are taken in one sum

    # ---- the other sums
    ryser_prefix: float = 21e-9  # a surviving prefix
    subset_step: float = 0.15e-9  # a subset and user
    subset_posteriors: float = 3.5  # all posteriors against one count
    classes_rate: float = 4e6  # operations a second
    class_sums_minors: float = 6.0  # products a form for all minors, against one for a count
    class_sums_prime: float = 2e-4  # that a prime takes besides
    classes_planning: float = 1e-7  # of the search for an order: a pair of classes and edge of one
    small_step: float = 2e-9  # of the small kernel, a state and edge of a user

    # ---- few missing edges (exact/near_complete)
    rook_rate: float = 1e9  # operations a second, for its limit
    rook_planning: float = 7e-5  # a missing edge
    rook_planning_short: float = 0.5  # for which nobody waits
    rook_missing: int = 4  # edges a behaviour; with more they are as hard as the others

    # ---- contraction, in Python
    contraction: float = 2e-5  # a user

    # ---- the frontier programme (exact/frontier)
    frontier_transition: float = 4e-9
    frontier_word: float = 0.4e-9  # what each further word of a value adds
    frontier_edges: float = 1.7  # all edge counts against one count
    frontier_look: float = 4e-7  # of the first order, an edge
    frontier_little_search: float = 0.01  # search effort where the first orders are too wide
    frontier_search_worth: float = 30.0  # predicted seconds that full effort is fit for
    frontier_hopeless: int = 4 * _native.FRONTIER_WIDTH_LIMIT  # width that no search narrows
    # contraction narrows no order that much
    frontier_far_from_narrow: int = 16 * _native.FRONTIER_WIDTH_LIMIT
    frontier_growth: float = 1.5  # of the arrays that hold layers
    frontier_sharpen_from: int = 16  # words from which a run over doubles pays: fewer may do
    frontier_split_from: float = 4.0  # predicted seconds from which parts run side by side
    frontier_part: float = 3e-4  # that a part takes besides
    frontier_part_worth: float = 2.0  # predicted seconds from which a part is split if cheap,
    frontier_part_stretch: float = 1.15  # in all against one run
    frontier_part_longest: float = 600.0  # predicted, so that little is lost when one is
    frontier_parts_most: int = 65536  # of a run to come,
    frontier_parts_few: int = 4096  # and to tell what one beyond reach would take
    frontier_parts_edges: int = 6 * 10**7  # of all parts together: seconds of splitting
    frontier_splitting: float = 1.2e-8  # of a part and edge
    frontier_abreast: int = 8  # parts that run at the same time at most: they share the memory

    # ---- residues modulo eight primes at once (exact/residues)
    residue_weight: float = 1e-7  # of a weight, a prime
    residue_fraction: float = 4e-8  # of an edge, a prime
    residue_prime: float = 2e-4  # to find one
    residue_abreast: int = 8  # runs that are under way at the same time at most

    # ---- determinants of planar blocks (exact/residues)
    planar_planning: float = 1e-6  # an edge: most graphs are found not to be planar in less
    planar_step: float = 4e-9  # a pair in a front
    planar_pivot: float = 5e-7  # a user
    planar_inverse: float = 1.4  # selected inverses against eliminations

    # ---- tree decompositions (exact/residues)
    tree_planning: float = 2e-6  # an edge, of the first look
    tree_step: float = 1.2e-8  # a product
    tree_edges: float = 2.7  # all edges against one count
    tree_vertex: float = 6e-7  # a vertex
    tree_most: float = 3e8  # products up to which the sets are listed,
    tree_glance: float = 100.0  # and before any search for orders, a vertex
    tree_glance_width: int = 12
    tree_least_runs: int = 2  # of anything that is worth a plan
    tree_worth: float = 1.0  # predicted seconds of others from which more than a glance pays

    # ---- weights of low rank (exact/low_rank)
    low_rank_cell: float = 2e-7  # of a weight: to find the rank
    low_rank_rest: float = 1e-11  # of weights around 1 that is left when the rank is reached
    low_rank_deviation: float = 1e-11  # relative, of a weight in doubles from its factors
    low_rank_step: float = 1e-7  # of a coefficient and linear factor, and more if it is long
    low_rank_bits: float = 2500.0  # of a coefficient, that double it
    low_rank_inner: float = 3e-8  # of a coefficient and edge

    # ---- bands (exact/band)
    band_real: float = 0.4e-9  # a unit of work,
    band_digit: float = 0.45e-9  # of a digit of the exact count,
    band_probabilities: float = 1.5e-9  # and of all probabilities
    band_layers: float = 384.0 * 2**20  # bytes of retained layers that pay
    band_reordered: int = 2 * _native.FRONTIER_WIDTH_LIMIT  # wider orders hide no band that helps
    band_stretch: float = 2.0  # predicted seconds of a pass that are worth a recorded layer
    band_layer_bytes: float = 2.0**30  # of layers at borders, in all
    band_bytes_a_second: float = 2.0**23  # the same, of predicted work
    band_stretches_most: int = 1000
    # Predicted seconds of one run from which stretches pay. Counts are no more work so;
    # probabilities are half as much again, so that two cores gain nothing but that each stretch is
    # recorded.
    band_counts_from: float = 4.0
    band_probabilities_from: float = 60.0
    band_abreast: int = 8  # stretches whose probabilities are under way on one machine

    # ---- when to estimate, and how close (planning/execute)
    promise_from: float = 1.0  # predicted seconds of an exact count that no promise is worth
    estimate_seconds: float = 30.0  # of an estimate that nobody set a budget for
    estimate_half_width: float = 0.01  # of a log at which estimates stop, without a budget
    estimate_half_width_chosen: float = 0.001  # and with one
    estimate_probability: float = 0.01  # half-width of a probability
    estimate_edges_from: float = 0.5  # seconds below which probabilities are left open
    unchecked_from: float = 0.05  # seconds from which there always are some probabilities
    estimate_bytes: float = 500.0  # an edge
    bounds_share: float = 0.3  # of the seconds, for proven bounds of what is estimated

    # ---- what exact integers for all edges cost against probabilities in doubles
    exact_edges: float = 2.5  # times, for one word
    exact_band: float = 8.0  # minors of bands come from the general programme for narrow blocks
    exact_word: float = 0.1  # times, for each further word
    integer: float = 2e-7  # to make, square and add one of a few words
    residue: float = 1.2e-6  # to bring in one more word of an integer known by its residues
    all_minors: float = 2.5  # all minors by one sum over signs, against posteriors by it

    # ---- drawing matchings (sampling)
    draws: tuple[str, ...] = (  # those that cost nothing first, the one that is not exact last
        "complete",
        "nested",
        "frontier",
        "rejection",
        "nested_bound",
        "chain",
    )
    rejection_tries: float = 1000.0  # permutations a matching that rejection may cost on average
    exact_draws_seconds: float = 30.0  # for draws by a nested bound, if nobody set a budget

    # ---- guided draws and worm chains (approximate/importance)
    draw_edge: float = 5.5e-7  # of a plain draw
    draw_tree_paths: float = 1.7  # plain draws that a tree costs
    draw_leaf: float = 1e-4  # of what is solved exactly in the end
    draw_cache_edges: float = 2e4  # from which on memory slows draws down
    belief_sweep: float = 1e-9  # of belief propagation, an edge, at least
    belief_sweep_slow: float = 8e-9  # and at most,
    belief_cached: float = 1e6  # edges up to which messages stay near; twice as many
    belief_far: float = 4.0  # make a sweep so many times slower
    worm_step: float = 1e-8
    worm_giant_users: int = 200_000  # whose edges together tell what a few chains differ by
    worm_slowest: int = 40  # steps a worm and user beyond which chains are given up
    worm_latest: int = 10  # times the expected steps of a stretch, likewise
    worm_uneven: float = 0.1  # weight of the lightest edge of a behaviour, against all alike

    # ---- chains where behaviours are left over (approximate/spare_chain)
    spare_pick: float = 1.5e-8  # a pick
    spare_far: float = 6.0  # times slower, ten times beyond 2 * 10^5 edges
    spare_edge: float = 2e-9  # of a sample
    spare_bytes: float = 150.0  # an edge
    spare_probability: float = 0.001  # half-width of a probability, where a budget is given

    # ---- particle filters (approximate/particles)
    particle_edge: float = 0.24e-9  # a particle and edge
    particle_pick: float = 2.5e-9  # a particle and user
    particle_user: float = 7e-8  # a run and user
    # Particles are resampled so often: users over edges a user, times this, and less with spare
    # behaviours; a byte of a state is then copied in so many seconds.
    particle_resampling: float = 1 / 140
    particle_copy: float = 1e-9
    particle_balance: float = 3e-9  # of a sweep, an edge
    particle_many: float = 12.0  # edges a user from which those with few come first

    # ---- nested bounds (approximate/nested_bound)
    nested_edge: float = 0.5e-9  # a draw and edge
    nested_step: float = 4e-9  # a draw and user
    nested_move: float = 50e-9  # a move of a column: so much times (edges a user) ** 2
    nested_search_from: float = 0.1  # predicted seconds from which a better order is looked for
    nested_search_share: float = 0.1  # of the predicted seconds
    nested_search_seconds: float = 10.0
    nested_hopeless: float = 20.0  # times the budget: no order of columns saves so much
    nested_users: int = 1000  # of whose matchings a nested bound may let samples through

    # ---- bounds
    balance_sweep: float = 2.5e-9  # of a sweep of Sinkhorn's, an edge
    balance_settling: float = 1.6e-6  # of what sweeps leave unbalanced, an edge
    balance_log_sweep: float = 2.5e-8  # of a sweep in logs, an edge
    bethe_sweep: float = 8e-9  # of belief propagation, an edge,
    bethe_sweep_half: float = 1.3e-8  # and with half its correction
    bethe_start: float = 1e-7  # before its first sweep,
    bethe_weights: float = 5e-7  # and more with weights
    bethe_pass: float = 8e-9  # of the search for prices
    bethe_proof: float = 3e-7  # of what is proven from one matrix, but for the search


@dataclass(frozen=True, repr=False, eq=False)
class Limits:
    """Numbers from proofs, kernels and doubles: nothing of this is measured."""

    # ---- blocks
    even: float = 70.0  # |log2| of a weight up to which products of twelve stay within doubles
    padded_edges: int = 20_000_000  # up to which spare behaviours get users of their own
    scaling_sweeps: int = 8
    scaled_log2: float = 1000.0  # largest |log2| of a scaled weight

    # ---- rook polynomials (exact/rook, exact/near_complete)
    rook_widest: int = 24  # live columns at most: 2^24 polynomials are beyond any use
    rook_starts: int = 6  # greedy orders tried
    rook_overhead: int = 100  # words that could be added in the time of looking up one state
    rook_cheap: float = (
        1e5  # operations, below which a search for an order costs more than it saves
    )
    rook_repack: int = 64  # rows, after which coefficients get room to grow
    rook_operations: float = 4e9  # on words, some seconds
    rook_compared: int = 64  # edges; larger components are compared only label by label

    # ---- classes of twins (exact/classes, exact/class_sums)
    most_classes: int = 256  # of items, and of choosers for which an order is searched
    class_orders: int = 8  # that are searched, from as many classes
    class_states: int = 1 << 62
    class_least: float = 2.0**-500  # of values beside the largest
    class_farthest: int = 400  # exponents of weights
    sums_inner: int = 96  # how the kernel fills the points of its inner variables
    sums_step: int = 32
    sums_unit: float = 150.0  # products that a unit takes besides
    sums_lcm: int = 1 << 34  # of orders: beyond, too few primes have roots of all
    sums_bits: int = 10_000
    sums_points: int = 1 << 62
    sums_iterations: int = 50  # of the search for a bound, which any x > 0 gives
    sums_least: float = 2.0**-100

    # ---- closed forms, contraction, weights of rank one
    product_length: int = 512  # factors of at least 1/2 whose product cannot underflow
    edge_slice: int = 1 << 15  # edges a time, so that what is gathered for them stays in the cache
    contraction_degree: int = 4
    contraction_smallest: float = 2.0**-900  # floats to keep away from where digits are lost
    contraction_largest: float = 2.0**900
    # a step; exp(-700) is itself off by some 700 ulps when its argument was rounded
    rank_one_ulps: int = 1024
    rounding: float = 2.0**-53

    # ---- sums over signs and sets
    glynn_close: float = 1e-8  # proven error up to which doubles do for posteriors of exact blocks
    glynn_hopeless: float = 4.0  # times that, predicted, from which doubles are not tried
    glynn_of_edges: float = 3.0  # errors of minors that make that of the likeliest edges
    glynn_row: int = 2**31  # row sums that the kernel takes
    ryser_descents: int = 300
    ryser_moves: int = 2000
    ryser_seed: int = 1

    # ---- weights of low rank
    low_ranks: tuple[int, ...] = (2, 3)
    low_rank_digits: int = 62  # bits of the factors that weights in doubles are taken apart into
    low_rank_close: float = 1e-8  # relative error up to which doubles do for the minors
    double_bits: int = 900  # of an integer that is well within doubles
    largest_double: int = 1023  # bits
    band_rounds: int = 8  # of sorting either side by the ends of its neighbours

    # ---- bounds
    bounds_scaling: float = 0.3  # of the seconds; the rest is for belief propagation
    heaviest_pairs: int = 4_000_000  # up to which a heaviest matching is searched; else any will do
    sweeps: int = 300
    edge_sweeps: float = 1e9  # work that bounds may take: edges times sweeps
    least_edge_sweeps: float = 1e7  # whatever the budget: a lower bound hangs on them
    more_sweeps: int = 5000
    more_edge_sweeps: float = 1e8
    wide: float = 1e8  # ratio of two weights of a user from which scaling begins in logs
    # How much of a matrix that knows no weights is then mixed in, so that the shares of light edges
    # stay far above rounding; the least that works loosens a bound the least.
    even_parts: tuple[float, ...] = (1e-9, 1e-6, 1e-3, 0.1, 1.0)
    log_edge_sweeps: float = 5e7  # work of the sweeps in logs: edges times sweeps
    cooling: float = 2.0
    not_quite_0: float = -600.0  # log of a share that divides without overflow
    edge_passes: float = 2e8  # work of the search for prices: edges times passes
    bethe_balancing: int = 300  # sweeps
    many_edges: int = 100_000  # from which on the first shares that prove something are enough
    settled: float = 1e-9  # change of prices, relative to the slopes, not worth further passes
    # How much of an even matrix is mixed in, so that no share drowns in the rounding of the sums.
    bethe_even_parts: tuple[float, ...] = (0.0, 1e-9, 1e-6, 1e-3)
    few_even_parts: tuple[float, ...] = (1e-6, 1e-3)  # where time is short
    share_rounding: float = 2.0**-50  # of a sum of shares, a vertex


LIMITS = Limits()

TUNING = Tuning()

_CURRENT: ContextVar[Tuning] = ContextVar("tuning", default=TUNING)


def tuning() -> Tuning:
    """What holds here: :data:`TUNING`, or what :func:`tuned` has put in its place."""
    return _CURRENT.get()


@contextmanager
def tuned(**changes: Any) -> Iterator[Tuning]:
    """Other speeds and thresholds for what is planned within the context.

    Chunks on other threads or machines have the usual ones: there they decide nothing but how often
    a kernel looks up.

    Examples
    --------
    >>> with tuned(promise_from=0.0) as changed:
    ...     tuning() is changed
    True
    >>> tuning().promise_from
    1.0
    """
    token = _CURRENT.set(replace(_CURRENT.get(), **changes))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)
