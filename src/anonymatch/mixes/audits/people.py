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

from anonymatch.audits import Answers, Resources, entropy_of, links_of
from anonymatch.base.errors import BudgetError
from anonymatch.base.interval import Interval
from anonymatch.base.text import names, several
from anonymatch.counting import measures
from anonymatch.counting.measures import name_column
from anonymatch.mixes import MessageObservation, ReceiverFigures
from anonymatch.running import Execution

if TYPE_CHECKING:
    import polars as pl

__all__ = ["people", "people_bits", "people_notes"]

_LN2 = math.log(2.0)
_SHARE = 0.1  # of the budget


def people_bits(observation: MessageObservation, resources: Resources) -> Interval | None:
    """Bits per message about who wrote to whom, and how often: doubt about people.

    Two messages between the same two people may change places without hiding anything, so that
    this is never more than the bits about messages. None if nobody has several messages, for a
    passage, and beyond the budget.
    """
    graph = observation.graph
    if graph is None or (observation.senders is None and observation.receivers is None):
        return None
    budget = replace(resources.budget, seconds=_SHARE * resources.budget.seconds)
    try:
        classes = measures.message_classes(
            graph,
            graph.users if observation.senders is None else observation.senders,
            graph.behaviours if observation.receivers is None else observation.receivers,
            entropy_of=lambda part: entropy_of(part, replace(resources, budget=budget)),
            budget=budget,
            effort=Execution(executor=resources.executor),
            lost_slots=observation.lost,
        )
    except BudgetError:
        return None
    bits = classes.entropy.divided(max(graph.n_users, 1) * _LN2)
    # An attacker who has the exact times of a log with rounded times may know everything.
    return bits if observation.rounding is None else replace(bits, low=0.0)


def people(observation: MessageObservation, answers: Answers) -> pl.DataFrame | None:
    """A row a sender: messages, and of the message that is surest how sure, and to whom it went.

    Messages near an end of the log lead nobody, as they lead no other list of the worst, unless a
    sender has no other. None if nobody sent or received twice, or probabilities are not known.
    """
    if observation.senders is None and observation.receivers is None:
        return None
    if not answers.users.known:
        return None
    import polars as pl

    from anonymatch.base.frames import Frame

    links = links_of(answers)
    senders = observation.senders if observation.senders is not None else answers.users.users
    messages = pl.DataFrame(
        {
            "sender": name_column(list(senders)),
            "message": name_column(answers.users.users),
            "probability": answers.users.probability.value,
            "effective": answers.users.effective.value,
            "counted": answers.users.counted,
        }
    )
    if (
        observation.receivers is not None
        and answers.probabilities is not None
        and observation.graph is not None
    ):
        messages = messages.hstack(_receivers(observation, answers))
        surest = "receiver_probability"
    elif links is not None and links.receivers is not None:
        messages = messages.hstack(_linked_receivers(observation, links.receivers))
        surest = "receiver_probability"
    else:
        surest = "probability"
    return Frame(
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
    note = (
        f"{several(sure.height, 'sender')} ({who}) wrote to a receiver who is certain, though not "
        "by which message: see the table of people."
    )
    return (note,)


def _linked_receivers(observation: MessageObservation, figures: ReceiverFigures) -> pl.DataFrame:
    """The same of a passage, in the order in which receivers were numbered."""
    import polars as pl

    assert observation.receivers is not None
    names = list(dict.fromkeys(observation.receivers))
    likeliest = [None if i < 0 else str(names[i]) for i in figures.guess.tolist()]
    return pl.DataFrame(
        {
            "receiver": pl.Series(likeliest, dtype=pl.String),
            "receiver_probability": figures.probability,
            "receivers_effective": np.exp2(figures.shannon),
        }
    )


def _receivers(observation: MessageObservation, answers: Answers) -> pl.DataFrame:
    """Of each message: the likeliest receiver, its probability, and the effective set of
    receivers.
    """
    import polars as pl

    assert answers.probabilities is not None
    assert observation.graph is not None
    assert observation.receivers is not None
    numbers: dict[object, int] = {}
    receiver_of = np.array([numbers.setdefault(one, len(numbers)) for one in observation.receivers])
    graph = observation.graph
    merged = (
        pl.DataFrame(
            {
                "row": graph.rows(),
                "receiver": receiver_of[graph.indices],
                "probability": answers.probabilities.probabilities,
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
