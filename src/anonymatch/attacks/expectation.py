"""Expectations of a campaign over all truths: exactly where that is cheap, else by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anonymatch.attacks.best_play import Tree
from anonymatch.attacks.position import Field, Position, Spot
from anonymatch.attacks.residual import Split
from anonymatch.attacks.strategies import Choice, Choose
from anonymatch.attacks.tuning import attack_tuning
from anonymatch.attacks.walk import Drawn, Stride, log_of_share, walk

__all__ = ["Expected", "over_all", "over_samples"]

Number = Fraction | float
Floats = npt.NDArray[np.float64]


@dataclass(kw_only=True)
class Expected:
    """One step in expectation; shares are of all matchings at the start."""

    targets: dict[int, Number] = field(default_factory=dict)
    choice: Choice | None = None  # where all truths lead to the same
    share: Fraction | None = Fraction(0)  # expected to be left; None: only its log is known
    log_share: float = 0.0
    log: float = 0.0  # expected log of the share that is left
    forced: Number | None = Fraction(0)
    n_edges: Number | None = Fraction(0)
    in_doubt: Number | None = Fraction(0)
    left_error: float = 0.0
    log_error: float = 0.0


@dataclass(slots=True)
class _State:
    """A position with the truths that lead to it, summed up."""

    position: Position
    probability: Fraction  # that it is reached
    mass: Fraction  # probability times the share of matchings that is left
    log: float  # probability times the log of that share

    def add(self, other: _State) -> None:
        self.probability += other.probability
        self.mass += other.mass
        self.log += other.log


def over_all(
    start: Position, choose: Choose, steps: int, tree: Tree, *, by_behaviour: bool, most: int
) -> list[Expected] | None:
    """Every step exactly (up to the probabilities), or None if there are more than ``most``
    outcomes.

    ``by_behaviour``: the strategy looks at behaviours too, so that positions that differ only in
    which behaviours are gone are not the same.
    """
    expected: list[Expected] = []
    level = [_State(start, Fraction(1), Fraction(1), 0.0)]
    followed = 0
    for left in range(steps, 0, -1):
        if not any(state.position.in_doubt for state in level):
            break
        step = Expected()
        following: dict[Hashable, _State] = {}
        for state in level:
            for new in _follow(state, choose, left, tree, step, len(level) == 1):
                followed += 1
                if followed > most and left > 1:
                    return None
                key = _key(new.position, by_behaviour)
                if key in following:
                    following[key].add(new)
                else:
                    following[key] = new
        if not step.targets:
            break
        step.log_share = log_of_share(step.share) if step.share else -math.inf
        expected.append(step)
        level = list(following.values())
    return expected


def _key(position: Position, by_behaviour: bool) -> Hashable:
    exposed = frozenset(position.exposed.items() if by_behaviour else position.exposed)
    return position.key(), exposed


def _follow(
    state: _State, choose: Choose, left: int, tree: Tree, step: Expected, alone: bool
) -> Iterator[_State]:
    """Add what a state contributes to a step, and go on to all that it can lead to."""
    position = state.position
    choice = choose(position, left, tree) if position.in_doubt else None
    if choice is None or not choice.targets:
        _add(step, state, state.mass, state.log)
        _tally(step, state.probability, 0, position.n_edges, position.in_doubt)
        yield state
        return
    if alone:
        step.choice = choice
    part = Fraction(1, len(choice.targets))
    for target in choice.targets:
        probability = part * state.probability
        step.targets[target] = step.targets.get(target, Fraction(0)) + probability
        spot = position.spot(target)
        if spot is None:
            _add(step, state, part * state.mass, float(part) * state.log)
            _tally(step, probability, 0, position.n_edges - 1, position.in_doubt)
            new = position.copy()
            new.expose(target, position.forced_behaviour(target))
            yield _State(new, probability, part * state.mass, float(part) * state.log)
            continue
        _add(
            step,
            state,
            part * state.mass * Fraction(spot.share),
            float(part) * (state.log - float(state.probability) * spot.entropy),
        )
        groups = spot.groups()
        if left == 1:
            _last(position, spot, groups, probability, step)
            continue
        for edges in groups:
            each = Fraction(spot.shape.probability(edges[0]))
            new = position.copy()
            change = new.expose(target, spot.behaviour(edges[0]))
            reached = part * len(edges) * each
            _tally(step, reached * state.probability, len(change.forced), new.n_edges, new.in_doubt)
            yield _State(
                new,
                reached * state.probability,
                reached * each * state.mass,
                float(reached) * (state.log + float(state.probability) * log_of_share(each)),
            )


def _last(
    position: Position, spot: Spot, groups: list[list[int]], probability: Fraction, step: Expected
) -> None:
    """Who is forced by the last step, if that is cheap to say."""
    shape = spot.shape
    if len(groups) * shape.graph.n_edges > attack_tuning().forced_cells:
        step.forced = step.n_edges = step.in_doubt = None
        return
    splits = position.field.shapes.splits(shape, [edges[0] for edges in groups])
    for edges, split in zip(groups, splits, strict=True):
        reached = probability * len(edges) * Fraction(shape.probability(edges[0]))
        n_edges = position.n_edges + split.n_edges - shape.graph.n_edges
        _tally(step, reached, len(split.forced), n_edges, _in_doubt(position, split))


def _in_doubt(position: Position, split: Split) -> int:
    return position.in_doubt - 1 - len(split.forced)


def _add(step: Expected, state: _State, mass: Fraction, log: float) -> None:
    assert step.share is not None
    step.share += mass
    step.log += log


def _tally(step: Expected, probability: Fraction, forced: int, n_edges: int, in_doubt: int) -> None:
    if step.forced is not None and step.n_edges is not None and step.in_doubt is not None:
        step.forced += probability * forced
        step.n_edges += probability * n_edges
        step.in_doubt += probability * in_doubt


def over_samples(
    field_: Field,
    choose: Choose,
    steps: int,
    tree: Tree,
    *,
    samples: int,
    seed: int,
    progress: Callable[[int], None],
) -> list[Expected]:
    """Averages over truths that are drawn, with standard errors.

    What a step leaves is averaged before the target's behaviour is drawn: its expectation given
    the past is known, so that the first step has no error at all.
    """
    paths: list[list[Stride]] = []
    for sample in range(samples):
        draws = np.random.default_rng([seed, sample])
        paths.append(list(walk(Position(field_), choose, steps, tree, Drawn(draws), draws)))
        progress(sample + 1)
    return [_average(paths, k) for k in range(max(len(path) for path in paths))]


def _average(paths: list[list[Stride]], k: int) -> Expected:
    """Step ``k`` over all paths; one that has ended stays as it is."""
    step = Expected(share=None)
    times: dict[int, int] = {}
    logs: list[float] = []
    falls: list[float] = []
    forced: list[int] = []
    n_edges: list[int] = []
    in_doubt: list[int] = []
    for path in paths:
        stride = path[min(k, len(path) - 1)]
        if k < len(path):
            logs.append(stride.log_before + log_of_share(stride.share))
            falls.append(stride.log_before - stride.entropy)
            forced.append(len(stride.forced))
            times[stride.target] = times.get(stride.target, 0) + 1
        else:
            logs.append(stride.log_after)
            falls.append(stride.log_after)
            forced.append(0)
        n_edges.append(stride.n_edges)
        in_doubt.append(stride.in_doubt)
    step.targets = {user: number / len(paths) for user, number in times.items()}
    top = max(logs)
    scaled = np.exp(np.array(logs) - top)
    step.log_share = top + math.log(scaled.mean())
    step.left_error = _standard_error(scaled) / float(scaled.mean())
    step.log = float(np.mean(falls))
    step.log_error = _standard_error(np.array(falls))
    step.forced, step.n_edges, step.in_doubt = (
        float(np.mean(values)) for values in (forced, n_edges, in_doubt)
    )
    if k == 0:
        step.choice = paths[0][0].choice if len(paths[0][0].choice.targets) == 1 else None
    return step


def _standard_error(values: Floats) -> float:
    if (values == values[0]).all():  # no rounding in the mean of equal numbers
        return 0.0
    return float(values.std(ddof=1) / math.sqrt(len(values)))
