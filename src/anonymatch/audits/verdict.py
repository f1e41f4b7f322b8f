"""The audit in one line of words, and what its figures do not say."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from anonymatch.audits.answers import Answers, links_of
from anonymatch.audits.parts import Score, Worst
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import in_bits, percent
from anonymatch.base.text import name, renamed, several
from anonymatch.counting.measures import UserFigures, averages
from anonymatch.mixes import PEOPLE, RINGS, Nouns, Observation, network_of
from anonymatch.rings import RingObservation

__all__ = ["caveats", "left_out", "verdict", "warned"]

_MANY = 100  # users of whom one is 1 %
_NOBODY = {PEOPLE: "Nobody is in the release."}
_EVERYBODY = {PEOPLE: "Everybody in the release is identified."}

_EVEN = (
    "All matchings are assumed to be equally likely. An attacker who knows more, from habits or "
    "other logs, learns more."
)
_MISFIT = (
    "The law does not agree with the ground truth in the log, so the figures do not describe this "
    "system."
)
_ROUNDED_MISFIT = (
    "The law, or the rounded times, do not agree with the ground truth in the log, so the values "
    "of figures do not describe this system."
)
_WEIGHTS_MISFIT = (
    "The weights of members do not agree with the ground truth in the file, so the figures do not "
    "describe this system."
)
_EVEN_MISFIT = (
    "The ground truth in the file does not agree with equally likely members, so the figures do "
    "not describe this system."
)
_BY_RATES = (
    "The probabilities follow from the law and from the rates of losses and cover traffic. An "
    "attacker who knows more, from habits or other logs, learns more."
)
_WEIGHTED = (
    "The probability of a matching is assumed to be proportional to its weight. An attacker who "
    "knows more learns more."
)


_HISTORIES = (
    "Each mix chooses uniformly among the packets inside, and the next mix of a packet depends "
    "only on the present one. So all histories are equally likely."
)
_WEIGHTED_HISTORIES = (
    "Delays are independent, and the next mix of a packet depends only on the present one. So the "
    "law gives the probability of every history."
)
_OTHERS = "An attacker who knows more, such as path lengths, habits or other logs, learns more."


_OTHER_RINGS = (
    "Only the rings of this file are measured. Other rings with some of the same outputs rule out "
    "more members."
)


def warned(text: str, score: Score | None, observation: Observation) -> str:
    """A verdict, after a warning where the truth in the log says that its law is wrong."""
    if score is None or score.calibrated:
        return text
    what = "The law does" if not observation.rounded else "The law, or the rounded times, do"
    if observation.nouns == RINGS:
        what = "Weights of members do" if _weighs(observation) else "Equally likely members do"
    logs = ""
    if score.log_score is not None and math.isfinite(score.log_score):
        logs = f"; the log score is {score.log_score:.3g} bits and {score.log_expected:.3g}"
        logs += " were predicted"
    return (
        f"{what} not fit: {percent(score.right)} of the best guesses are right and "
        f"{percent(score.promised)} were predicted{logs}, so the figures do not describe this "
        f"system. {text}"
    )


def _weighs(observation: Observation) -> bool:
    """Whether members of rings were given weights."""
    return isinstance(observation, RingObservation) and bool(observation.rings.weighted)


def verdict(users: UserFigures, joint: Interval, worst: Iterable[Worst], nouns: Nouns) -> str:
    """One sentence: the entropy, that of the worst, how a typical user hides, and who does not.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.audit(am.complete(4)).verdict
    'Entropy 2 bits per user; a typical one hides among 4 behaviours; nobody is identified, the \
surest guess is 0 with 25 %.'
    """
    noun = nouns.user
    others = nouns.users if nouns.side else nouns.behaviours
    if users.present is not None:  # rows, or not to be in the release
        others = "possibilities"
    counted = users.counted
    number, identified = int(counted.sum()), int(users.alone[counted].sum())
    if not len(users.users):
        return f"There are no {nouns.users}."
    entropy = averages.mean_entropy(users, joint)
    if entropy is None:
        return _NOBODY.get(nouns, f"Nothing that came out can be any of the {nouns.users}.")
    if identified == number:
        return _EVERYBODY.get(nouns, f"Every {noun} is identified.")
    parts = [f"Entropy {in_bits(_between(entropy, 0.02))} per {noun}{_tail(users, number)}"]
    sizes = users.effective.at(counted)
    low, high = (float(np.median(end)) for end in (sizes.low, sizes.high))
    if high < 2.0 * low:
        typical = _between(Interval.between(low, high), 0.01 * high)
        parts.append(f"a typical one hides among {typical} {others}")
    if identified:
        shown = percent(identified / number)
        verb = "is" if identified == 1 else "are"
        parts.append(f"{identified:,} of {number:,} ({shown}) {verb} identified.")
        return "; ".join(parts)
    parts.append("nobody is identified")
    first = next(iter(worst), None)
    surest = averages.largest(users, users.surest)
    if first is not None and first.probability is not None and surest is not None:
        near = surest.high - surest.low < 0.001
        hundreds = Interval(*(100 * end for end in _ends(surest)))
        share = percent(surest.value) if near else f"{_between(hundreds, 0.1)} %"
        # The surest guess about a person allows for absence from the release.
        surely = first.probability_departed if users.present is None else None
        open_end = surely is not None and first.probability < surely - 0.001
        if_out = ", if it came out" if open_end else ""
        return "; ".join(parts) + f", the surest guess is {name(first.user)} with {share}{if_out}."
    return "; ".join(parts) + "."


def _tail(users: UserFigures, number: int) -> str:
    """The entropy of the worst 1 %, where that is more than one user."""
    if number < _MANY:
        return ""
    worst = averages.quantile(users, users.shannon, 0.01)
    return "" if worst is None else f" on average, {_between(worst, 0.02)} for the worst 1 %"


def _between(figure: Interval, close: float) -> str:
    if figure.high - figure.low < close:
        return f"{figure.value:.3g}"
    return f"{figure.low:.3g} to {figure.high:.3g}"


def _ends(figure: Interval) -> tuple[float, float, float]:
    return figure.value, figure.low, figure.high


def left_out(users: UserFigures, nouns: Nouns) -> tuple[str, ...]:
    """Who is not counted though no note of the log says so, and why."""
    notes = []
    censored = int(users.censored.sum())
    verb, have = ("is", "has") if censored == 1 else ("are", "have")
    uncounted = f"Such {nouns.users} are not counted as identified, and averages leave them out."
    if censored and nouns == PEOPLE:
        notes.append(
            f"{several(censored, nouns.user, nouns.users)} {verb} not in the release: no row is "
            f"compatible. {uncounted}"
        )
    elif censored:
        notes.append(
            f"{several(censored, nouns.user, nouns.users)} {verb} censored (lost, or still inside "
            f"at the end of the log) and {have} no possible departure. {uncounted}"
        )
    if users.edge is not None and bool((users.counted & users.edge).any()):
        notes.append(
            f"All {nouns.users} are near an end of the log, so averages include them. The traffic "
            "before and after the log is not observed, so the figures describe the system poorly."
        )
    return tuple(notes)


def caveats(observation: Observation, answers: Answers, scored: Score | None) -> tuple[str, ...]:
    """What every reader must know about such figures."""
    weighted = observation.graph is not None and observation.graph.weighted
    first = [_BY_RATES if links_of(answers) is not None else _WEIGHTED if weighted else _EVEN]
    network = network_of(observation)
    if network is not None:
        uniform = network.law is None and network.rates is None
        first = [_HISTORIES if uniform else _WEIGHTED_HISTORIES, _OTHERS]
    sentences = [
        *first,
        (
            "The entropy is a mean, and joint bits describe the whole system. A good average can "
            "hide a poorly protected user, so look at the worst users as well."
        ),
        (
            "An audit measures one round. Users who stay the same over many rounds lose more "
            "anonymity: 'anonymatch rounds' measures how fast."
        ),
    ]
    if observation.nouns == RINGS:
        sentences = [
            renamed(sentence, "input", "output").replace("other logs", "other data")
            for sentence in sentences[:-1]
        ]
        sentences.append(_OTHER_RINGS)
    if answers.confidence < 1.0:
        sure = percent(answers.confidence)
        sentences.append(
            f"Some figures are estimated; their intervals hold with a probability of {sure}."
        )
    if scored is not None and not scored.calibrated:
        misfit = _MISFIT if not observation.rounded else _ROUNDED_MISFIT
        if observation.nouns == RINGS:
            misfit = _WEIGHTS_MISFIT if _weighs(observation) else _EVEN_MISFIT
        sentences.insert(0, misfit)
    return tuple(sentences)
