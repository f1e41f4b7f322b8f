"""Attack: expose users one after another, by choice or as the best attacker would."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from shlex import quote
from typing import Any

from nicegui import ui

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.base.text import label
from anonymatch.graph import Graph
from anonymatch.report import (
    LARGEST,
    Series,
    bar_chart,
    bipartite,
    exposure,
    line_chart,
)
from anonymatch.running import Progress
from anonymatch.studio.address import address, choice, texts, whole
from anonymatch.studio.address_options import AddressOptions
from anonymatch.studio.campaigns import GRAPHS, Round, attackable, bits, play, start_of
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View, bits_text
from anonymatch.studio.session import Studio
from anonymatch.studio.widgets import (
    box,
    button,
    figure,
    heading,
    number_slider,
    same_result,
    select,
    table,
    text,
    tiles,
)

__all__ = ["show"]

_SEEDS = 99
_OWN = "own"  # the file of the address, in place of a graph by name


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


class _AttackPage:
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        self.studio = studio
        client = ui.context.client
        self.options = AddressOptions.of(query, studio.store, client.id)
        client.on_delete(lambda: studio.store.leave(client.id))
        self.own = self.options.inquiry()
        known = [_OWN, *GRAPHS] if self.own is not None else list(GRAPHS)
        self.graph = choice(query, "graph", known)
        self.seed = whole(query, "truth", 0, least=0, most=_SEEDS)
        self.targets = list(dict.fromkeys(texts(query, "targets")))

    def controls(self) -> None:
        with box("div", "controls"):
            names = {key: start.name for key, start in GRAPHS.items()}
            if self.own is not None:
                names = {_OWN: f"The file {self.own.name}"} | names
            select("System", names, self.graph, self._set_graph)
            number_slider(
                "Which truth",
                self.seed,
                self._set_truth,
                least=0,
                most=_SEEDS,
                hint="What really happened is drawn by chance; another number, another truth.",
            )
        self.view = View("Following the attack")

    async def _set_graph(self, given: Any) -> None:
        known = [_OWN, *GRAPHS] if self.own is not None else list(GRAPHS)
        self.graph = choice({"graph": str(given)}, "graph", known)
        await self._restart()

    async def _set_truth(self, given: Any) -> None:
        self.seed = whole({"truth": str(given)}, "truth", self.seed, least=0, most=_SEEDS)
        await self._restart()

    async def _restart(self) -> None:
        self.targets = []
        await self.play()

    async def _back(self) -> None:
        self.targets = self.targets[:-1]
        await self.play()

    async def play(self) -> None:
        targets, seed = list(self.targets), self.seed
        ui.navigate.history.replace(
            address(
                "/attack",
                **self.options.values(),
                graph="" if self.graph == _OWN else self.graph,
                truth=seed or "",
                targets=targets,
            )
        )
        await self.view.ask(
            lambda progress: play(self._start(progress), targets, seed), self._played
        )

    def _start(self, progress: Progress) -> Graph:
        if self.graph != _OWN or self.own is None:
            return start_of(self.graph)
        audit = self.studio.audits.find(self.own, progress)
        graph = audit.observation.graph
        if graph is None or not attackable(audit):
            raise InputError(
                "this file cannot be attacked step by step; use 'anonymatch attack' for it"
            )
        return graph

    def _played(self, state: Round) -> None:
        self.state = state
        self._choices(state)
        tiles(_scores(state))
        self._picture(state)
        self._prospects(state)
        self._history(state)
        same_result(*self._lines(state))

    def _choices(self, state: Round) -> None:
        with box("div", "row ends"):
            if state.next is None:
                text("Everybody is identified.", "strong")
            else:
                best = state.next.best[0]
                button(f"Expose the best target: {label(best)}", lambda: self._expose(best), "main")
                names = {"": "your own choice …"} | {
                    str(user): label(user) for user in state.left.users
                }
                select("Or expose", names, "", self._pick)
            if self.targets:
                button("One step back", self._back)
                button("Begin again", self._restart)

    async def _expose(self, user: Hashable) -> None:
        self.targets = [*self.targets, str(user)]
        await self.play()

    async def _pick(self, given: Any) -> None:
        user = self.state.named(str(given))
        if user is not None and self.state.next is not None:
            await self._expose(user)

    def _picture(self, state: Round) -> None:
        if max(state.before.n_users, state.before.n_behaviours) > LARGEST:
            return
        if not self.targets:
            drawn = bipartite(
                state.graph, title="Before the attack", headings=("users", "messages")
            )
            caption = "Click on a user to expose them."
        else:
            last = state.targets[-1]
            did = state.truth[last]
            drawn = exposure(state.before, last, did)
            caption = (
                f"{label(last)} turns out to be behind {label(did)}. Dashed lines are ruled out. "
                "Click on a user to go on."
            )
        figure(drawn, f"attack-{self.graph}-{len(self.targets)}", caption, on_pick=self._pick)

    def _prospects(self, state: Round) -> None:
        if state.next is None:
            return
        heading("Whom to expose next")
        rows = sorted(
            zip(state.next.graph.users, state.next.expected_left, strict=True),
            key=lambda pair: float(pair[1]),
        )
        chart = bar_chart(
            [(user, float(left)) for user, left in rows],
            title="Stories left on average, by whom is exposed",
            x_label="stories left on average; fewer is better for the attacker",
        )
        figure(chart, f"prospects-{self.graph}-{len(self.targets)}")

    def _history(self, state: Round) -> None:
        if state.own is None or state.best is None:
            return
        heading("Your attack against the best one")
        lines = [
            Series(name, range(len(one.logs)), [bits(log) + 0.0 for log in one.logs])
            for name, one in (("you", state.own), ("best attacker", state.best))
        ]
        figure(
            line_chart(
                lines,
                title="Bits left after each step",
                x_label="users exposed",
                y_label="bits left (log2 of the stories)",
            ),
            f"campaign-{self.graph}",
            "Lower is better for the attacker. “Best” looks one step ahead and does not know the "
            "truth, so luck can beat it.",
        )
        table(
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
        made = f"am.read({self.own.name!r})" if own and self.own else _made(self.graph)
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


def _made(key: str) -> str:
    return GRAPHS[key].python


def _scores(state: Round) -> list[tuple[str, str, str]]:
    n_users, targets = state.graph.n_users, state.targets
    doubt = n_users - len(targets) - len(state.identified)
    return [
        ("Stories left", bits_text(bits(state.log)), "ways to explain what was seen"),
        ("Exposed", plural(len(targets), "user"), "asked by the attacker, one by one"),
        (
            "Fell with them",
            plural(len(state.fell), "user"),
            "identified by the exposure of others: "
            + (", ".join(label(user) for user in list(state.fell)[:4]) or "nobody")
            + (", …" if len(state.fell) > 4 else ""),
        ),
        ("Still in doubt", plural(max(doubt, 0), "user"), "at least two messages may be theirs"),
    ]
