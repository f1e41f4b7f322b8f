"""attack(): exposures one after another, along a truth or in expectation over all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import Argument, Call, Message, did_you_mean, several
from anonymatch.counting import Count, count
from anonymatch.graph import Graph, require_matching
from anonymatch.running import Budget, Progress, tells_misfits
from anonymatch.theory.attacks.best_play import Tree
from anonymatch.theory.attacks.position import Position
from anonymatch.theory.attacks.residual import Residuals, Whole, log_of_share
from anonymatch.theory.attacks.result import Attack, AttackStep, Left, Ties
from anonymatch.theory.attacks.tuning import attack_tuning
from anonymatch.theory.attacks.walk import (
    STRATEGIES,
    Choice,
    Choose,
    Expected,
    Stride,
    Truth,
    best_among,
    drawn,
    fixed,
    given,
    over_all,
    over_samples,
    rank_of,
    walk,
)

__all__ = ["attack"]


@tells_misfits
def attack(
    graph: Graph,
    *,
    steps: int | None = None,
    strategy: str | Sequence[Hashable] = "optimal",
    among: Iterable[Hashable] | None = None,
    truth: Mapping[Any, Any] | Sequence[int] | npt.NDArray[np.integer] | str | None = None,
    exact: bool | None = None,
    samples: int | None = None,
    seed: int | None = None,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Attack:
    """What falls when users are exposed one after another, and whom an attacker would choose.

    The attacker knows the graph, picks a user, learns what this user did, and thinks again. Blocks
    that are not touched keep their matchings, so that each step looks at one block only.

    Parameters
    ----------
    graph : Graph
    steps : int, optional
        Users to expose; default 1, or all of a given order. The campaign ends before if one
        matching is left.
    strategy : str or sequence of users
        "optimal": the user whose exposure leaves the fewest matchings on average, step by step
        (the largest Rényi-2 entropy); ties go to the first user.
        "lookahead": best play over all the steps, for small graphs; see also :func:`adaptive`.
        "entropy": the user whose exposure leaves the smallest log on average (the largest Shannon
        entropy). "degree": the user with the most edges left, who may be identified already.
        "random": any user who is not identified. Or the users to expose, in order.
    among : iterable of users, optional
        Who may be exposed, for "optimal" and "entropy": the best of them at each step. The campaign
        ends when they are all identified. Default: everybody.
    truth : dict, sequence of int, "sampled" or None
        What is revealed: the behaviour of every user by name; its index, as :func:`sample`
        returns it; drawn from the probabilities as it is revealed; or None for expectations.
    exact : bool, optional
        True: exact numbers or a refusal, rational ones for weighted graphs. Default: exact for
        graphs without weights where the budget allows, else doubles. False: doubles, which are
        quicker for large blocks.
    samples : int, optional
        Expectations of several steps follow all outcomes if they are few, else they are averages
        over 100 truths with standard errors; a number asks for that many truths.
    seed : int, optional
        Of everything that is drawn; default 0.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory;
        it is for the whole campaign.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the steps (or sampled truths) done, and how many there will be at most.

    Returns
    -------
    Attack

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching; carries Hall's witness.
    BudgetError
        If a step is predicted to cost more than is left of the budget.

    Notes
    -----
    With M matchings and probabilities p of user x, M exp(-H2(p)) are left on average once x is
    exposed, and the log falls by the Shannon entropy H(p) on average.

    Examples
    --------
    >>> import anonymatch as am
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "z")]
    >>> step = am.attack(am.Graph.from_edges(pairs)).steps[0]
    >>> step.target, step.expected_left, list(step.ties)
    ('ann', Fraction(1, 1), ['ann', 'bob'])
    >>> truth = {"ann": "y", "bob": "x", "cem": "z"}
    >>> am.attack(am.Graph.from_edges(pairs), truth=truth).steps[0].newly_forced
    {'bob': 'x'}
    """
    plan = _Plan.of(graph, steps, strategy, among, truth, samples, seed)
    shapes = Residuals(exact=exact, budget=budget, executor=executor)
    require_matching(graph)
    blocks = shapes.whole(graph)
    shapes.solve_whole(blocks, runs=plan.runs(blocks))
    tree = Tree(shapes, shapes.budget)
    if plan.name == "lookahead":
        tree.allow(blocks.open_shapes())
    campaign = _Campaign(
        graph=graph,
        plan=plan,
        origin=Position(blocks, None if plan.among else rank_of(plan.name)),
        tree=tree,
        start=count(graph, exact=exact, budget=budget, executor=executor),
        progress=progress,
    )
    return campaign.in_expectation() if truth is None else campaign.along(plan.truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What was asked for, checked."""

    steps: int
    name: str
    choose: Choose
    among: bool  # whether only some users may be exposed
    truth: Truth
    kind: str  # of truth
    samples: int | None
    seed: int
    draws: np.random.Generator

    def runs(self, blocks: Whole) -> int:
        """Blocks that may have to be solved one after another."""
        if self.kind != "unknown" or self.steps == 1:
            return self.steps + (self.kind != "unknown")
        if self.samples is not None:
            return self.samples * self.steps
        most = max((shape.most_outcomes for shape in blocks.shapes), default=1)
        number, outcomes = 1, 1
        for _ in range(self.steps - 1):
            number = min(number * most, attack_tuning().branches)
            outcomes = min(outcomes + number, attack_tuning().branches)
        return outcomes

    @classmethod
    def of(
        cls,
        graph: Graph,
        steps: int | None,
        strategy: str | Sequence[Hashable],
        among: Iterable[Hashable] | None,
        truth: object,
        samples: int | None,
        seed: int | None,
    ) -> _Plan:
        seed = None if seed is None else whole(seed, "seed")
        if samples is not None and truth is not None:
            raise InputError(
                Argument("samples"),
                " is for expectations; leave out ",
                Argument("truth"),
                " or ",
                Argument("samples"),
            )
        samples = None if samples is None else whole(samples, "samples", least=2)
        name, choose, most = _strategy(graph, strategy)
        if among is not None:
            choose, most = _among(graph, name, among)
        default = most if name == "fixed" else 1
        number = default if steps is None else whole(steps, "steps", least=1)
        wanted = several(number, "step")
        if number > graph.n_users:
            raise InputError(f"{wanted}, but the graph has only {several(graph.n_users, 'user')}")
        if number > most:
            named = f"{several(most, 'user')} {'is' if most == 1 else 'are'} named"
            raise InputError(f"{wanted}, but only {named}; name more")
        draws = np.random.default_rng(seed or 0)
        sampled = isinstance(truth, str) and truth == "sampled"
        return cls(
            steps=number,
            name=name,
            choose=choose,
            among=among is not None,
            truth=drawn(draws) if sampled or truth is None else given(graph, truth),
            kind="unknown" if truth is None else "sampled" if sampled else "given",
            samples=samples,
            seed=seed or 0,
            draws=draws,
        )


def _strategy(graph: Graph, strategy: str | Sequence[Hashable]) -> tuple[str, Choose, int]:
    """Name of the strategy, how it chooses, and how many steps it is good for."""
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise InputError(
                Argument("strategy"),
                f" must be one of {', '.join(STRATEGIES)}",
                Call(", or a list of users", ""),
                f"; not {strategy!r}{did_you_mean(strategy, STRATEGIES)}",
            )
        return strategy, STRATEGIES[strategy], graph.n_users
    try:
        order = [graph.user_index(user) for user in strategy]
    except TypeError:
        raise InputError(f"strategy must be a name or a list of users, not {strategy!r}") from None
    if not order:
        raise InputError("strategy names no user; give at least one")
    if len(set(order)) < len(order):
        twice = next(user for k, user in enumerate(strategy) if order[k] in order[:k])
        raise InputError(f"user {twice!r} is named twice; a user is exposed once")
    return "fixed", fixed(order), len(order)


def _among(graph: Graph, name: str, users: Iterable[Hashable]) -> tuple[Choose, int]:
    """How the best of some users are chosen, and how many they are."""
    if name not in ("optimal", "entropy"):
        raise InputError(
            Argument("among"), " is for the strategies optimal and entropy; leave it out"
        )
    marked = np.zeros(graph.n_users, dtype=np.bool_)
    marked[[graph.user_index(user) for user in users]] = True
    if not marked.any():
        raise InputError(Argument("among"), " names no user; give at least one")
    return best_among(marked, name), int(marked.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Campaign:
    """One call under way."""

    graph: Graph
    plan: _Plan
    origin: Position
    tree: Tree
    start: Count
    progress: Progress | None

    def along(self, truth: Truth) -> Attack:
        """What happens if a truth is revealed user by user."""
        plan, position, shapes = self.plan, self.origin, self.origin.whole.owner
        seconds = self._cost(plan.steps)
        if seconds > shapes.budget.seconds:
            raise shapes.refusal(f"following {several(plan.steps, 'exposure')}", seconds)
        ratios: list[Fraction | float] = []
        steps: list[AttackStep] = []
        for stride in walk(position, plan.choose, plan.steps, self.tree, truth, plan.draws):
            steps.append(self._followed(stride, ratios))
            ratios.append(stride.probability)
            self._tell(len(steps), plan.steps)
        drawn = plan.kind == "sampled" or plan.name == "random"
        return self._attack(steps, position.in_doubt == 0, plan.seed if drawn else None)

    def in_expectation(self) -> Attack:
        """The average over all truths."""
        plan, expected, shapes = self.plan, None, self.origin.whole.owner
        samples, left = plan.samples or attack_tuning().samples, shapes.budget.seconds
        if plan.samples is None:
            if self._cost(plan.steps - 1) > left:
                raise self._too_many(samples, left)
            expected = over_all(
                self.origin,
                plan.choose,
                plan.steps,
                self.tree,
                by_behaviour=plan.name == "degree",
                most=self._most_branches(),
            )
        drawn = expected is None
        if expected is None:
            if samples * self._cost(plan.steps) > shapes.budget.seconds:
                raise self._too_many(samples, left)
            expected = over_samples(
                self.origin,
                plan.choose,
                plan.steps,
                self.tree,
                samples=samples,
                seed=plan.seed,
                progress=lambda done: self._tell(done, samples),
            )
        steps = [self._expected(k, step) for k, step in enumerate(expected)]
        finished = not expected or expected[-1].in_doubt == 0
        return self._attack(steps, finished, *((plan.seed, samples) if drawn else (None, None)))

    def _cost(self, exposures: int) -> float:
        """Predicted seconds of so many exposures along one truth."""
        return self.origin.whole.owner.cost(exposures, self.origin.whole.table.n_blocks)

    def _too_many(self, samples: int, left: float) -> BudgetError:
        """The refusal of truths to average over, with how many are affordable, if any are.

        Unless they were asked for, up to as much is spent before on following all outcomes.
        """
        plan, each = self.plan, self._cost(self.plan.steps)
        seconds = samples * each
        if plan.samples is None:
            seconds += seconds + self._cost(1)
        affordable = int(left / each * (1 - attack_tuning().rounding))
        fewer = Message("take fewer truths with ", Argument("samples", affordable))
        what = f"{several(plan.steps, 'step')} along each of {several(samples, 'sampled truth')}"
        return self.origin.whole.owner.refusal(what, seconds, fewer if affordable > 1 else "")

    def _most_branches(self) -> int:
        """Outcomes that may be followed: half of the budget, if each costs as the dearest."""
        shapes = self.origin.whole.owner
        dearest = shapes.price.dearest if shapes.price is not None else 0.0
        most = attack_tuning().branches
        return int(min(most, shapes.budget.seconds / 2 / dearest)) if dearest else most

    def _followed(self, stride: Stride, ratios: list[Fraction | float]) -> AttackStep:
        users, behaviours = self.graph.users, self.graph.behaviours
        used, start = len(ratios), self.start
        after = start.log + stride.log_after
        if not stride.in_doubt and not self.graph.weighted:
            after = 0.0
        expected = start.log + stride.log_before + log_of_share(stride.share)
        return AttackStep(
            number=used + 1,
            target=users[stride.target],
            targets={users[stride.target]: Fraction(1)},
            behaviour=behaviours[stride.behaviour],
            log_expected_left=expected,
            expected_log=start.log + stride.log_before - stride.entropy,
            log=after,
            newly_forced={users[u]: behaviours[b] for u, b in sorted(stride.forced)},
            n_forced=len(stride.forced),
            edges_left=stride.n_edges,
            in_doubt=stride.in_doubt,
            ties=self._ties(stride.choice),
            expectation=Left(start, ratios, used, stride.share, expected),
            outcome=Left(start, ratios, used + 1, Fraction(1), after),
        )

    def _expected(self, k: int, step: Expected) -> AttackStep:
        users, start = self.graph.users, self.start
        log = start.log + step.log_share
        only = next(iter(step.targets)) if len(step.targets) == 1 else None
        exact = step.share is not None and self._exact
        return AttackStep(
            number=k + 1,
            target=None if only is None else users[only],
            targets={users[user]: share for user, share in sorted(step.targets.items())},
            behaviour=None,
            log_expected_left=log,
            expected_log=start.log + step.log,
            log=None,
            newly_forced=None,
            n_forced=step.forced,
            edges_left=step.n_edges,
            in_doubt=step.in_doubt,
            ties=Ties(0, tuple) if step.choice is None else self._ties(step.choice),
            left_error=step.left_error,
            log_error=step.log_error,
            expectation=Left(start, (), 0, step.share if exact and step.share else 1.0, log),
        )

    def _ties(self, choice: Choice) -> Ties:
        if self.plan.name == "random":
            return Ties(0, tuple)
        users = self.graph.users
        return Ties(choice.n_ties, lambda: [users[user] for user in choice.ties()])

    @property
    def _exact(self) -> bool:
        return self.start.exact and bool(self.origin.whole.owner.exactly)

    def _attack(
        self, steps: list[AttackStep], finished: bool, seed: int | None, samples: int | None = None
    ) -> Attack:
        return Attack(
            start=self.start,
            strategy=self.plan.name,
            truth=self.plan.kind,
            steps=tuple(steps),
            finished=finished,
            exact=samples is None and self._exact,
            samples=samples,
            seed=seed,
        )

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)
