"""Options that say what a file is: a message log with its law, a simulator's log, a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from anonymatch.base.errors import BudgetError, InputError, NoMatchingError
from anonymatch.base.text import Message
from anonymatch.cli import words
from anonymatch.cli.console import notes, watch
from anonymatch.cli.options import Options, above_zero, from_zero, option, whole
from anonymatch.graph import Graph
from anonymatch.running import Budget
from anonymatch.sources import SOURCES, Observation, open_observation, passage_graph

__all__ = ["OneWay", "Way", "about", "graph_of", "making", "observe"]

_MAKING = 1.0  # seconds of making a graph that any budget allows

Law = Annotated[
    list[str] | None,
    option(
        "--law",
        "How messages are delayed, in seconds: window:MIN,MAX exponential:MEAN (poisson, sg) "
        "erlang:HOPS,MEAN (loopix; the mean of one hop) threshold:N timed:SECONDS pool:N,KEPT "
        "timed-pool:SECONDS,KEPT binomial:SECONDS,P cottrell:SECONDS,LEAST,P.",
        metavar="LAW",
    ),
]
Source = Annotated[
    str | None,
    option("--source", f"What FILE is, if it does not show: {', '.join(SOURCES)}.", metavar="KIND"),
]
Departures = Annotated[
    Path | None,
    option("--departures", "Messages out, if FILE has only those in.", metavar="FILE"),
]
Unit = Annotated[
    str | None, option("--unit", "Of times: s, ms, us or ns (s unless told).", metavar="UNIT")
]
Loss = Annotated[
    float | None,
    option(
        "--loss",
        "Probability of a message to be lost on its way.",
        metavar="P",
        parser=from_zero("a probability", below=1.0),
    ),
]
Lost = Annotated[
    int | None,
    option(
        "--lost",
        "Instead: so many messages in were lost, beyond those still inside at the end.",
        metavar="N",
        parser=whole(0),
    ),
]
CoverRate = Annotated[
    float | None,
    option(
        "--cover-rate",
        "Messages out a second that are nobody's (dummy traffic).",
        metavar="R",
        parser=from_zero("a rate"),
    ),
]
Cover = Annotated[
    int | None,
    option("--cover", "Instead: so many messages out are nobody's.", metavar="N", parser=whole(0)),
]
Until = Annotated[
    str | None,
    option(
        "--until",
        "When the log ends: seconds, or a date-time (its last row unless told).",
        metavar="TIME",
    ),
]
Drained = Annotated[bool, option("--drained", "Nothing was left inside when the log ended.")]
InsideAtStart = Annotated[
    float | None,
    option(
        "--inside-at-start",
        "Messages inside when the log begins, on average, if it starts in mid traffic (none "
        "unless told, or unless the log shows some).",
        metavar="R",
        parser=from_zero("a number of messages"),
    ),
]
CoverInPool = Annotated[
    bool,
    option("--cover-in-pool", "Cover of a flush mix is held back like messages."),
]
CoverVisible = Annotated[
    bool,
    option("--cover-visible", "The attacker sees what the log flags as cover or lost."),
]
WholeLog = Annotated[
    bool,
    option("--whole-log", "Count messages near the ends of the log as all others."),
]
Original = Annotated[
    Path | None,
    option("--original", "The table before release, which a released FILE needs.", metavar="FILE"),
]


LongestDelay = Annotated[
    float | None,
    option(
        "--longest-delay",
        "Of flow pairs: seconds that no packet takes longer (2 unless told).",
        metavar="SECONDS",
        parser=above_zero("delay"),
    ),
]
Strays = Annotated[
    int | None,
    option(
        "--strays",
        "Of flow pairs: packets that a pair may receive though neither sent them.",
        metavar="N",
        parser=whole(0),
    ),
]
Align = Annotated[
    str | None,
    option(
        "--align",
        "Of flow pairs: start shifts each recording so that all begin together.",
        metavar="WHERE",
    ),
]
Identifiers = Annotated[
    list[str] | None,
    option(
        "--identifiers",
        "Of a released table: a column that an attacker knows; may be repeated (all columns "
        "that both tables have unless told).",
        metavar="COLUMN",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Way:
    """Options that say how files are to be understood."""

    law: Law = None
    source: Source = None
    unit: Unit = None
    loss: Loss = None
    lost: Lost = None
    cover_rate: CoverRate = None
    cover: Cover = None
    until: Until = None
    drained: Drained = False
    inside_at_start: InsideAtStart = None
    cover_in_pool: CoverInPool = False
    cover_visible: CoverVisible = False
    whole_log: WholeLog = False
    longest_delay: LongestDelay = None
    strays: Strays = None
    align: Align = None

    def law_of(self, k: int) -> str | None:
        """The law of the k-th file: one for all of them, or one for each."""
        return self.law[min(k, len(self.law) - 1)] if self.law else None

    def keywords(self, k: int = 0) -> dict[str, Any]:
        """For the k-th file."""
        return {
            "law": self.law_of(k),
            "source": self.source,
            "unit": self.unit,
            "loss": self.loss,
            "lost": self.lost,
            "cover_rate": self.cover_rate,
            "cover": self.cover,
            "until": self.until,
            "drained": self.drained,
            "inside_at_start": self.inside_at_start,
            "cover_in_pool": self.cover_in_pool,
            "cover_visible": self.cover_visible,
            "whole_log": self.whole_log,
            "longest_delay": self.longest_delay,
            "strays": self.strays,
            "align": self.align,
        }

    def check(self, files: int) -> None:
        """Refuse laws that are neither one for all files nor one for each."""
        if self.law is not None and len(self.law) not in (1, files):
            raise InputError(f"--law is given {len(self.law)} times for {files} files")


@dataclass(frozen=True, kw_only=True)
class OneWay(Way):
    """The same for a single file, which may have another beside it."""

    departures: Departures = None
    original: Original = None
    identifiers: Identifiers = None

    def keywords(self, k: int = 0) -> dict[str, Any]:
        return super().keywords(k) | {
            "out": self.departures,
            "original": self.original,
            "identifiers": self.identifiers or None,
        }


@contextmanager
def about(path: Path) -> Iterator[None]:
    """What is found wrong while a file is solved becomes a line that begins with it."""
    try:
        yield
    except (InputError, BudgetError) as error:
        if error.message.startswith(str(path)):
            raise
        raise error.about(path) from None
    except NoMatchingError as error:
        raise InputError(f"{path}: ", error.message) from None


def observe(path: Path, options: Options, way: Way, k: int = 0) -> Observation:
    """Read FILE, with its notes on standard error."""
    options.limit_readers()
    keywords = way.keywords(k) | {"budget": making(options)}
    with notes():
        try:
            observation = watch(
                f"reading {path.name}", lambda _: open_observation(path, **keywords)
            )
        except BudgetError as error:  # what is wrong with the file names it, and a law does not
            raise error.about(path) from None
    return replace(
        observation, notes=tuple(Message(note).worded(words.option) for note in observation.notes)
    )


def making(options: Options) -> Budget:
    """What making a graph may take; --budget 0 forbids long work, and not every graph."""
    allowed = options.effort()
    return Budget(seconds=max(allowed.seconds, _MAKING), memory=allowed.memory)


def graph_of(observation: Observation, options: Options) -> Graph:
    """The graph of an observation; that of one exponential mix is made now, if small."""
    if observation.graph is not None:
        return observation.graph
    assert observation.passage is not None
    return passage_graph(observation.passage, budget=making(options))
