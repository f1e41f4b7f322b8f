"""Attack: expose users one after another, by choice or as the best attacker would."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from nicegui import ui

from anonymatch.audits import Audit, Campaign, campaign_on
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount, plural
from anonymatch.base.text import label
from anonymatch.counting import sample
from anonymatch.graph import Graph, crown, forced, partition, read, ring
from anonymatch.mixes import Nouns
from anonymatch.reporting import LARGEST, bipartite, exposure, named
from anonymatch.reporting.charts import AnyChart, Line, line_chart
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import choice, texts, whole
from anonymatch.studio.frame import frame
from anonymatch.studio.options import AddressOptions
from anonymatch.studio.pages.judging import marked_users
from anonymatch.studio.panel import View, bits_text
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING
from anonymatch.theory.attacks import Attack, Exposures, attack, exposures
from anonymatch.theory.designs import design

_NOUNS = Nouns("user", "users", "", "messages")
_OWN = "own"  # the file of the address, in place of a graph by name


EXAMPLE = Path(__file__).parents[2] / "examples" / "mix.csv"
_PEOPLE = (
    "Alice", "Bob", "Charlie", "David", "Eve", "Frank", "Grace", "Heidi", "Ivan", "Judy",
    "Ken", "Leo",
)  # fmt: skip


class _Start(NamedTuple):
    """A graph to attack."""

    name: str
    make: Callable[[], Graph]
    python: str


GRAPHS: Mapping[str, _Start] = {
    "groups": _Start(
        "Three groups of four", lambda: partition([4, 4, 4]), "am.partition([4, 4, 4])"
    ),
    "ring": _Start("A ring of twelve", lambda: ring(12, 4), "am.ring(12, 4)"),
    "best": _Start(
        "The best design for 8 users and 24 edges",
        lambda: design(8, 24).graph(),
        "am.design(users=8, edges=24).graph()",
    ),
    "crown": _Start("Everybody but one, six users", lambda: crown(6), "am.crown(6)"),
    "mix": _Start("The example: a mix in one round", lambda: read(EXAMPLE), "am.read('mix.csv')"),
}
"""Graphs by the names that addresses use."""


@lru_cache(maxsize=16)
def start_of(key: str) -> Graph:
    """Return the graph of that name, with names of people."""
    graph = GRAPHS[key].make()
    return graph if key == "mix" else named(graph, _PEOPLE)


def attackable(audit: Audit) -> bool:
    """Whether an audited system can be attacked here: a graph that is small enough to look at."""
    graph = audit.observation.graph
    return (
        graph is not None
        and 0 < graph.n_users <= TUNING.followed_users
        and not audit.observation.lost
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """Where a campaign stands.

    ``before`` and ``left`` are the graphs around the last exposure of ``targets``. ``own`` and
    ``best`` are the attacker's choices and the best ones for the same number of steps. ``next`` has
    the effect of each further exposure; None if everybody is identified. Users who ``fell`` were
    identified by the exposures of others.
    """

    graph: Graph
    targets: Sequence[Hashable]
    before: Graph
    left: Graph
    truth: Mapping[Hashable, Hashable]
    own: Attack | None
    best: Attack | None
    next: Exposures | None
    fell: Mapping[Hashable, Hashable]
    identified: Mapping[Hashable, Hashable]

    @property
    def log(self) -> float:
        if self.own is not None:
            return self.own.logs[-1]
        return self.next.start.log if self.next is not None else 0.0

    def named(self, text: str) -> Hashable | None:
        """The user who is shown by that name and can still be exposed."""
        for user in self.left.users:
            if str(user) == text or label(user) == text:
                return user
        return None


def play(graph: Graph, names: Sequence[str], seed: int = 0) -> Round:
    """The campaign after these targets, by name, along the truth that ``seed`` draws.

    Names that are nobody's are left out.

    Examples
    --------
    >>> state = play(ring(4, 2), ["0"])
    >>> state.own.logs[-1], state.next, sorted(state.identified)
    (0.0, None, [1, 2, 3])
    >>> play(partition([2, 2]), ["0", "zoe"]).own.steps[0].left
    2
    """
    (drawn,) = sample(graph, 1, seed=seed, budget=TUNING.exposure_seconds).tolist()
    truth = {user: graph.behaviours[j] for user, j in zip(graph.users, drawn, strict=True)}
    known_names = {str(user): user for user in graph.users}
    targets = [known_names[name] for name in dict.fromkeys(names) if name in known_names]
    before = left = graph
    for target in targets:
        before, left = left, left.expose(target, truth[target])
    own = best = None
    fell: dict[Hashable, Hashable] = {}
    if targets:
        own = attack(graph, strategy=list(targets), truth=truth, budget=TUNING.exposure_seconds)
        best = attack(graph, steps=len(targets), truth=truth, budget=TUNING.exposure_seconds)
        for step in own.steps:
            fell |= step.newly_forced or {}
    remaining = exposures(left, budget=TUNING.exposure_seconds) if left.n_users else None
    if remaining is not None and remaining.start.log <= 1e-12:
        remaining = None
    return Round(
        graph=graph,
        targets=targets,
        before=before,
        left=left,
        truth=truth,
        own=own,
        best=best,
        next=remaining,
        fell={user: did for user, did in fell.items() if user not in targets},
        identified=dict(forced(left)),
    )


def bits(log: float) -> float:
    """Return a natural logarithm in bits."""
    return log / math.log(2)


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the graph, the truth and the targets so far are in the address."""
    with frame(
        "/attack",
        "Who falls when somebody is exposed?",
        "The attacker picks a user and learns which message was theirs. That rules out stories of "
        "others too. Pick your own targets and see how close you come to the best attacker.",
    ):
        page = _AttackPage(studio, query)
        page.controls()
        await page.play()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Played:
    """Where a campaign stands; ``marked`` are users that were chosen."""

    state: Round
    nouns: Nouns
    marked: list[Hashable]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Followed:
    """A campaign against marked users of a system that is too large to be drawn step by step."""

    audit: Audit
    marked: list[Hashable]
    campaign: Campaign


class _AttackPage:
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        self.studio = studio
        client = ui.context.client
        self.options = AddressOptions.of(query, studio.store, client.id)
        client.on_delete(lambda: studio.store.leave(client.id))
        self.own = self.options.inquiry()
        self.names = {key: start.name for key, start in GRAPHS.items()}
        if self.own is not None:
            self.names = {_OWN: f"The file {self.own.name}"} | self.names
        self.graph = choice(query, "graph", list(self.names))
        self.seed = whole(query, "truth", 0, least=0, most=TUNING.seeds)
        self.targets = list(dict.fromkeys(texts(query, "targets")))
        self.marked: list[Hashable] = []

    def controls(self) -> None:
        with w.box("div", "controls"):
            w.select("System", self.names, self.graph, self._set_graph)
            w.number_slider(
                "Which truth",
                self.seed,
                self._set_truth,
                least=0,
                most=TUNING.seeds,
                hint="What really happened is drawn by chance; another number, another truth.",
            )
        self.view = View("Following the attack")

    async def _set_graph(self, given: Any) -> None:
        self.graph = choice({"graph": str(given)}, "graph", list(self.names))
        await self._restart()

    async def _set_truth(self, given: Any) -> None:
        self.seed = whole({"truth": str(given)}, "truth", self.seed, least=0, most=TUNING.seeds)
        await self._restart()

    async def _restart(self) -> None:
        self.targets = []
        await self.play()

    async def _back(self) -> None:
        self.targets = self.targets[:-1]
        await self.play()

    async def play(self) -> None:
        targets, seed = list(self.targets), self.seed
        here = self.options.route(
            "/attack",
            marked=self.options.shown()["marked"],
            graph="" if self.graph == _OWN else self.graph,
            truth=seed or "",
            targets=targets,
        )
        ui.navigate.history.replace(here)
        await self.view.ask(lambda progress: self._work(progress, targets, seed), self._show)

    def _work(self, progress: Progress, targets: list[str], seed: int) -> _Played | _Followed:
        if self.graph != _OWN or self.own is None:
            return _Played(state=play(start_of(self.graph), targets, seed), nouns=_NOUNS, marked=[])
        own = self.own
        audit = self.studio.audits.once(own, lambda: own.audit(progress))
        stretch = self.options.marked
        marked = [] if stretch is None else marked_users(audit, stretch)
        graph = audit.observation.graph
        if graph is not None and attackable(audit):
            state, nouns = play(graph, targets, seed), audit.observation.nouns
            return _Played(state=state, nouns=nouns, marked=marked)
        if not marked:
            raise InputError(
                f"this file is too large to be attacked step by step; mark "
                f"{audit.observation.nouns.users} on the page of its audit, or use 'anonymatch "
                "attack' for it"
            )
        campaign = campaign_on(audit, marked, steps=TUNING.marked_steps)
        if not campaign.steps:
            raise InputError(
                f"an attack on those that are marked is not followed: {campaign.reason}"
            )
        return _Followed(audit=audit, marked=marked, campaign=campaign)

    def _show(self, played: _Played | _Followed) -> None:
        if isinstance(played, _Followed):
            self._followed(played)
            return
        self.state = state = played.state
        self.marked = played.marked
        if self.graph == _OWN and self.options.marked is not None:
            self._of_marked(len(played.marked), "and the others are not targets", everybody=True)
        self._choices(state)
        w.tiles(_scores(state, played.nouns))
        self._picture(state, played.nouns)
        self._prospects(played)
        self._history(played)
        w.same_result(*self._lines(state))

    def _of_marked(self, number: int, more: str, *, everybody: bool) -> None:
        assert self.options.marked is not None
        low, high = self.options.marked
        with w.box("div", "row"):
            w.text(
                f"{plural(number, 'target')} marked by {low:.3g} to {high:.3g} bits, {more}.",
                "span",
            )
            w.link(
                "Back to the audit",
                self.options.route("/audit", **self.options.shown()),
                "button",
            )
            if everybody:
                w.link(
                    "Attack everybody instead",
                    self.options.route("/attack"),
                    "button",
                )

    def _followed(self, played: _Followed) -> None:
        """All steps at once: the system is too large to be drawn."""
        campaign, words = played.campaign, played.audit.observation.nouns
        self._of_marked(len(played.marked), "the best of them at each step", everybody=False)
        total = played.audit.bits.value * played.audit.n_users
        last = campaign.steps[-1]
        w.tiles(
            [
                ("Exposed", plural(len(campaign.steps), words.user, words.users), "one by one"),
                (
                    "Bits left",
                    amount(last.bits_left),
                    f"of {amount(total)} of the whole system: log2 of the stories",
                ),
                (
                    "Still in doubt",
                    "not known" if last.in_doubt is None else f"{last.in_doubt:,}",
                    f"{words.users} that may be several things",
                ),
            ]
        )
        truth = "as the log tells it" if campaign.truth == "given" else "drawn by chance"
        w.chart(
            partial(_campaign_curve, total, campaign),
            "attack-on-marked",
            f"Each step exposes the best marked target at that moment; the truth is {truth}.",
        )
        w.table(
            ["step", "exposed", "bits left", "in doubt"],
            [
                [
                    step.number,
                    str(step.target),
                    round(step.bits_left, 3),
                    "–" if step.in_doubt is None else step.in_doubt,
                ]
                for step in campaign.steps
            ],
            "attack-on-marked",
            title="The attack step by step",
        )

    def _choices(self, state: Round) -> None:
        with w.box("div", "row ends"):
            left = _left_targets(state, self.marked)
            if state.next is None:
                w.text("Everybody is identified.", "strong")
            elif not left:
                w.text("All that were marked are exposed or identified.", "strong")
            else:
                best = left[0][0]
                w.button(
                    f"Expose the best target: {label(best)}", lambda: self._expose(best), "main"
                )
                names = {"": "your own choice …"} | {
                    str(user): label(user)
                    for user, _ in sorted(left, key=lambda pair: str(pair[0]))
                }
                w.select("Or expose", names, "", self._pick)
            if self.targets:
                w.button("One step back", self._back)
                w.button("Begin again", self._restart)

    async def _expose(self, user: Hashable) -> None:
        self.targets = [*self.targets, str(user)]
        await self.play()

    async def _pick(self, given: Any) -> None:
        user = self.state.named(str(given))
        if self.marked and user not in self.marked:
            return
        if user is not None and self.state.next is not None:
            await self._expose(user)

    def _picture(self, state: Round, nouns: Nouns) -> None:
        if max(state.before.n_users, state.before.n_behaviours) > LARGEST:
            return
        if not self.targets:
            drawn = bipartite(
                state.graph, title="Before the attack", headings=(nouns.users, nouns.behaviours)
            )
            caption = f"Click on {w.article(nouns.user)} {nouns.user} to expose them."
        else:
            last = state.targets[-1]
            did = state.truth[last]
            drawn = exposure(state.before, last, did)
            caption = (
                f"{label(last)} turns out to be behind {label(did)}. Dashed lines are ruled out. "
                f"Click on {w.article(nouns.user)} {nouns.user} to go on."
            )
        w.figure(drawn, f"attack-{self.graph}-{len(self.targets)}", caption, on_pick=self._pick)

    def _prospects(self, played: _Played) -> None:
        rows = _left_targets(played.state, played.marked)[: TUNING.prospects]
        if not rows:
            return
        w.heading("Whom to expose next")
        title = "Stories left on average, by whom is exposed"
        w.chart(
            partial(w.bar_chart, rows, title=title, x_label="stories left on average"),
            f"prospects-{self.graph}-{len(played.state.targets)}",
            "Stories left on average, by whom is exposed; fewer is better for the attacker. Click "
            f"on a bar to expose that {played.nouns.user}.",
            on_pick=self._pick,
        )

    def _history(self, played: _Played) -> None:
        state = played.state
        if state.own is None or state.best is None:
            return
        w.heading("Your attack against the best one")
        w.chart(
            partial(_history_chart, {"you": state.own, "best attacker": state.best}),
            f"campaign-{self.graph}",
            "Lower is better for the attacker. “Best” looks one step ahead and does not know the "
            "truth, so luck can beat it.",
        )
        w.table(
            ["step", "exposed", "was behind", "stories left", "newly identified"],
            [
                [
                    step.number,
                    step.target,
                    step.behaviour,
                    bits_text(None if step.log is None else bits(step.log)),
                    ", ".join(label(user) for user in step.newly_forced or ()) or "nobody",
                ]
                for step in state.own.steps
            ],
            f"campaign-{self.graph}",
            title="Your attack step by step",
        )

    def _lines(self, state: Round) -> tuple[str, str]:
        own = self.graph == _OWN and self.own is not None
        made = f"am.read({self.own.name!r})" if own and self.own else GRAPHS[self.graph].python
        file = self.own.name if own and self.own else "graph.csv"
        order = "".join(f" --target {quote(name)}" for name in self.targets)
        how = "steps=1"
        if state.targets:
            rows = list(state.graph.users)
            named = own or self.graph == "mix"
            given = [user if named else rows.index(user) for user in state.targets]
            how = f"strategy={given!r}"
        python = ["import anonymatch as am", f"graph = {made}"]
        python += [] if own else ["am.write(graph, 'graph.csv')"]
        python += [
            f"truth = am.sample(graph, 1, seed={self.seed})[0]",
            f"attack = am.attack(graph, {how}, truth=truth)",
        ]
        return f"anonymatch attack {quote(file)}{order}", "\n".join(python)


def _left_targets(state: Round, marked: list[Hashable]) -> list[tuple[Hashable, float]]:
    """Who may be exposed next, with what that leaves on average; the best first."""
    if state.next is None:
        return []
    allowed = set(marked) or set(state.next.graph.users)
    pairs = zip(state.next.graph.users, state.next.expected_left, strict=True)
    rows = [(user, float(left)) for user, left in pairs if user in allowed]
    return sorted(rows, key=lambda pair: pair[1])


def _history_chart(attacks: Mapping[str, Attack]) -> AnyChart:
    return line_chart(
        [
            Line(title, range(len(one.logs)), [bits(log) + 0.0 for log in one.logs])
            for title, one in attacks.items()
        ],
        title="Bits left after each step",
        x_label="users exposed",
        y_label="bits left (log2 of the stories)",
        zero=True,
    )


def _campaign_curve(total: float, campaign: Campaign) -> AnyChart:
    lost = [0.0, *(max(0.0, total - step.bits_left) for step in campaign.steps)]
    return line_chart(
        [Line("lost", range(len(lost)), lost)],
        title="Bits that exposures take",
        x_label="exposed so far",
        y_label="bits lost, whole system",
        zero=True,
    )


def _scores(state: Round, nouns: Nouns) -> list[tuple[str, str, str]]:
    n_users, targets = state.graph.n_users, state.targets
    doubt = n_users - len(targets) - len(state.identified)
    return [
        ("Stories left", bits_text(bits(state.log)), "ways to explain what was seen"),
        (
            "Exposed",
            plural(len(targets), nouns.user, nouns.users),
            "asked by the attacker, one by one",
        ),
        (
            "Fell with them",
            plural(len(state.fell), nouns.user, nouns.users),
            "identified by the exposure of others: "
            + (", ".join(label(user) for user in list(state.fell)[:4]) or "nobody")
            + (", …" if len(state.fell) > 4 else ""),
        ),
        (
            "Still in doubt",
            plural(max(doubt, 0), nouns.user, nouns.users),
            f"at least two {nouns.behaviours} may be theirs",
        ),
    ]
