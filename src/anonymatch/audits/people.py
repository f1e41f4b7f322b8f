"""People with several messages: figures of each sender, apart from those of messages.

An attacker who cannot tell two messages of one sender apart may still know to whom both went. So
chances of messages out are added up over their receiver before anything is said about a sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymatch.audits.answers import Answers
from anonymatch.measures.users import name_column
from anonymatch.sources.observation import Observation

if TYPE_CHECKING:
    import polars as pl

__all__ = ["people"]


def people(seen: Observation, found: Answers) -> pl.DataFrame | None:
    """A row a sender: messages, and of the message that is surest how sure, and to whom it went.

    None if nobody sent or received twice, or chances are not known.
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
            "chance": found.users.chance.value,
            "effective": found.users.effective.value,
        }
    )
    if seen.receivers is not None and found.chances is not None and seen.graph is not None:
        messages = messages.hstack(_receivers(seen, found))
        surest = "receiver_chance"
    else:
        surest = "chance"
    return (
        messages.sort(surest, descending=True, maintain_order=True)
        .group_by("sender", maintain_order=True)
        .agg(pl.len().alias("messages"), pl.all().first())
        .rename({"message": "surest_message"})
    )


def _receivers(seen: Observation, found: Answers) -> pl.DataFrame:
    """Of each message: the likeliest receiver, its chance, and the effective set of receivers."""
    import polars as pl

    assert found.chances is not None
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
                "chance": found.chances.chances,
            }
        )
        .group_by("row", "receiver")
        .agg(pl.col("chance").sum())
        .sort("row", "receiver")
    )
    surprise = pl.when(pl.col("chance") > 0).then(-pl.col("chance") * pl.col("chance").log(2))
    by_row = (
        merged.group_by("row", maintain_order=True)
        .agg(
            pl.col("receiver").get(pl.col("chance").arg_max()),
            pl.col("chance").max().clip(0.0, 1.0).alias("receiver_chance"),
            surprise.sum().clip(0.0).alias("bits"),
        )
        .sort("row")
    )
    names = [None if one is None else str(one) for one in numbers]
    return by_row.select(
        pl.Series("receiver", [names[i] for i in by_row["receiver"].to_list()], dtype=pl.String),
        "receiver_chance",
        (2.0 ** pl.col("bits")).alias("receivers_effective"),
    )
