"""What the links of a network say of its messages: posteriors of each, and joint figures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.audits import NetworkAnswers, Resources
from anonymatch.base.interval import Interval
from anonymatch.base.text import several
from anonymatch.counting import Count
from anonymatch.counting.measures import LOST, Range, UserFigures, averages, system
from anonymatch.mixes import (
    ForwardPlan,
    Network,
    NetworkJoint,
    NetworkMarginals,
    NetworkObservation,
    Passage,
    entropy_slack,
    forward_marginals,
    network_joint,
    network_sample,
    two_layer_bits,
)
from anonymatch.running import Execution

if TYPE_CHECKING:
    from anonymatch.base.arrays import Floats, Ints

__all__ = ["network_answers"]

_LN2 = math.log(2.0)
_QUICK = 30.0  # predicted seconds that posteriors of all messages may take unless told otherwise
_SAMPLE, _WORST = 10_000, 640  # messages that are drawn, and that are looked at on purpose
# Bits by which the mean entropy may be too large or too small if mixes send loops, and the share of
# simulated logs whose log score lies between. It is 0.02 bits too large in 3x3 mixes, and 0.09 in
# 2x2 mixes with more loops than messages.
_LOOPS_LESS, _LOOPS_MORE, _LOOPS_SURE = 0.25, 0.15, 0.95
_ROUNDING = 1e-10  # relative: far more than the passes round
_DIGITS = 2000.0  # natural log of a number of histories up to which its digits are made


def network_answers(observation: NetworkObservation, resources: Resources) -> NetworkAnswers:
    """Posteriors of all messages, or of a sample with those that look worst, and joint figures."""
    network, passage = observation.network, observation.passage
    notes: tuple[str, ...] = ()
    if network.rates is not None:
        from anonymatch.mixes.audits.network_products import hidden_marginals

        sizes = (_SAMPLE, _WORST)
        chosen, weights, marginals, joint = hidden_marginals(observation, network, resources, sizes)
        confidence = 1.0 if weights is None else averages.SAMPLED
        if network.has_loops:
            confidence = _LOOPS_SURE
        notes = _fates(network, marginals, weights)
        if weights is not None:
            notes = (_sampled(len(passage.users), resources.seed), *notes)
    elif network.law is not None:
        from anonymatch.mixes.audits.network_products import product_marginals

        marginals, joint, confidence = product_marginals(observation, network, resources)
        chosen, weights = np.arange(len(passage.users)), None
    else:
        chosen, weights, marginals, notes = _forward(observation, network, resources)
        joint = network_joint(network.links, own=_own(network, marginals, weights))
        confidence = 1.0 if weights is None else averages.SAMPLED
        joint, drawn = _two_layers(network, joint, resources.seed)
        notes = (*notes, *drawn)
    notes = (*notes, *_notes(network, joint, marginals))
    nats = Interval(*(_LN2 * end for end in (joint.who.value, joint.who.low, joint.who.high)))
    n_users, n_out = len(passage.users), len(passage.behaviours)
    full = max(_full(network.n_sent, n_out), nats.high)
    return NetworkAnswers(
        count=_histories(network, joint, confidence),
        entropy=nats,
        bound=max(joint.box * _LN2, nats.high),
        full=full,
        users=_users(passage, chosen, weights, marginals, observation),
        edges=int(marginals.candidates.sum()),
        probabilities=None,
        confidence=confidence,
        notes=notes,
        network=joint,
        n_messages=n_users,
        n_packets=network.n_sent,
        chosen=None if weights is None else chosen,
        true_exit=None if observation.truth is None else marginals.asked,
    )


def _forward(
    observation: NetworkObservation, network: Network, resources: Resources
) -> tuple[Ints, Floats | None, NetworkMarginals, tuple[str, ...]]:
    links = network.links
    plan = ForwardPlan(links)
    number = len(links.sent)
    budget = resources.budget
    allowed = budget.seconds / 2 if budget.chosen else _QUICK
    chosen, weights = np.arange(number), None
    notes: tuple[str, ...] = ()
    seconds = plan.seconds(chosen)
    if seconds > allowed and number > _SAMPLE + _WORST:
        sample = network_sample(
            links.first_met()[1], size=_SAMPLE, worst=_WORST, seed=resources.seed
        )
        chosen, weights = sample
        notes = (_sampled(number, resources.seed, seconds),)
        if plan.seconds(chosen) > max(budget.seconds, 1.0):
            raise budget.refusal(
                f"posteriors of {len(chosen):,} messages", plan.seconds(chosen), 0.0
            )
    asked = None if observation.truth is None else observation.truth[chosen]
    effort = Execution(executor=resources.executor, progress=resources.stage())
    marginals = forward_marginals(plan, chosen, asked=asked, seed=resources.seed, effort=effort)
    return chosen, weights, marginals, notes


def _sampled(number: int, seed: int, seconds: float | None = None) -> str:
    """Return a note on the messages that are looked at, if they are not all."""
    long = "too long" if seconds is None else f"{seconds:.2g} s"
    return (
        f"Posteriors of all {number:,} messages would take {long}: they were computed "
        f"for {_SAMPLE:,} at random (seed {seed}) and for the {_WORST:,} that met "
        "the fewest other packets on entry. Means, shares and quantiles are estimated from them, "
        "with "
        f"intervals of {averages.SAMPLED:.0%}"
    )


def _fates(
    network: Network, marginals: NetworkMarginals, weights: Floats | None
) -> tuple[str, ...]:
    """Return a note on messages that do not come out."""
    rates = network.rates
    assert rates is not None
    assert marginals.lost is not None
    weigh = np.ones(len(marginals.left)) if weights is None else weights
    lost = float(marginals.lost @ weigh)
    inside = max(float((1.0 - marginals.left) @ weigh) - lost, 0.0)
    if lost + inside <= 0.05:
        return ()
    note = (
        f"Expected messages without a departure: {lost:.3g} lost and {inside:.3g} still inside at "
        "the end"
    )
    return (note,)


def _two_layers(
    network: Network, joint: NetworkJoint, seed: int
) -> tuple[NetworkJoint, tuple[str, ...]]:
    """Joint bits of two layers where they are an interval: a better value between its ends."""
    who = joint.who
    if who.low == who.high or network.n_layers != 2:
        return joint, ()
    bits = two_layer_bits(network.links, seed=seed)
    if bits is None:
        return joint, ()
    note = (
        f"Of the joint bits, {who.low:.4g} to {who.high:.4g} in all are proven; by permanents of "
        f"drawn histories (seed {seed}) they are {bits.value:.4g}, from {bits.low:.4g} to "
        f"{bits.high:.4g} with 99 %"
    )
    value = min(max(bits.value, who.low), who.high)
    return replace(joint, who=Interval(value, who.low, who.high)), (note,)


def _own(network: Network, marginals: NetworkMarginals, weights: Floats | None) -> Floats | None:
    """Own bits of all packets, if those of all are known."""
    events = network.links.events
    n_sources = int(np.count_nonzero(events.from_ == -1))
    if weights is not None or n_sources != len(marginals.shannon_all):
        return None
    return marginals.shannon_all


def _full(n_in: int, n_out: int) -> float:
    least, most = sorted((n_in, n_out))
    return system.full_log(least, most)


def _histories(network: Network, joint: NetworkJoint, confidence: float) -> Count:
    """Ways through all mixes; with weights as many as would be as uncertain."""
    log = joint.histories * _LN2
    weighted = network.law is not None or network.rates is not None
    if weighted or log > _DIGITS:
        low, high = (log * (1 - 1e-9), log * (1 + 1e-9)) if weighted else (log, log)
        return Count(
            exact=False, log=log, low=low, high=high, method="network", confidence=confidence
        )
    inside = network.links.inside
    value = math.prod(inside[inside > 0].tolist())
    return Count(
        exact=True, log=log, low=log, high=log, method="network", factors=((lambda: value, 1),)
    )


def _notes(network: Network, joint: NetworkJoint, marginals: NetworkMarginals) -> tuple[str, ...]:
    notes = [
        f"{several(len(network.mixes), 'mix', 'mixes')} in {several(network.n_layers, 'layer')}: "
        f"2^{joint.histories:.6g} histories, each which packet is which in every mix. Several of "
        "them give the same senders and receivers, so that joint bits are "
        + ("exact" if joint.who.low == joint.who.high else "known as an interval"),
        f"Probabilities of each message add up to one within {max(marginals.error, 1e-16):.0e}",
    ]
    if network.corrupt:
        shown = ", ".join(network.corrupt[:5]) + (", ..." if len(network.corrupt) > 5 else "")
        notes.append(f"Corrupt mixes tell the attacker which packet is which: {shown}")
    return tuple(notes)


def _users(
    passage: Passage,
    chosen: Ints,
    weights: Floats | None,
    marginals: NetworkMarginals,
    observation: NetworkObservation,
) -> UserFigures:
    left, error = marginals.left, 0.0
    lost = np.zeros(len(left)) if marginals.lost is None else marginals.lost
    loops = observation.network is not None and observation.network.has_loops
    less, more = (_LOOPS_LESS, _LOOPS_MORE) if loops else (0.0, 0.0)
    bits: Floats | float = 0.0
    if marginals.error > _ROUNDING:  # posteriors of mixes were multiplied, whose errors add up
        error = marginals.error
        bits = entropy_slack(error, left, marginals.candidates)
    open_ = bool((left < 1.0).any())
    share = np.where(left > 0.0, left, 1.0)
    surest = np.where(left > 0.0, np.minimum(marginals.largest / share, 1.0), 1.0)

    def entropies(values: Floats) -> Range:
        return _range(values, bits + less, bits + more)

    def probabilities(values: Floats, off: Floats | float) -> Range:
        lower, higher = 1.0 - 2.0**-more, 2.0**less - 1.0  # as many bits
        return _range(values, off + lower * values, off + higher * values, 1.0)

    best = probabilities(surest, error / share)
    shannon = entropies(marginals.shannon)
    guesses = marginals.guesses
    edge = observation.edge
    return UserFigures(
        users=_names(passage.users, chosen),
        behaviours=passage.behaviours,
        degree=marginals.candidates,
        allowed=marginals.candidates,
        shannon=shannon,
        renyi2=entropies(0.0 - np.log2(marginals.collision)),
        min_entropy=best.minus_log2(),
        effective=shannon.map(np.exp2),
        probability=probabilities(marginals.largest, error),
        guess=np.where(marginals.guess >= 0, marginals.guess, LOST),
        departed=left if open_ else None,
        lost=lost if open_ else None,
        inside=np.maximum(1.0 - left - lost, 0.0) if open_ else None,
        shannon_all=entropies(marginals.shannon_all) if open_ else None,
        edge=None if edge is None else edge[chosen],
        guesses=Range(guesses, guesses, guesses),
        weights=weights,
    )


def _names(names: tuple[object, ...], chosen: Ints) -> tuple[object, ...]:
    if len(chosen) == len(names):
        return names
    return tuple(names[one] for one in chosen.tolist())


def _range(
    values: Floats, less: Floats | float, more: Floats | float, most: float = math.inf
) -> Range:
    values = np.maximum(values, 0.0)
    rounding = _ROUNDING * values
    return Range(
        values,
        np.maximum(values - less - rounding, 0.0),
        np.maximum(np.minimum(values + more + rounding, most), values),
    )
