"""People with several messages: figures of each sender, apart from those of messages.

An attacker who cannot tell two messages of one sender apart may still know to whom both went. So
probabilities of messages out are added up over their receiver before anything is said about a
sender.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.audits.answers import Answers, Work, entropy_of
from anonymatch.base.errors import BudgetError
from anonymatch.base.text import names, several
from anonymatch.measures import Interval, ReceiverFigures, message_classes, name_column
from anonymatch.running import Execution
from anonymatch.sources import Observation

if TYPE_CHECKING:
    import polars as pl

__all__ = ["people", "people_bits", "people_notes"]

_LN2 = math.log(2.0)
_SHARE = 0.1  # of the budget


def people_bits(seen: Observation, work: Work) -> Interval | None:
    """Bits per message about who wrote to whom, and how often: doubt about people.

    Two messages between the same two people may change places without hiding anything, so that
    this is never more than the bits about messages. None if nobody has several messages, for a
    passage, and beyond the budget.
    """
    graph = seen.graph
    if graph is None or (seen.senders is None and seen.receivers is None):
        return None
    budget = replace(work.budget, seconds=_SHARE * work.budget.seconds)
    try:
        classes = message_classes(
            graph,
            graph.users if seen.senders is None else seen.senders,
            graph.behaviours if seen.receivers is None else seen.receivers,
            entropy_of=lambda part: entropy_of(part, replace(work, budget=budget)),
            budget=budget,
            effort=Execution(executor=work.executor),
            lost_slots=seen.lost,
        )
    except BudgetError:
        return None
    return classes.entropy.divided(max(graph.n_users, 1) * _LN2)


def people(seen: Observation, found: Answers) -> pl.DataFrame | None:
    """A row a sender: messages, and of the message that is surest how sure, and to whom it went.

    Messages near an end of the log lead nobody, as they lead no other list of the worst, unless a
    sender has no other. None if nobody sent or received twice, or probabilities are not known.
    """
    if seen.senders is None and seen.receivers is None:
        return None
    if not found.users.known:
        return None
    import polars as pl

    senders = seen.senders if seen.senders is not None else found.users.users
    messages = pl.DataFrame(
        {
            "sender": name_column(list(senders)),
            "message": name_column(found.users.users),
            "probability": found.users.probability.value,
            "effective": found.users.effective.value,
            "counted": found.users.counted,
        }
    )
    if seen.receivers is not None and found.probabilities is not None and seen.graph is not None:
        messages = messages.hstack(_receivers(seen, found))
        surest = "receiver_probability"
    elif found.links is not None and found.links.receivers is not None:
        messages = messages.hstack(_linked_receivers(seen, found.links.receivers))
        surest = "receiver_probability"
    else:
        surest = "probability"
    return (
        messages.sort("counted", surest, descending=True, maintain_order=True)
        .group_by("sender", maintain_order=True)
        .agg(pl.len().alias("messages"), pl.all().first())
        .rename({"message": "surest_message"})
    )


def people_notes(table: pl.DataFrame | None) -> tuple[str, ...]:
    """What the figures of messages hide: receivers that are certain though messages are not."""
    if table is None or "receiver_probability" not in table.columns:
        return ()
    import polars as pl

    sure = table.filter(
        pl.col("counted")
        & (pl.col("receiver_probability") > 1 - 1e-9)
        & (pl.col("probability") < 1 - 1e-9)
    )
    if not sure.height:
        return ()
    who = names(sure["sender"].to_list())
    said = (
        f"{several(sure.height, 'sender')} ({who}) wrote to a receiver who is certain, though not "
        "by which message: see the table of people."
    )
    return (said,)


def _linked_receivers(seen: Observation, figures: ReceiverFigures) -> pl.DataFrame:
    """The same of a passage, in the order in which receivers were numbered."""
    import polars as pl

    assert seen.receivers is not None
    names = list(dict.fromkeys(seen.receivers))
    likeliest = [None if i < 0 else str(names[i]) for i in figures.guess.tolist()]
    return pl.DataFrame(
        {
            "receiver": pl.Series(likeliest, dtype=pl.String),
            "receiver_probability": figures.probability,
            "receivers_effective": np.exp2(figures.shannon),
        }
    )


def _receivers(seen: Observation, found: Answers) -> pl.DataFrame:
    """Of each message: the likeliest receiver, its probability, and the effective set of
    receivers.
    """
    import polars as pl

    assert found.probabilities is not None
    assert seen.graph is not None
    assert seen.receivers is not None
    numbers: dict[object, int] = {}
    places = np.array([numbers.setdefault(one, len(numbers)) for one in seen.receivers])
    graph = seen.graph
    merged = (
        pl.DataFrame(
            {
                "row": graph.rows(),
                "receiver": places[graph.indices],
                "probability": found.probabilities.probabilities,
            }
        )
        .group_by("row", "receiver")
        .agg(pl.col("probability").sum())
        .sort("row", "receiver")
    )
    surprise = pl.when(pl.col("probability") > 0).then(
        -pl.col("probability") * pl.col("probability").log(2)
    )
    by_row = (
        merged.group_by("row", maintain_order=True)
        .agg(
            pl.col("receiver").get(pl.col("probability").arg_max()),
            pl.col("probability").max().clip(0.0, 1.0).alias("receiver_probability"),
            surprise.sum().clip(0.0).alias("bits"),
        )
        .sort("row")
    )
    names = [None if one is None else str(one) for one in numbers]
    return by_row.select(
        pl.Series("receiver", [names[i] for i in by_row["receiver"].to_list()], dtype=pl.String),
        "receiver_probability",
        (2.0 ** pl.col("bits")).alias("receivers_effective"),
    )
