"""What to change in a release so that notions reach their targets, at the least loss.

A step makes two classes of rows equal, by cells that hold what both hold, or leaves a class of rows
out. Greedy: every class that is below the target is joined with the class with which that costs the
least, the worst first, and then all is looked at again. On small tables all ways to join classes
are tried, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from anonymatch.base.arrays import Ints
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.errors import InputError, NoMatchingError
from anonymatch.base.numbers import percent, plural
from anonymatch.base.text import Argument, did_you_mean
from anonymatch.running import Budget, check_work
from anonymatch.tables.joining import JoinedClasses
from anonymatch.tables.notion_kinds import NOTION_KINDS, NotionKind
from anonymatch.tables.notions import Notion, ReleaseFacts
from anonymatch.tables.reading.release import Release, link_seconds
from anonymatch.tables.utility import utility
from anonymatch.tabular import first_line, separator_in

__all__ = [
    "GeneraliseStep",
    "Generalised",
    "RowChange",
    "generalise",
    "parse_target",
    "parse_targets",
    "write_generalised",
]

_OF_VALUES = ("l-diversity", "entropy l-diversity", "recursive c", "t-closeness")
_UNMATCHED = (NoMatchingError, InputError)  # too few rows, or one that fits nobody
_LOOK, _ROW = 1e-3, 5e-7  # seconds to compute notions, and more for each row
_STEP, _CLASS = 3e-5, 3e-8  # seconds to join a class, and more for each other class
_PAIR = 6.5e-6  # seconds of two cells that are joined for the first time
_ALL = 7  # classes of a table for which all ways to join them are tried: 877 of them


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneraliseStep:
    """Rows that become equal, or are left out, and what that does."""

    rows: int
    before: tuple[str, ...]
    after: tuple[str, ...] | None  # None: left out
    loss: float
    value: float | None

    def in_words(self, columns: Sequence[str]) -> str:
        """The change in a sentence."""
        if self.after is None:
            return f"leave out {plural(self.rows, 'row')} with {_named(columns, self.before)}"
        return (
            f"generalise {plural(self.rows, 'row')} from {_named(columns, self.before)} to "
            f"{_named(columns, self.after)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """What becomes of rows that were equal.

    Attributes
    ----------
    rows : tuple of int
        Their numbers, from 1.
    before : tuple of str
        Their cells, one an identifier.
    after : tuple of str or None
        None: they are left out.
    """

    rows: tuple[int, ...]
    before: tuple[str, ...]
    after: tuple[str, ...] | None

    def cells(self) -> list[str]:
        """Each cell, or what it was and what it becomes."""
        if self.after is None:
            return [cell or "*" for cell in self.before]
        return [
            (old or "*") if old == new else f"{old or '*'} → {new or '*'}"
            for old, new in zip(self.before, self.after, strict=True)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Generalised:
    """A release that reaches its targets, and how.

    Attributes
    ----------
    targets : dict of str to float
        By notion.
    reached : bool
        Whether all of them are.
    steps : tuple of GeneraliseStep
        As they were found; a class may change several times.
    changes : tuple of RowChange
        What becomes of each class of rows in the end, those of the most rows first.
    before, after : dict of str to float or None
        All notions, of the release that was given and of the changed one; presence only as a
        target.
    loss, loss_before : float
        The share of values that cells leave open, after and before.
    optimum : float or None
        The least loss of all ways to join classes and to leave one of them out, which is the loss
        then; None where they are too many to try.
    greedy : float or None
        The loss of greedy steps, where all ways were tried; None if these do not reach the target.
    left_out : tuple of int
        Rows that are left out, from 0.
    release : Release
    """

    targets: dict[str, float]
    reached: bool
    steps: tuple[GeneraliseStep, ...] = field(repr=False)
    changes: tuple[RowChange, ...] = field(repr=False)
    before: dict[str, float | None] = field(repr=False)
    after: dict[str, float | None] = field(repr=False)
    loss: float
    loss_before: float
    optimum: float | None
    greedy: float | None
    left_out: tuple[int, ...] = field(repr=False)
    release: Release = field(repr=False)

    def headline(self) -> str:
        """Whether the targets are reached, by changing how much, and what it costs."""
        said = "; ".join(self._about(key, target) for key, target in self.targets.items())
        changed = sum(len(one.rows) for one in self.changes if one.after is not None)
        how = [f"{plural(changed, 'row')} generalised"] if changed else []
        how += [f"{plural(len(self.left_out), 'row')} left out"] if self.left_out else []
        if not how:
            return f"{said}: nothing needs to change."
        loss = (
            f"cells leave open {percent(self.loss)} of the values of a column on average, "
            f"{percent(self.loss_before)} before"
        )
        if self.optimum is not None:
            loss += ", the least of all ways to join classes"
        return f"{said}, with {' and '.join(how)}: {loss}."

    def _about(self, key: str, target: float) -> str:
        """A target, and whether it is reached."""
        kind, value = NOTION_KINDS[key], self.after[key]
        how = "as good as" if kind.reaches(value, target) else "and does not reach"
        return f"{key} is {kind.text(value)}, {how} the target of {kind.text(target)}"

    def notions(self) -> list[tuple[str, NotionKind, float | None, float | None]]:
        """Each notion that is known, before and after."""
        return [
            (key, kind, self.before[key], self.after[key])
            for key, kind in NOTION_KINDS.items()
            if key in self.before and (self.before[key], self.after[key]) != (None, None)
        ]

    def cells(self) -> dict[str, list[str]]:
        """The identifiers of the changed release, by column, without the rows left out."""
        return {
            column.name: [column.cells[cell] or "*" for cell in column.cell_of.tolist()]
            for column in self.release.columns
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = [column.name for column in self.release.columns]
        return {
            "targets": [
                {"notion": key, "target": target, "value": self.after[key]}
                | {"reached": NOTION_KINDS[key].reaches(self.after[key], target)}
                for key, target in self.targets.items()
            ],
            "reached": self.reached,
            "loss": self.loss,
            "loss_before": self.loss_before,
            "optimum": self.optimum,
            "greedy": self.greedy,
            "left_out": [row + 1 for row in self.left_out],
            "before": self.before,
            "after": self.after,
            "changes": [
                {"rows": list(one.rows), "before": list(one.before)}
                | {"after": one.after and list(one.after)}
                for one in self.changes
            ],
            "steps": [
                {"rows": step.rows, "loss": step.loss, "value": step.value}
                | {"before": list(step.before), "after": step.after and list(step.after)}
                | {"words": step.in_words(names)}
                for step in self.steps
            ],
        }


def generalise(
    release: Release, targets: Mapping[str, float], *, suppress: int = 0, budget: Budget
) -> Generalised:
    """Join classes of rows, or leave rows out, until every notion reaches its target.

    Parameters
    ----------
    release : Release
    targets : mapping of str to float
        By notion ("k-anonymity", "global (1,k)", "l-diversity", "t-closeness" ...): at least so
        much, or of risks and closeness at most.
    suppress : int
        Rows that may be left out at most.
    budget : Budget
        Steps end with its predicted seconds, whether or not the targets are reached.
    """
    wanted = dict(targets)
    for key in wanted:
        _check_told(release, key)
    found = _that_can_be_matched(release, wanted, suppress=suppress, budget=budget)
    if suppress and not found.reached:  # a row too few may be one too many
        without = _greedy(release, wanted, suppress=0, budget=budget)
        found = without if without.reached else found
    best = _least_loss(release, wanted, suppress=suppress, budget=budget)
    if best is None or not best.reached:
        return found
    optimum, greedy = best.loss, found.loss if found.reached else None
    better = greedy is None or best.loss < greedy - 1e-12
    return replace(best if better else found, optimum=optimum, greedy=greedy)


def _check_told(release: Release, key: str) -> None:
    """Refuse a notion of which the release never says anything, however it is changed."""
    if key == "presence" and not release.lost:
        raise InputError("presence cannot be a target: all people of the original are released")
    if key in _OF_VALUES and not release.sensitive:
        raise InputError(f"{key} needs a sensitive column; name one with ", Argument("sensitive"))


def _that_can_be_matched(
    release: Release, targets: dict[str, float], *, suppress: int, budget: Budget
) -> Generalised:
    """Greedy; of more rows than people, those left out may be the only ones that fit somebody."""
    try:
        return _greedy(release, targets, suppress=suppress, budget=budget)
    except _UNMATCHED:
        if not suppress or not release.spare:
            raise
        return _greedy(release, targets, suppress=0, budget=budget)


class _Work:
    """Predicted seconds that are left; nothing is timed, so that answers are always the same."""

    def __init__(self, seconds: float) -> None:
        self._left, self._pairs = seconds, 0

    @property
    def over(self) -> bool:
        return self._left < 0.0

    def look(self, release: Release) -> None:
        """All notions that are targets are computed."""
        self._left -= _LOOK + _ROW * release.n_rows + link_seconds(len(release.indices))

    def step(self, joined: JoinedClasses) -> None:
        """A class is joined with the cheapest other one."""
        pairs, self._pairs = joined.cell_pairs - self._pairs, joined.cell_pairs
        self._left -= _STEP + _CLASS * len(joined.sizes) + _PAIR * pairs


def _greedy(
    release: Release, targets: dict[str, float], *, suppress: int, budget: Budget
) -> Generalised:
    """Look at the notions, change all classes that are below a target, and look again."""
    joined = JoinedClasses(release)
    current, classes = release, np.arange(len(release.class_sizes))
    work = _Work(budget.seconds)
    steps: list[GeneraliseStep] = []
    missed = _missed(current, targets, budget)
    while missed is not None:
        target = targets[missed.key]
        made = _change(joined, _below(missed, classes, target), suppress, work)
        if not made:
            break
        current, classes = joined.joined_release()
        work.look(current)
        value = ReleaseFacts(current, budget=budget).notion(missed.key).value
        steps += [*made[:-1], replace(made[-1], value=value)]
        missed = _missed(current, targets, budget)
        if work.over:
            break
    return _generalised(joined, current, targets, steps, budget)


def _missed(release: Release, targets: dict[str, float], budget: Budget) -> Notion | None:
    """The first notion that does not reach its target."""
    facts = ReleaseFacts(release, budget=budget)
    found = (facts.notion(key) for key in targets)
    return next((one for one in found if not one.kind.reaches(one.value, targets[one.key])), None)


def _generalised(
    joined: JoinedClasses,
    current: Release,
    targets: dict[str, float],
    steps: Sequence[GeneraliseStep],
    budget: Budget,
) -> Generalised:
    release = joined.release
    left_out = np.setdiff1d(np.arange(release.n_rows), joined.rows())
    after = _values(current, targets, budget)
    return Generalised(
        targets=targets,
        reached=all(NOTION_KINDS[key].reaches(after[key], each) for key, each in targets.items()),
        steps=tuple(steps),
        changes=_changes(joined),
        before=_values(release, targets, budget),
        after=after,
        loss=joined.loss,
        loss_before=utility(release).loss,
        optimum=None,
        greedy=None,
        left_out=tuple(left_out.tolist()),
        release=current,
    )


def _changes(joined: JoinedClasses) -> tuple[RowChange, ...]:
    release = joined.release
    order = np.argsort(release.class_of, kind="stable")
    members = np.split(order, np.cumsum(release.class_sizes)[:-1])
    made = []
    for class_, now in enumerate(joined.class_now.tolist()):
        before = release.class_cells(class_)
        after = None if now < 0 else joined.cells(now)
        if after != before:
            rows = tuple((members[class_] + 1).tolist())
            made.append(RowChange(rows=rows, before=before, after=after))
    return tuple(sorted(made, key=lambda one: -len(one.rows)))


def _values(release: Release, targets: dict[str, float], budget: Budget) -> dict[str, float | None]:
    """All notions that need no probabilities, and the targets."""
    facts = ReleaseFacts(release, budget=budget)
    keys = (key for key in NOTION_KINDS if key != "presence" or key in targets)
    return {key: facts.notion(key).value for key in keys}


def _below(notion: Notion, classes: Ints, target: float) -> list[int]:
    """Classes by which the notion is not as good as the target, the worst first."""
    by_class = notion.by_class if notion.kind.better == "higher" else -notion.by_class
    wanted = target if notion.kind.better == "higher" else -target
    if notion.value is None or not len(by_class):
        return [int(one) for one in classes]  # recursive diversity begins at two values
    order = np.argsort(by_class, kind="stable")  # NaN is last
    return [int(classes[at]) for at in order.tolist() if by_class[at] < wanted - 1e-12]


def _change(
    joined: JoinedClasses, below: list[int], suppress: int, work: _Work
) -> list[GeneraliseStep]:
    """One change for each class, unless it has become part of another one by then."""
    joined.sort()
    steps: list[GeneraliseStep] = []
    changed: set[int] = set()
    for class_ in below:
        check_work()
        if class_ in changed or not joined.sizes[class_]:
            continue
        if steps and work.over:
            break
        work.step(joined)
        step = _step(joined, class_, suppress - (joined.release.n_rows - joined.n_rows))
        if step is None:
            break
        made, where = step
        changed.add(where)
        steps.append(made)
    return steps


def _step(joined: JoinedClasses, class_: int, suppress: int) -> tuple[GeneraliseStep, int] | None:
    """Join a class with the cheapest other one, or leave it out; None if neither can be."""
    size = int(joined.sizes[class_])
    partner = joined.cheapest(class_)
    out = size * (len(joined.release.columns) - joined.loss_of(class_))
    if suppress >= size and (partner is None or out < partner[1]) and joined.n_rows > size:
        return _leave_out(joined, class_), -1
    return None if partner is None else _join(joined, class_, partner[0])


def _leave_out(joined: JoinedClasses, class_: int) -> GeneraliseStep:
    size, before = int(joined.sizes[class_]), joined.cells(class_)
    loss = size * (len(before) - joined.loss_of(class_)) / joined.n_cells
    joined.leave_out(class_)
    return GeneraliseStep(rows=size, before=before, after=None, loss=loss, value=None)


def _join(joined: JoinedClasses, class_: int, other: int) -> tuple[GeneraliseStep, int]:
    """The step, and the class that both are then."""
    apart = sum(int(joined.sizes[one]) * joined.loss_of(one) for one in (class_, other))
    size = int(joined.sizes[[class_, other]].sum())
    both = {one: (int(joined.sizes[one]), joined.cells(one)) for one in (class_, other)}
    where = joined.join(class_, other)
    after = joined.cells(where)
    # Of rows whose cells become others; where only one class changes, its cells are shown.
    changed = [one for one in both.values() if one[1] != after] or list(both.values())
    step = GeneraliseStep(
        rows=sum(rows for rows, _ in changed),
        before=min(changed)[1],
        after=after,
        loss=(size * joined.loss_of(where) - apart) / joined.n_cells,
        value=None,
    )
    return step, where


# ---- all ways, of small tables


def _least_loss(
    release: Release, targets: dict[str, float], *, suppress: int, budget: Budget
) -> Generalised | None:
    """The best of all ways to join classes and to leave one out; None if they are too many."""
    if len(release.class_sizes) > _ALL:
        return None
    each = _LOOK + _ROW * release.n_rows + link_seconds(len(release.indices))
    if sum(1 for _ in _ways(release, suppress)) * each > budget.seconds:
        return None
    best, least = None, np.inf
    for groups, out in _ways(release, suppress):
        check_work()
        joined = JoinedClasses(release)
        steps = _followed(joined, groups, out)
        if joined.loss >= least - 1e-12:
            continue
        try:
            current, _ = joined.joined_release()
            if _missed(current, targets, budget) is not None:
                continue
            best = _generalised(joined, current, targets, steps, budget)
        except _UNMATCHED:  # rows that were left out are the only ones that fit somebody
            continue
        least = joined.loss
    return best


def _ways(release: Release, suppress: int) -> Iterator[tuple[list[list[int]], list[int]]]:
    """Groups of classes to join, and classes to leave out."""
    sizes = release.class_sizes
    for groups in _partitions(len(sizes)):
        yield groups, []
        for out in groups:
            if sizes[out].sum() <= suppress and len(groups) > 1:
                yield [group for group in groups if group is not out], out


def _followed(
    joined: JoinedClasses, groups: list[list[int]], out: list[int]
) -> list[GeneraliseStep]:
    """Leave out, join, and say each step."""
    steps = [_leave_out(joined, one) for one in out]
    for first, *others in groups:
        for other in others:
            one, two = joined.class_now[[first, other]].tolist()
            if one != two:
                steps.append(_join(joined, one, two)[0])
    return steps


def _partitions(number: int) -> Iterator[list[list[int]]]:
    """All ways to put numbers into groups."""
    if not number:
        yield []
        return
    for groups in _partitions(number - 1):
        for at in range(len(groups)):
            yield [*groups[:at], [*groups[at], number - 1], *groups[at + 1 :]]
        yield [*groups, [number - 1]]


def _named(columns: Sequence[str], cells: Sequence[str]) -> str:
    return ", ".join(f"{column} {cell or '*'}" for column, cell in zip(columns, cells, strict=True))


# ---- from and to files


def parse_targets(texts: Sequence[str]) -> dict[str, float]:
    """Notions and their values from texts such as ``k-anonymity=5``.

    Examples
    --------
    >>> parse_targets(["k-anonymity=5", "l-diversity=2"])
    {'k-anonymity': 5.0, 'l-diversity': 2.0}
    """
    targets: dict[str, float] = {}
    for key, value in map(parse_target, texts):
        if key in targets:
            raise InputError(f"the target {key} is given twice; keep one")
        targets[key] = value
    return targets


def parse_target(text: str) -> tuple[str, float]:
    """A notion and its value from text such as ``k-anonymity=5``.

    Examples
    --------
    >>> parse_target("k-anonymity=5"), parse_target("t-closeness=0.3")
    (('k-anonymity', 5.0), ('t-closeness', 0.3))
    """
    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not equals or not np.isfinite(number):
        raise InputError(f"the target {text!r} must be MODEL=N, such as k-anonymity=5")
    key = _notion(name.strip())
    kind = NOTION_KINDS[key]
    least = 1.0 if kind.better == "higher" else 0.0
    if number < least or (kind.unit == "share" and number > 1.0):
        reach = f"from {least:g} to 1" if kind.unit == "share" else f"{least:g} or more"
        raise InputError(f"the target {text!r} cannot be: {key} is {reach}")
    return key, number


def _notion(name: str) -> str:
    """The key of a notion from any of its names."""
    if name == "k":
        raise InputError("which k is the target? say k-anonymity=N or global (1,k)=N")
    for kind in NOTION_KINDS.values():
        if name in (kind.key, *kind.names):
            return kind.key
    near = did_you_mean(name, tuple(NOTION_KINDS))
    raise InputError(
        f"there is no privacy model {name!r}; there are {', '.join(NOTION_KINDS)}{near}"
    )


def write_generalised(
    found: Generalised, released: str | PathLike[str], path: str | PathLike[str]
) -> None:
    """The released table with its changed cells, without the rows left out, as CSV.

    Fields are parted as they are in the released table.
    """
    if as_path(path).suffix.lower() != ".csv":
        raise InputError(f"{path}: a changed table is written as .csv")
    import polars as pl

    from anonymatch.tabular import read_text_table

    file = as_path(released)
    separator = separator_in(first_line(file), ",") if file.suffix.lower() == ".csv" else ","
    frame = read_text_table(file)
    titles = {title.strip().lower(): title for title in reversed(frame.columns)}
    kept = np.setdiff1d(np.arange(frame.height), np.array(found.left_out, dtype=np.int64))
    frame = frame[kept.tolist()]
    # Names of columns are compared without spaces and case.
    frame = frame.with_columns(
        pl.Series(name if name in frame.columns else titles[name.lower()], cells, dtype=pl.String)
        for name, cells in found.cells().items()
    )
    with unfinished(as_path(path)) as beside:
        frame.write_csv(beside, separator=separator)
