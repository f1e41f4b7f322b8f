"""Attack: what an attacker gains, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import label, several
from anonymatch.counting import Count, power_product
from anonymatch.theory.attacks.tuning import attack_tuning

if TYPE_CHECKING:
    from anonymatch.reporting.charts import AnyChart

__all__ = ["Attack", "AttackStep", "Left", "Ties", "attack_charts"]

_LN2 = math.log(2.0)


class Ties(Sequence[Hashable]):
    """Users whom the attacker's strategy holds to be equally good targets, by name.

    In a large graph they can be many, so they are named when asked for; their number is known.

    Examples
    --------
    >>> import anonymatch as am
    >>> ties = am.attack(am.partition([2, 3, 3])).steps[0].ties
    >>> len(ties), list(ties)
    (6, [2, 3, 4, 5, 6, 7])
    """

    __slots__ = ("_make", "_names", "_number")

    def __init__(self, number: int, make: Callable[[], Sequence[Hashable]]) -> None:
        self._number, self._make = number, make
        self._names: tuple[Hashable, ...] | None = None

    @property
    def names(self) -> tuple[Hashable, ...]:
        if self._names is None:
            self._names = tuple(self._make())
        return self._names

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, key: int) -> Hashable: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Hashable, ...]: ...
    def __getitem__(self, key: int | slice) -> Any:
        return self.names[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and self.names == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Ties], tuple[int, Any]]:
        return Ties, (self._number, partial(tuple, self.names))

    def __repr__(self) -> str:
        return f"Ties({self._number} users)"


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """A number of matchings: those at the start times ratios, multiplied out when asked for."""

    start: Count
    ratios: Sequence[Fraction | float]  # of which the first ``used`` count
    used: int
    last: Fraction | float
    log: float

    @property
    def exact(self) -> bool:
        numbers = (*self.ratios[: self.used], self.last)
        return self.start.exact and all(isinstance(ratio, int | Fraction) for ratio in numbers)

    @property
    def value(self) -> Fraction | float:
        if self.exact:
            ratios = [(Fraction(ratio), 1) for ratio in (*self.ratios[: self.used], self.last)]
            return Fraction(power_product(ratios)) * Fraction(self.start.value)
        return math.exp(self.log) if self.log < 709 else math.inf

    @property
    def number(self) -> int | Fraction | float:
        """The value, as an int if it is exact and the graph has no weights."""
        value = self.value
        return int(value) if isinstance(value, Fraction) and not self.start.weighted else value


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttackStep(Summarised):
    """One exposure of a campaign.

    For weighted graphs "matchings left" is the weight of all matchings that agree with what was
    revealed, the weights of the revealed pairs included.

    Attributes
    ----------
    number : int
        1 is the first.
    target : user or None
        Who is exposed. None if that depends on what was revealed before: see `targets`.
    targets : dict
        Probability that each user is the target; of a campaign along a truth, one user with 1.
    behaviour : behaviour or None
        What was revealed; None in expectation.
    log_expected_left : float
        Natural log of the expected number of matchings left, taken before the target's behaviour
        is revealed: given what earlier steps revealed along a truth, else over everything.
    expected_log : float
        Expected natural log of the matchings left, likewise.
    log : float or None
        Natural log of the matchings left; None in expectation.
    newly_forced : dict or None
        Other users who are now identified, with what they did; None in expectation.
    n_forced : int, Fraction, float or None
        How many, or how many on average. None: it would have cost too much to find out.
    edges_left : int, Fraction, float or None
        Edges of users not exposed that are still in some matching, likewise.
    in_doubt : int, Fraction, float or None
        Users who are not identified, likewise.
    ties : Ties
        Users who were as good as the target, the target included; the first one is taken. Empty
        in expectation where targets depend on what was revealed.
    left_error, log_error : float
        Standard errors of `expected_left` (relative to it) and of `expected_log`; 0.0 unless they
        are averages over sampled truths.

    Examples
    --------
    >>> import anonymatch as am
    >>> step = am.attack(am.Graph.from_rows(["110", "111", "011"])).steps[0]
    >>> step.target, step.expected_left, step.n_forced
    (1, Fraction(1, 1), Fraction(2, 1))
    """

    number: int
    target: Hashable | None
    targets: Mapping[Hashable, Fraction | float]
    behaviour: Hashable | None
    log_expected_left: float
    expected_log: float
    log: float | None
    newly_forced: Mapping[Hashable, Hashable] | None
    n_forced: int | Fraction | float | None
    edges_left: int | Fraction | float | None
    in_doubt: int | Fraction | float | None
    ties: Ties = field(repr=False)
    left_error: float = 0.0
    log_error: float = 0.0
    expectation: Left = field(repr=False)
    outcome: Left | None = field(default=None, repr=False)

    @property
    def expected_left(self) -> Fraction | float:
        """Expected number of matchings left: a Fraction when exact."""
        return self.expectation.value

    @property
    def left(self) -> int | Fraction | float | None:
        """Matchings left after what was revealed; None in expectation."""
        return None if self.outcome is None else self.outcome.number

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `expected_log`, by its standard error; both ends equal if exact."""
        half = attack_tuning().normal * self.log_error
        return self.expected_log - half, self.expected_log + half

    def to_dict(self) -> dict[str, Any]:
        """Plain values: exact numbers as text, at most ten ties by name."""
        shown = attack_tuning().shown
        likely = sorted(self.targets.items(), key=lambda item: -item[1])[:shown]
        return {
            "number": self.number,
            "target": self.target,
            "targets": [[user, float(probability)] for user, probability in likely],
            "behaviour": self.behaviour,
            "expected_left": _text(self.expected_left) if self._short else None,
            "log_expected_left": self.log_expected_left,
            "expected_log": self.expected_log,
            "log": self.log,
            "newly_forced": None
            if self.newly_forced is None
            else [list(pair) for pair in self.newly_forced.items()],
            **{
                name: None if (value := getattr(self, name)) is None else float(value)
                for name in ("n_forced", "edges_left", "in_doubt")
            },
            "n_ties": len(self.ties),
            "ties": list(self.ties[:shown]) if self._short else [],
            "left_error": self.left_error,
            "log_error": self.log_error,
        }

    @property
    def _short(self) -> bool:
        """Whether numbers and ties are short enough to be written down at every step."""
        return self.expectation.start.log < attack_tuning().written_log

    def __str__(self) -> str:
        who = "depends on the truth" if self.target is None else f"expose {self.target!r}"
        was = "" if self.behaviour is None else f" (did {self.behaviour!r})"
        return (
            f"{self.number}. {who}{was}: 2^{self.log_expected_left / _LN2:.4g} matchings expected"
            + ("" if self.log is None else f", 2^{self.log / _LN2:.4g} left")
            + (f", {len(self.newly_forced)} more identified" if self.newly_forced else "")
        )


def _bits(log: float) -> str:
    """A natural log as bits; what rounding leaves of 0 is 0."""
    return f"{round(log / _LN2, 9) + 0.0:.4g}"


def _text(value: Fraction | float) -> str | float:
    return str(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attack(Summarised):
    """A campaign of exposures, and what each step leaves.

    Attributes
    ----------
    start : Count
        Matchings before the attack.
    strategy : str
        How targets are chosen.
    truth : {"given", "sampled", "unknown"}
        "unknown": figures are expectations over all matchings.
    steps : tuple of AttackStep
        Fewer than asked for if one matching was left before.
    finished : bool
        Whether one matching is left: everybody is identified (in expectation: always).
    exact : bool
        Whether the expected numbers of matchings are exact Fractions.
    samples : int or None
        How many truths were drawn, where expectations are averages over them.
    seed : int or None
        Of what was drawn; None if nothing was.

    Examples
    --------
    >>> import anonymatch as am
    >>> attack = am.attack(am.complete(4), steps=3, truth=[0, 1, 2, 3])
    >>> [(step.target, step.left, dict(step.newly_forced)) for step in attack.steps]
    [(0, 6, {}), (1, 2, {}), (2, 1, {3: 3})]
    >>> print(attack)
    optimal: 3 steps from 2^4.585 to 2^0 matchings, along the given truth, exact; all identified
    """

    start: Count
    strategy: str
    truth: str
    steps: tuple[AttackStep, ...]
    finished: bool
    exact: bool
    samples: int | None = None
    seed: int | None = None

    @property
    def targets(self) -> list[Hashable | None]:
        """The target of each step."""
        return [step.target for step in self.steps]

    @property
    def logs(self) -> list[float]:
        """Natural log of the matchings left, from the start: along the truth, else expected."""
        after = (step.expected_log if step.log is None else step.log for step in self.steps)
        return [self.start.log, *after]

    def chart(self, name: str = "bits") -> AnyChart:
        """A chart for notebooks and files.

        Parameters
        ----------
        name : {"bits", "doubt"}
            Bits of the whole system, or users in doubt, that are left after each exposure.
        """
        from anonymatch.reporting.charts import named_chart

        return named_chart(attack_charts(self), name, "this attack")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON if the names of users and behaviours are."""
        names = ("strategy", "truth", "exact", "finished", "samples", "seed")
        return {name: getattr(self, name) for name in names} | {
            "log_start": self.start.log,
            "logs": self.logs,
            "steps": [step.to_dict() for step in self.steps],
        }

    def _heads(self) -> Sequence[str]:
        return ("exposure", "target", "bits left", "in doubt")

    def _figures(self) -> Figures:
        yield ("0", "", _bits(self.start.log), "")
        for step, log in zip(self.steps[: attack_tuning().shown], self.logs[1:], strict=False):
            who = "depends on the truth" if step.target is None else label(step.target)
            doubt = "" if step.in_doubt is None else f"{float(step.in_doubt):.4g}"
            yield (str(step.number), who, _bits(log), doubt)
        if len(self.steps) > attack_tuning().shown:
            yield ("...", "", _bits(self.logs[-1]), "")

    def __str__(self) -> str:
        number = len(self.steps)
        how = {
            "given": "along the given truth",
            "sampled": f"along a truth drawn with seed {self.seed}",
            "unknown": "in expectation",
        }[self.truth]
        if self.samples is not None:
            trust = f"average over {self.samples} truths"
        else:
            trust = "exact" if self.exact else "in doubles"
        first, last = self.logs[0], self.logs[-1]
        return (
            f"{self.strategy}: {several(number, 'step')} from 2^{_bits(first)} "
            f"to 2^{_bits(last)} matchings, {how}, {trust}"
            + ("; all identified" if self.finished else "")
        )


def attack_charts(attack: Attack) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this attack has, by name.

    Examples
    --------
    >>> import anonymatch as am
    >>> list(attack_charts(am.attack(am.complete(4), steps=3)))
    ['bits', 'doubt']
    """
    charts: dict[str, Callable[[], AnyChart]] = {"bits": partial(_bits_chart, attack)}
    if all(step.in_doubt is not None for step in attack.steps) and attack.steps:
        charts["doubt"] = partial(_doubt_chart, attack)
    return charts


def _bits_chart(attack: Attack) -> AnyChart:
    """Bits left, with an error where they are averages over truths."""
    from anonymatch.reporting.charts import Line, line_chart

    bits = [log / _LN2 + 0.0 for log in attack.logs]
    errors = [0.0, *(step.log_error / _LN2 for step in attack.steps)]
    low = [max(value - 2 * error, 0.0) for value, error in zip(bits, errors, strict=True)]
    high = [value + 2 * error for value, error in zip(bits, errors, strict=True)]
    ends = (low, high) if any(errors) else (None, None)
    return line_chart(
        [Line("bits left", range(len(bits)), bits, *ends)],
        title=f"Exposures one after another, {attack.strategy}",
        x_label="exposed so far",
        y_label="bits left, whole system",
        zero=True,
    )


def _doubt_chart(attack: Attack) -> AnyChart:
    from anonymatch.reporting.charts import Line, line_chart

    numbers = [step.number for step in attack.steps]
    return line_chart(
        [Line("in doubt", numbers, [float(step.in_doubt or 0) for step in attack.steps])],
        title=f"Users still in doubt, {attack.strategy}",
        x_label="exposed so far",
        y_label="users in doubt",
        zero=True,
    )
