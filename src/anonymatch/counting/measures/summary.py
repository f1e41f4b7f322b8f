"""metrics(): every measure of a graph, each with its interval, in one frozen Metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import span
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.counting import Count, Posterior, count, known_posterior, posterior
from anonymatch.counting.integers import LN2
from anonymatch.counting.measures import system
from anonymatch.counting.measures.messages import MessageClasses, Parties, message_classes
from anonymatch.counting.measures.user_posteriors import user_figures
from anonymatch.counting.measures.users import UserFigures
from anonymatch.graph import Graph, require_matching
from anonymatch.running import Budget, Execution, Progress, StagedProgress, tells_misfits

if TYPE_CHECKING:
    import polars as pl


class Meaning(NamedTuple):
    """One line for people, and the source."""

    meaning: str
    reference: str


@cache
def meanings() -> Mapping[str, Meaning]:
    """From the name of a measure (``users.`` for columns of the table) to its meaning."""
    import tomllib
    from pathlib import Path

    known = tomllib.loads(Path(__file__).with_name("meanings.toml").read_text(encoding="utf-8"))
    references = known["references"]
    return MappingProxyType(
        {
            name: Meaning(row["meaning"], references[row["reference"]])
            for name, row in known["meanings"].items()
        }
    )


Answer = TypeVar("Answer", Count, Posterior)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Metrics(Summarised):
    """Measures of one graph.

    Attributes
    ----------
    count : Count
        Of the graph, with its weights.
    figures : mapping
        Every measure of the system by name, as a Figure: value, low, high.
    reasons : mapping
        Why a measure is None.
    user_figures : UserFigures
        Figures of each user as arrays; `users` is the same as a table.
    messages : MessageClasses or None
        If senders and receivers were given.
    confidence : float
        Probability that all intervals hold; 1.0 means proven.

    Examples
    --------
    >>> import anonymatch as am
    >>> m = am.metrics(am.ring(6, 3), threshold=3)
    >>> round(m.degree, 4), round(m.weighted_degree, 4), m.below
    (0.4553, 0.8621, 1.0)
    >>> m.meanings["degree"].reference[:5]
    'Edman'
    >>> m.users.columns[:3]
    ['user', 'guess', 'probability']
    """

    count: Count
    figures: Mapping[str, Interval]
    reasons: Mapping[str, str]
    user_figures: UserFigures = field(repr=False)
    messages: MessageClasses | None = None
    confidence: float = 1.0

    def __str__(self) -> str:
        named = ", ".join(
            f"{name} {figure.value:.4g}" for name, figure in list(self.figures.items())[:3]
        )
        return f"{named}, ...; {self.count}"

    def _figures(self) -> Figures:
        for name, figure in self.figures.items():
            known = meanings().get(name)
            yield (
                name,
                span(figure.value, figure.low, figure.high),
                known.meaning if known else "",
            )
        for name, reason in self.reasons.items():
            yield (name, "–", reason)

    @property
    def degree(self) -> float:
        """Share of full anonymity by counting: ln per(A) / ln n!; weights are ignored."""
        return self.figures["degree"].value

    @property
    def weighted_degree(self) -> float | None:
        """Share of full anonymity of doubly stochastic weights; None with a reason else."""
        return self._value("weighted_degree")

    @property
    def matching_entropy(self) -> float:
        """Entropy of the matching that happened, as a share of ln n!."""
        return self.figures["matching_entropy"].value

    @property
    def log_rescaled(self) -> float:
        """Permanent of p abs(ln p) with p = 1/degree; beyond doubles see `log_rescaled_log`."""
        return self.figures["log_rescaled"].value

    @property
    def log_rescaled_log(self) -> float:
        """Natural log of `log_rescaled`, which leaves doubles for many users; -inf for 0."""
        return self.figures["log_rescaled_log"].value

    @property
    def message_bits(self) -> float | None:
        """Entropy of who wrote to whom, in bits; None unless `messages` were given."""
        return self._value("message_bits")

    @property
    def message_share(self) -> float | None:
        """The same as a share of ln t! for t messages."""
        return self._value("message_share")

    @property
    def below(self) -> float | None:
        """Share of users whose effective set size is below the threshold; None without one."""
        return self._value("below")

    @cached_property
    def users(self) -> pl.DataFrame:
        """A table with a row a user; entropies in bits, each with a low and a high end."""
        return self.user_figures.frame()

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The interval that holds each figure, by its name."""
        return {name: (figure.low, figure.high) for name, figure in self.figures.items()}

    @property
    def meanings(self) -> Mapping[str, Meaning]:
        """What each measure says, in one line, and where it comes from."""
        return meanings()

    def _value(self, name: str) -> float | None:
        figure = self.figures.get(name)
        return None if figure is None else figure.value


@tells_misfits
def metrics(
    graph: Graph,
    *,
    messages: tuple[Parties, Parties] | None = None,
    threshold: float | None = None,
    method: str = "auto",
    budget: Budget | float | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Metrics:
    """Measure the anonymity that is left: of the whole system and of each user.

    Parameters
    ----------
    graph : Graph
        With a perfect matching; there may be more behaviours than users.
    messages : pair, optional
        If users and behaviours of the graph are messages: who sent each, and who received each, as
        mappings by name or as lists in the graph's order. Adds the entropy over who wrote to whom.
    threshold : float, optional
        An effective set size; adds the share of users below it.
    budget : float or Budget, optional
        For each of the counts that this takes. Where it does not reach, figures are intervals;
        entropies over messages are refused.
    method, seed, executor, progress : optional
        As in every call: see :mod:`anonymatch.counting`.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching; carries Hall's witness.
    BudgetError
        If `messages` would cost more than the budget.

    Examples
    --------
    >>> import anonymatch as am
    >>> m = am.metrics(am.Graph.from_rows(["110", "011", "111"]))
    >>> round(m.degree, 4), m.weighted_degree, m.reasons["weighted_degree"]
    (0.6131, None, 'rows and columns do not all have the same sum')
    >>> m.users.select("user", "degree", "shannon", "guess").rows()
    [(0, 2, 0.9183, 0), (1, 2, 0.9183, 2), (2, 3, 1.585, 0)]
    """
    if threshold is not None and not (isinstance(threshold, int | float) and threshold > 0):
        raise InputError(f"threshold must be an effective set size above 0, not {threshold!r}")
    if messages is not None and not (isinstance(messages, tuple | list) and len(messages) == 2):
        raise InputError("messages must be a pair: who sent each message, who received each")
    require_matching(graph)
    allowance = Budget.of(budget)
    work = _Work(graph, progress, method=method, budget=allowance, seed=seed, executor=executor)
    support = work.count(system.reweighted(graph, None) if graph.weighted else graph)
    weight = work.count(graph) if graph.weighted else support
    known = work.probabilities()
    users = user_figures(
        graph, known.probabilities, known.margins, entropy_errors=known.entropy_errors
    )
    complete = not np.isnan(known.probabilities).any()
    figures, reasons = _system(work, support, weight, known if complete else None)
    if threshold is not None:
        figures["below"] = users.below(threshold)
    classes = None
    if messages is not None:
        classes = message_classes(
            graph,
            *messages,
            entropy_of=work.entropy,
            budget=allowance,
            effort=Execution(progress=work.stages.stage()),
        )
        figures["message_bits"] = classes.entropy.divided(LN2)
        figures["message_share"] = system.share_of_full(
            classes.entropy, graph.n_users, graph.n_behaviours
        )
    return Metrics(
        count=weight,
        figures=MappingProxyType(figures),
        reasons=MappingProxyType(reasons),
        user_figures=users,
        messages=classes,
        confidence=work.confidence,
    )


class _Work:
    """Counts and probabilities that measures are made of, all with the caller's settings."""

    def __init__(self, graph: Graph, progress: Progress | None, **settings: Any) -> None:
        self.graph, self._settings = graph, settings
        self.stages = StagedProgress(progress, 0.0)
        self.confidence = 1.0

    def count(self, graph: Graph) -> Count:
        return self._sure(count(graph, **self._settings, progress=self.stages.stage()))

    def posterior(self, graph: Graph) -> Posterior:
        return self._sure(posterior(graph, **self._settings, progress=self.stages.stage()))

    def probabilities(self) -> Posterior:
        """Probabilities of all edges; NaN in blocks that no method reaches within the budget."""
        try:
            return self.posterior(self.graph)
        except BudgetError:
            settings = {k: v for k, v in self._settings.items() if k != "method"}
            known = known_posterior(self.graph, **settings, progress=self.stages.stage())
            return self._sure(known)

    def entropy(self, graph: Graph) -> Interval:
        """Entropy of the matchings of a part of the graph, in nats."""
        support = self.count(system.reweighted(graph, None) if graph.weighted else graph)
        if not graph.weighted:
            return system.matching_entropy(support, None, graph, support)
        try:
            probabilities: Posterior | None = self.posterior(graph)
        except BudgetError:
            probabilities = None
        return system.matching_entropy(self.count(graph), probabilities, graph, support)

    def _sure(self, answer: Answer) -> Answer:
        """An answer, after taking note of how sure it is."""
        self.confidence = min(self.confidence, answer.confidence)
        return answer


def _system(
    work: _Work, support: Count, weight: Count, probabilities: Posterior | None
) -> tuple[dict[str, Interval], dict[str, str]]:
    """Figures of the whole system, and why some are missing."""
    graph = work.graph
    sides = graph.n_users, graph.n_behaviours
    reasons: dict[str, str] = {}
    figures = {
        "degree": system.degree(support, *sides),
        "matching_entropy": system.share_of_full(
            system.matching_entropy(weight, probabilities, graph, support), *sides
        ),
    }
    log_sum = system.log_common_sum(graph)
    if log_sum is not None:
        figures["weighted_degree"] = system.weighted_degree(weight, graph.n_users, log_sum)
    elif sides[0] != sides[1]:
        reasons["weighted_degree"] = "there are more behaviours than users"
    else:
        reasons["weighted_degree"] = "rows and columns do not all have the same sum"
    if graph.weighted:
        changed = system.rescaled(graph)
        count = None if changed is None else work.count(changed)
        nothing = Interval(-math.inf, -math.inf, -math.inf)
        log = nothing if count is None else Interval(count.log, count.low, count.high)
    else:
        log = system.log_rescaled(graph, support)
    figures["log_rescaled_log"] = log
    figures["log_rescaled"] = Interval(_exp(log.value), _exp(log.low), _exp(log.high))
    return figures, reasons


def _exp(log: float) -> float:
    try:
        return math.exp(log)
    except OverflowError:
        return math.inf
