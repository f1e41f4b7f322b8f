"""Parts of an audit: its cost, the users that are worst off, exposures, and the score."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from anonymatch.base.interval import Interval

__all__ = [
    "Bin",
    "Campaign",
    "CampaignStep",
    "OneStep",
    "Score",
    "SystemCost",
    "Worst",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCost:
    """What the anonymity costs.

    Attributes
    ----------
    edges : int
        Pairs of a user and a behaviour that are compatible.
    candidates : float
        Mean number of behaviours that are compatible with a user.
    """

    edges: int
    candidates: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """A user who is badly off, and why.

    Attributes
    ----------
    user, guess : name
        Who, and the attacker's best guess. None if that is not known, as `probability` then is, or
        if it is that the message was lost.
    probability, probability_departed : float or None
        That the guess is right, as in the table of users; and the same given that the message
        departed, by which the worst come first. They differ only where messages may be lost.
    effective : float
        As many equally likely behaviours as the user hides among; the low end if not known.
    candidates, allowed : int
        Behaviours that fit, and those of them that fit together with everybody else's.
    reason : str
    """

    user: Hashable
    guess: Hashable | None
    probability: float | None
    probability_departed: float | None
    effective: float
    candidates: int
    allowed: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OneStep:
    """The attacker's best single exposure.

    Attributes
    ----------
    target : name
        Whose exposure leaves the fewest matchings on average.
    lost_bits : Interval
        Bits that the system loses by it: log2 of the matchings before over the expected ones left,
        a mean over all truths. The first step of a campaign is along one truth, so it may cost more
        or less.
    """

    target: Hashable
    lost_bits: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStep:
    """One exposure of several: who, and what is left of the whole system.

    ``in_doubt`` are users of the whole system who are not identified.
    """

    number: int
    target: Hashable
    bits_left: float
    in_doubt: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Exposures one after another along one truth, each the attacker's best at that moment.

    Attributes
    ----------
    steps : tuple of CampaignStep
    truth : {"given", "sampled"}
        The log's own, or one drawn from the probabilities.
    seed : int or None
    reason : str
        Why there are no steps, if there are none, or in what they fall short of that.
    """

    steps: tuple[CampaignStep, ...] = ()
    truth: str = "sampled"
    seed: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Guesses that were promised about the same probability: how many, the mean promise, and how
    it was.

    ``right`` is the share that was right.
    """

    low: float
    high: float
    guesses: int
    promised: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The attacker's best guesses against the truth in the log.

    Attributes
    ----------
    guesses : int
        Users whose truth is known.
    right : float
        Share of them whose best guess is right; among messages that left at the same time the
        guess is drawn at random.
    promised : float
        Share that the posteriors promise.
    error : float
        Standard error of the difference, if promises are kept.
    log_score : float or None
        Mean of -log2 of the probability of the true match, in bits, over the counted users whose
        true match departed; given that it departed. Infinite if a true match is impossible. None
        if probabilities are known as intervals only.
    log_expected : float or None
        Mean entropy of the same users: the value of `log_score` to expect if probabilities are
        calibrated. Compare it with ``Audit.entropy``.
    log_score_error : float or None
        One standard error of `log_score`, if probabilities are calibrated.
    calibrated : bool
        Whether both differences are within three standard errors, and no truth is impossible. The
        log score notices probabilities that are spread too wide, which best guesses do not.
    impossible : int
        Users whose true behaviour does not fit the law: the law is wrong for them.
    bins : tuple of Bin
        By the promised probability.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("window:1,5", messages=100, seed=1)
    >>> score = am.audit(am.mixes.observe(log, "window:1,5")).score
    >>> score.guesses, score.impossible, abs(score.right - score.promised) < 3 * score.error
    (100, 0, True)
    >>> abs(score.log_score - score.log_expected) < 3 * score.log_score_error
    True
    """

    guesses: int
    right: float
    promised: float
    error: float
    log_score: float | None
    log_expected: float | None
    log_score_error: float | None
    calibrated: bool
    impossible: int
    bins: tuple[Bin, ...]
