"""What an audit says of rings beside its figures: certain spends, time, merged outputs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.audits import Answers
from anonymatch.base.numbers import percent
from anonymatch.base.text import several
from anonymatch.graph import Graph, chain_reaction, structure
from anonymatch.mixes import RINGS
from anonymatch.rings import RingObservation, RingSet

__all__ = ["CertainSpend", "RingFigures", "RingPeriod", "ring_figures", "ring_notes"]

CHAIN, CLOSED = "chain reaction", "closed set"

_PERIODS = 12

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertainSpend:
    """An input of which only one output can be spent.

    Attributes
    ----------
    input, output : name
    how : {"chain reaction", "closed set"}
        Whether outputs that are certain before rule out all others of its ring, one by one; or it
        takes a set of rings that together spend all of their outputs.
    step : int
        Of the chain reaction: 1 for a ring of one member; 0 of closed sets.
    """

    input: Hashable
    output: Hashable
    how: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RingPeriod:
    """Inputs of a stretch of heights or times, from `begin` to before the next one's.

    Attributes
    ----------
    begin, end : float
        The first and the last of its rings.
    inputs : int
    members, allowed : float
        Of a ring on average: its members, and those that can be spent.
    chain_reaction, closed_sets : float
        Shares of the inputs whose spend is certain.
    effective : float or None
        As many equally likely outputs as an input hides among, on average; None if not known.
    """

    begin: float
    end: float
    inputs: int
    members: float
    allowed: float
    chain_reaction: float
    closed_sets: float
    effective: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RingFigures:
    """What is certain, how it is known, and how that changes over time.

    Attributes
    ----------
    inputs, outputs : int
    single : int
        Inputs whose ring has one member, so that nothing hides them (zero mixins).
    chain_reaction, closed_sets : int
        Inputs whose spend is certain by the chain reaction, with those of one member; and those
        beyond, by closed sets.
    ruled_out, ruled_out_by_chain : float
        Share of all members that cannot be what was spent; and of those the chain reaction rules
        out.
    certain : tuple of CertainSpend
    periods : tuple of RingPeriod
        Empty where rings have no height or time; rings without one are left out.
    unit : {"height", "time"}
    merged, merged_right : int, float or None
        Inputs with members that their transaction may spend together; and the share of those, with
        a known truth, for whom such a member is it.
    """

    inputs: int
    outputs: int
    single: int
    chain_reaction: int
    closed_sets: int
    ruled_out: float
    ruled_out_by_chain: float
    certain: tuple[CertainSpend, ...]
    periods: tuple[RingPeriod, ...]
    unit: str
    merged: int
    merged_right: float | None

    @property
    def deduced(self) -> float | None:
        """Share of the inputs with decoys whose spend is certain all the same; None of none."""
        hidden = self.inputs - self.single
        return (len(self.certain) - self.single) / hidden if hidden else None


def ring_figures(observation: RingObservation, answers: Answers) -> RingFigures:
    """Certain spends, figures over time and merged outputs of an observation of rings."""
    rings, graph = observation.rings, observation.graph
    told, steps = chain_reaction(graph)
    spent, alone = _alone(graph)
    chain, closed = told >= 0, alone & (told < 0)
    users = np.repeat(np.arange(graph.n_users), graph.degrees)
    parts = structure(graph)
    impossible = parts.block_of_user[users] != parts.block_of_behaviour[graph.indices]
    gone = np.zeros(graph.n_behaviours, dtype=bool)
    gone[told[chain]] = True
    by_chain = gone[graph.indices] & (told[users] != graph.indices)
    return RingFigures(
        inputs=graph.n_users,
        outputs=graph.n_behaviours,
        single=int((graph.degrees == 1).sum()),
        chain_reaction=int(chain.sum()),
        closed_sets=int(closed.sum()),
        ruled_out=float(impossible.mean()),
        ruled_out_by_chain=float(by_chain.mean()),
        certain=_certain(graph, np.where(chain, told, spent), chain, closed, steps),
        periods=_periods(graph, rings, answers, chain, closed),
        unit=rings.unit,
        merged=len({one.input for one in rings.merges}),
        merged_right=_merged_right(rings, observation.truth),
    )


def ring_notes(observation: RingObservation, figures: RingFigures) -> tuple[str, ...]:
    """What a reader must know of rings."""
    notes = []
    if observation.rings.weighted:
        alike = not observation.graph.weighted
        how = "all the same" if alike else "differently"
        notes.append(f"Members weigh {how}: {observation.rings.weighted}.")
    if figures.merged:
        who = several(figures.merged, RINGS.user, RINGS.users)
        weighed = observation.rings.merging
        known = ""
        if figures.merged_right is not None:
            known = f"; where the truth is known, that is so for {percent(figures.merged_right)}"
        used = f"they weigh {weighed:g} times" if weighed > 1 else "the figures do not use it"
        notes.append(
            f"{who} may spend an output of a transaction from which another input of the same "
            f"transaction may spend one, too (merged outputs){known}; {used}."
        )
    return tuple(notes)


def _alone(graph: Graph) -> tuple[Ints, Mask]:
    """What each input spends in one of the ways, and whether it is so in all of them."""
    parts = structure(graph)
    used = parts.block_of_behaviour[parts.block_of_behaviour >= 0]
    inputs, outputs = (
        np.bincount(side, minlength=parts.n_blocks) for side in (parts.block_of_user, used)
    )
    single = (inputs == 1) & (outputs == 1)
    return parts.behaviour_of_user.astype(np.int64), single[parts.block_of_user]


def _certain(
    graph: Graph, spent: Ints, chain: Mask, closed: Mask, steps: Ints
) -> tuple[CertainSpend, ...]:
    """The chain reaction first, step by step."""
    sure = np.flatnonzero(chain | closed)
    order = sure[np.lexsort((sure, steps[sure], ~chain[sure]))]
    return tuple(
        CertainSpend(
            input=graph.users[one],
            output=graph.behaviours[int(spent[one])],
            how=CHAIN if chain[one] else CLOSED,
            step=int(steps[one]),
        )
        for one in order.tolist()
    )


def _periods(
    graph: Graph, rings: RingSet, answers: Answers, chain: Mask, closed: Mask
) -> tuple[RingPeriod, ...]:
    """As many inputs in each as in the others, but for those of one height."""
    if rings.when is None:
        return ()
    known = np.flatnonzero(~np.isnan(rings.when))
    order = known[np.argsort(rings.when[known], kind="stable")]
    when = rings.when[order]
    cuts = np.searchsorted(when, np.quantile(when, np.linspace(0, 1, _PERIODS + 1)[1:-1]))
    borders = np.unique(np.concatenate(([0], cuts, [len(when)])))
    users = answers.users
    effective = users.effective.value
    periods = []
    for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        inside = order[first:last]
        mean = float(effective[inside].mean())
        periods.append(
            RingPeriod(
                begin=float(when[first]),
                end=float(when[last - 1]),
                inputs=len(inside),
                members=float(graph.degrees[inside].mean()),
                allowed=float(users.allowed[inside].mean()),
                chain_reaction=float(chain[inside].mean()),
                closed_sets=float(closed[inside].mean()),
                effective=None if np.isnan(mean) else mean,
            )
        )
    return tuple(periods)


def _merged_right(rings: RingSet, truth: Ints | None) -> float | None:
    if truth is None or not rings.merges:
        return None
    known = {one.input for one in rings.merges if truth[one.input] >= 0}
    right = {one.input for one in rings.merges if truth[one.input] == one.output}
    return len(right) / len(known) if known else None
