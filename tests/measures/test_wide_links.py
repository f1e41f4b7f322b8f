"""Explanations of wide logs by a chain: right by enumeration, as often as intervals say."""

import math
from collections import Counter

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import (
    DensityLaw,
    Erlang,
    LinkBand,
    LinksEstimate,
    LogNormal,
    Window,
    estimate_links,
)
from anonymatch.mixes.solvers.wide.wide_links import chain_links
from anonymatch.running import Budget


class Truth:
    """Figures of a band by enumeration of its explanations."""

    def __init__(self, band: LinkBand) -> None:
        self.band = band
        self.total = self.logs = 0.0
        self.pairs = np.zeros((band.rows, band.columns))
        self.alone, self.lost = np.zeros(band.rows), np.zeros(band.rows)
        starts = np.concatenate(([0], np.cumsum(band.last - band.first)))
        self.weights = np.zeros((band.rows, band.columns))
        for i in range(band.rows):
            run = slice(band.first[i], band.last[i])
            self.weights[i, run] = (
                1.0 if band.weights is None else band.weights[starts[i] : starts[i + 1]]
            )
        self._grow((), 1.0)
        self.pairs /= self.total
        self.alone /= self.total
        self.lost /= self.total

    def _grow(self, chosen: tuple[int, ...], weight: float) -> None:
        band = self.band
        if weight == 0.0:
            return
        i = len(chosen)
        if i < band.rows:
            stays = 0.0 if band.lost is None or band.staying is None else band.staying[i]
            self._grow((*chosen, -1), weight * (band.unpaired[i] - stays))
            self._grow((*chosen, -2), weight * stays)
            for j in np.flatnonzero(self.weights[i]).tolist():
                if j not in chosen:
                    self._grow((*chosen, j), weight * self.weights[i, j])
            return
        paired = sum(j >= 0 for j in chosen)
        if band.pairs is not None and paired != band.pairs:
            return
        if band.lost is not None and chosen.count(-1) != band.lost:
            return
        if paired < band.columns:
            weight *= band.cover ** (band.columns - paired)
        if weight == 0.0:
            return
        self.total += weight
        self.logs += weight * math.log(weight)
        for row, j in enumerate(chosen):
            if j < 0:
                self.alone[row] += weight
                self.lost[row] += weight * (j == -1)
            else:
                self.pairs[row, j] += weight

    @property
    def log_weight(self) -> float:
        return math.log(self.total)

    @property
    def entropy(self) -> float:
        return self.log_weight - self.logs / self.total

    @property
    def mean_shannon(self) -> float:
        departed = self.pairs.sum(axis=1, keepdims=True)
        some = self.pairs > 0.0
        shares = (self.pairs / np.maximum(departed, 1e-300))[some]
        return float(-(self.pairs[some] * np.log2(shares)).sum() / max(departed.sum(), 1e-300))


def drawn_band(seed: int) -> LinkBand | None:
    """A few messages with any combination of a law, losses, cover, an end and numbers."""
    draw = np.random.default_rng(seed)
    law = ("window", "erlang", "lognormal")[seed % 3]
    loss = (0.0, 0.05, 0.3)[draw.integers(3)]
    cover = (0.0, 0.1, 0.8)[draw.integers(3)]
    end = (7.0, 30.0)[draw.integers(2)]
    size = int(draw.integers(3, 7))
    came = np.sort(draw.uniform(0.0, 6.0, size))
    rule: DensityLaw
    if law == "window":
        delays = draw.uniform(0.5, 4.0, size)
        rule = Window(0.5, 4.0)
    elif law == "erlang":
        delays = draw.gamma(3, 0.7, size)
        rule = Erlang(3, 0.7)
    else:
        rule = LogNormal(2.0, 0.6)
        delays = rule.delays(size, draw)
    lost = draw.random(size) < loss
    left = (came + delays)[~lost & (came + delays <= end)]
    left = np.sort(np.append(left, draw.uniform(0.0, 7.0, min(draw.poisson(7 * cover), 3))))
    if not len(left):
        return None
    runs = rule.candidates(
        came, left, users=np.arange(size), behaviours=np.arange(len(left)), end=end
    )
    first, last = np.minimum(runs.first, runs.end), runs.end
    rows = np.repeat(np.arange(size), last - first)
    columns = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    weights = (1.0 - loss) * np.exp(rule.log_density(left[columns.astype(int)] - came[rows]))
    unpaired = loss + (1.0 - loss) * np.exp(rule.log_survival(end - came))
    band = LinkBand(
        first=first,
        last=last,
        weights=weights,
        columns=len(left),
        unpaired=unpaired,
        cover=cover,
    )
    if draw.random() < 0.3:  # numbers instead of rates
        pairs = size - int((lost | (came + delays > end)).sum())
        band = LinkBand(
            first=first,
            last=last,
            weights=None if law == "window" else weights,
            columns=len(left),
            unpaired=np.full(size, float(pairs < size)),
            cover=float(pairs < len(left)),
            pairs=pairs,
        )
    return band


def held(truth: Truth, estimate: LinksEstimate) -> Counter[str]:
    """How many intervals of each kind there are, and how many hold."""
    counts: Counter[str] = Counter()

    def look(kind: str, value: float, low: float, high: float) -> None:
        counts[f"all {kind}"] += 1
        counts[kind] += low - 1e-7 <= value <= high + 1e-7

    for kind in ("log_weight", "entropy", "mean_shannon"):
        interval = getattr(estimate, kind)
        look(kind, getattr(truth, kind), interval.low, interval.high)
    departed = truth.pairs.sum(axis=1)
    some = departed > 1e-12
    largest = truth.pairs.max(axis=1)[some] / departed[some]
    bits = estimate.mean_min_entropy
    assert bits is not None
    assert bits.low <= bits.value <= bits.high
    mean = -float(departed[some] @ np.log2(largest)) / max(float(departed.sum()), 1e-300)
    look("bits", mean, bits.low, bits.high)
    for i, guess in enumerate(estimate.guess):
        look("alone", truth.alone[i], estimate.alone.low[i], estimate.alone.high[i])
        if estimate.lost is not None:
            look("lost", truth.lost[i], estimate.lost.low[i], estimate.lost.high[i])
        if guess >= 0:
            best = estimate.probability
            given = max(1.0 - truth.alone[i], 1e-300)
            for likely in (truth.pairs[i, guess], truth.pairs[i].max()):
                look("probability", likely, best.low[i], best.high[i])
                look("surest", likely / given, estimate.surest.low[i], estimate.surest.high[i])
    for j, real in enumerate(truth.pairs.sum(axis=0)):
        look("real", real, estimate.real.low[j], estimate.real.high[j])
    return counts


def test_a_log_of_a_few_messages_is_exact_by_enumeration_with_all_options() -> None:
    numbers = 0
    for seed in range(40):
        band = (drawn_band, numbered_band)[seed % 2](seed)
        if band is None or not band.entries:
            continue
        try:
            truth = Truth(band)
        except ZeroDivisionError:
            with pytest.raises(am.InputError, match="nothing explains the log"):
                estimate_links(band, budget=Budget.of(0.1))
            continue
        exact = estimate_links(band, budget=Budget.of(0.1))
        assert exact.replicas == 0
        numbers += bool(band.told)
        for kind in ("log_weight", "entropy", "mean_shannon"):
            assert getattr(exact, kind).value == pytest.approx(getattr(truth, kind), abs=1e-9)
        departed = truth.pairs.sum(axis=1)
        likeliest = truth.pairs.max(axis=1)
        some = departed > 1e-12
        np.testing.assert_allclose(exact.alone.value, truth.alone, atol=1e-9)
        np.testing.assert_allclose(exact.real.value, truth.pairs.sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(exact.probability.value, likeliest, atol=1e-9)
        np.testing.assert_allclose(exact.surest.value[some], likeliest[some] / departed[some])
        rows = np.flatnonzero(some)
        named = truth.pairs[rows, exact.guess[rows]]
        np.testing.assert_allclose(named, likeliest[rows], atol=1e-9)
        if exact.lost is not None:
            np.testing.assert_allclose(exact.lost.value, truth.lost, atol=1e-9)
    assert numbers >= 8


def chained(seeds: range) -> tuple[Counter[str], float]:
    """How many intervals of short logs hold, and half the mean width of those of the evidence."""
    counts: Counter[str] = Counter()
    halves = []
    for seed in seeds:
        band = drawn_band(seed)
        if band is None:
            continue
        try:
            truth = Truth(band)
        except ZeroDivisionError:
            with pytest.raises(am.InputError, match="nothing explains the log"):
                chain_links(band, budget=Budget.of(0.1))
            continue
        estimate = chain_links(band, budget=Budget.of(0.1), seed=seed)
        counts += held(truth, estimate)
        halves.append((estimate.log_weight.high - estimate.log_weight.low) / 2 / band.rows)
    return counts, float(np.mean(halves))


KINDS = ("log_weight", "entropy", "mean_shannon", "alone", "probability", "surest", "real", "bits")


def test_intervals_of_a_chain_hold_what_enumeration_gives() -> None:
    counts, half = chained(range(8))
    for kind in KINDS:
        assert counts[kind] >= 0.9 * counts[f"all {kind}"] - 1.0, kind
    assert half < 0.03  # and not by being wide


@pytest.mark.slow
def test_intervals_of_a_chain_cover_as_often_as_they_say() -> None:
    counts, half = chained(range(200))
    assert min(counts[f"all {kind}"] for kind in KINDS) >= 150
    for kind in KINDS:
        assert counts[kind] >= 0.95 * counts[f"all {kind}"], kind
    assert half < 0.03


def numbered_band(seed: int) -> LinkBand | None:
    """A few messages of which some are lost and some inside at the end, and how many is told."""
    draw = np.random.default_rng(seed)
    law: DensityLaw = (Window(0.5, 4.0), LogNormal(2.0, 0.6), Erlang(3, 0.7))[seed % 3]
    size, end = int(draw.integers(4, 8)), 5.0
    came = np.sort(draw.uniform(0.0, 4.9, size))
    delays = law.delays(size, draw)
    lost = draw.random(size) < 0.25
    seen = ~lost & (came + delays <= end)
    extra = int(draw.integers(0, 3))
    left = np.sort(np.append((came + delays)[seen], draw.uniform(0.5, end, extra)))
    if not len(left) or not lost.any():
        return None
    runs = law.candidates(
        came, left, users=np.arange(size), behaviours=np.arange(len(left)), end=end
    )
    first, last = np.minimum(runs.first, runs.end), runs.end
    rows = np.repeat(np.arange(size), last - first)
    columns = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    staying = 0.8 * np.exp(law.log_survival(end - came))
    return LinkBand(
        first=first,
        last=last,
        weights=0.8 * np.exp(law.log_density(left[columns.astype(int)] - came[rows])),
        columns=len(left),
        unpaired=0.2 + staying,
        cover=float(extra > 0) * 0.3,
        pairs=len(left) - extra if seed % 2 else None,
        staying=staying,
        lost=int(lost.sum()),
    )


@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(200), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_intervals_hold_what_enumeration_gives_where_numbers_lost_are_told(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        band = numbered_band(seed)
        if band is None:
            continue
        estimate = chain_links(band, budget=Budget.of(0.2), seed=seed)
        counts += held(Truth(band), estimate)
        assert estimate.lost is not None
    for kind in ("entropy", "log_weight", "mean_shannon", "alone", "lost", "probability", "surest"):
        assert counts[kind] >= 0.95 * counts[f"all {kind}"] - 1.0, kind


def test_a_guess_that_is_nearly_sure_given_a_column_is_not_called_sure() -> None:
    """Each message may be lost, and else is one of two messages out, nearly always the first."""
    size = 60
    first = 2 * np.arange(size)
    band = LinkBand(
        first=first,
        last=first + 2,
        weights=np.tile([1.0, 0.0011], size),
        columns=2 * size,
        unpaired=np.full(size, 0.5),
        cover=1.0,
    )
    truth = 1.0 / 1.0011
    for seed in range(4):
        estimate = chain_links(band, budget=Budget.of(0.1), seed=seed)
        surest = estimate.surest
        assert (surest.low < 1.0).all()
        assert ((surest.low < truth) & (truth < surest.high)).mean() >= 0.95
        assert estimate.surest.value.mean() == pytest.approx(truth, abs=3e-4)


def erlang_with_cover() -> LinkBand:
    came, left = np.arange(5.0), np.array([2.5, 4, 4.5, 6, 7, 9.5])
    law = Erlang(3, 1 / 0.6)
    first = np.searchsorted(left, came, side="right")
    rows = np.repeat(np.arange(5), 6 - first)
    columns = np.concatenate([np.arange(a, 6) for a in first])
    return LinkBand(
        first=first,
        last=np.full(5, 6),
        weights=0.95 * np.exp(law.log_density(left[columns] - came[rows])),
        columns=6,
        unpaired=0.05 + 0.95 * np.exp(law.log_survival(10 - came)),
        cover=0.2,
    )


def test_the_evidence_of_an_erlang_log_with_cover_and_losses_is_the_known_one() -> None:
    estimate = chain_links(erlang_with_cover(), budget=Budget.of(4), seed=1)
    assert estimate.log_weight.low <= -5.927112170219 <= estimate.log_weight.high
    assert estimate.log_weight.high - estimate.log_weight.low < 0.2
    known = [0.069749, 0.090473, 0.132394, 0.196637, 0.293702]
    assert np.abs(estimate.alone.value - known).max() < 0.005


def test_the_same_seed_gives_the_same_estimate() -> None:
    one, other = (chain_links(erlang_with_cover(), budget=Budget.of(0.2), seed=3) for _ in range(2))
    assert one.log_weight == other.log_weight
    assert (one.probability.value == other.probability.value).all()


def test_columns_of_one_group_are_taken_together() -> None:
    groups = np.array([0, 0, 0, 1, 1, 1])
    estimate = chain_links(erlang_with_cover(), budget=Budget.of(1), groups=groups)
    truth = Truth(erlang_with_cover())
    both = np.stack((truth.pairs[:, :3].sum(axis=1), truth.pairs[:, 3:].sum(axis=1)))
    assert np.abs(estimate.group_largest - both.max(axis=0)).max() < 0.06
    assert (estimate.group_guess == both.argmax(axis=0)).all()


def test_a_log_without_an_explanation_is_refused() -> None:
    band = LinkBand(
        first=np.array([0, 0]),
        last=np.array([1, 1]),
        weights=None,
        columns=1,
        unpaired=np.zeros(2),
        cover=0.0,
    )
    with pytest.raises(am.InputError, match="nothing explains the log"):
        estimate_links(band, budget=Budget.of(0.1))


def test_where_nothing_fits_nothing_is_paired() -> None:
    band = LinkBand(
        first=np.array([0, 1]),
        last=np.array([0, 1]),
        weights=None,
        columns=1,
        unpaired=np.array([0.5, 0.25]),
        cover=2.0,
    )
    estimate = estimate_links(band, budget=Budget.of(0.1))
    assert estimate.log_weight.value == pytest.approx(math.log(0.25))
    assert estimate.alone.value.tolist() == [1.0, 1.0]
    assert estimate.real.value.tolist() == [0.0]
