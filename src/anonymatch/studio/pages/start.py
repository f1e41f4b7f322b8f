"""Start: the paper's first figure, live. One user is exposed, and two systems answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from nicegui import ui

from anonymatch.base.numbers import plural
from anonymatch.graph import Graph
from anonymatch.reporting import bipartite, exposure, paper_figure, value_of
from anonymatch.studio import widgets as w
from anonymatch.studio.address import address, choice
from anonymatch.studio.frame import frame
from anonymatch.studio.session import Studio

_SYSTEMS = (
    (
        "Separate groups",
        0,
        "Alice and Bob hide among themselves, and so do Charlie and David.",
        "The other group is untouched: its two users are as hidden as before.",
    ),
    (
        "A ring of overlapping sets",
        2,
        "Everybody shares one message with each neighbour.",
        "One exposed user tells the next one apart, and so on round the ring: everybody falls.",
    ),
)


async def show(_studio: Studio, query: Mapping[str, str]) -> None:
    """The page; ``user`` in the address is the one who is exposed."""
    graphs = [paper_figure(1).panels[panel].graph for _, panel, _, _ in _SYSTEMS]
    known = [graph for graph in graphs if graph is not None]
    users = [str(user) for user in known[0].users]
    state = {"user": choice(query, "user", ["", *users])}

    def pick(user: str) -> None:
        if user not in ("", *users):
            return
        state["user"] = "" if user == state["user"] else user
        ui.navigate.history.replace(address("/", user=state["user"]))
        content.refresh()

    @ui.refreshable
    def content() -> None:
        with w.box("div", "row", role="group", aria_label="Whom the attacker exposes"):
            w.text("The attacker learns what", "span")
            for user in users:
                w.button(
                    user,
                    partial(pick, user),
                    aria_pressed="true" if user == state["user"] else "false",
                )
            w.text("did.", "span")
        with w.box("div", "two"):
            for (name, _, before, after), graph in zip(_SYSTEMS, known, strict=True):
                _system(name, graph, state["user"], before, after, pick)
        w.same_result(*_lines(state["user"]))

    with frame(
        "/",
        "How many stories fit what was seen?",
        "Four users, four messages. A line means: this message may be that user's. Each way to "
        "give everybody one message is a story that explains what was seen. The more stories, the "
        "better everybody hides.",
    ):
        content()
        w.heading("Where to go from here")
        with w.box("div", "four"):
            _road("/design", "Design", "Choose groups for a number of users and a cost.")
            _road("/plan", "Plan", "Choose mixes, delay and cover for a network.")
            _road("/audit", "Audit", "Drop a log and see who is badly hidden, and why.")
            _road("/compare", "Compare", "Hold systems against each other, with their price.")
            _road("/rounds", "Rounds", "See how long anonymity lasts when users stay the same.")
            _road("/attack", "Attack", "Expose users one after another and watch who falls.")
            _road("/paper", "Paper", "Every claim of the paper, computed now.")


def _system(name: str, graph: Graph, user: str, before: str, after: str, pick: object) -> None:
    assert callable(pick)
    start = value_of(graph)
    with w.box("section", "pane"):
        w.heading(name)
        if not user:
            w.text(plural(start, "story", "stories"), "p", "big")
            w.text(before)
            drawn = bipartite(graph, title=name, groups="blocks", headings=("users", "messages"))
            w.figure(drawn, _file(name), "Click on a user to expose them.", on_pick=pick)
            return
        initial = user[0]  # in the figure users' own messages have their first letters
        left = value_of(graph.expose(user, initial))
        w.text(f"{start} → {plural(left, 'story', 'stories')}", "p", "big")
        w.text(after)
        drawn = exposure(graph, user, initial, title=f"{name}: {user} is exposed")
        caption = "Dashed lines are ruled out."
        w.figure(drawn, _file(name), caption, on_pick=pick)


def _file(name: str) -> str:
    return name.lower().replace(" ", "-")


def _road(route: str, name: str, meaning: str) -> None:
    with w.box("section", "pane"):
        with w.box("h3"):
            w.link(name, route)
        w.text(meaning)


def _lines(user: str) -> tuple[str, str]:
    python = [
        "import anonymatch as am",
        'groups = am.Graph.from_rows(["1100", "1100", "0011", "0011"])',
        "ring = am.ring(4, 2)",
        "print(am.count(groups).value, am.count(ring).value)  # 4 2",
    ]
    if user:
        row = "ABCD".index(user[0])
        python.append(f"print(am.count(groups.expose({row}, {row})).value)  # 2")
        python.append(f"print(am.count(ring.expose({row}, {row})).value)  # 1")
    return "anonymatch paper --claim figure-1", "\n".join(python)
