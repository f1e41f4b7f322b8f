"""What each measure says, in one line, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["MEANINGS", "Meaning"]


class Meaning(NamedTuple):
    """One line for people, and the source."""

    meaning: str
    reference: str


_EDMAN = (
    "Edman, Sivrikaya, Yener. A combinatorial approach to measuring anonymity. IEEE Intelligence "
    "and Security Informatics, 2007."
)
_BAGAI = (
    "Bagai, Lu, Li, Tang. An accurate system-wide anonymity metric for probabilistic attacks. "
    "Privacy Enhancing Technologies, 2011."
)
_GIERLICHS = (
    "Gierlichs, Troncoso, Diaz, Preneel, Verbauwhede. Revisiting a combinatorial approach toward "
    "measuring anonymity. Workshop on Privacy in the Electronic Society, 2008."
)
_SERJANTOV = (
    "Serjantov, Danezis. Towards an information theoretic metric for anonymity. Privacy Enhancing "
    "Technologies, 2002."
)
_RENYI = "Clauß, Schiffner. Structuring anonymity metrics. Digital Identity Management, 2006."
_TOTH = "Tóth, Hornák, Vajda. Measuring anonymity revisited. NordSec, 2004."
_DANEZIS = (
    "Danezis. The traffic analysis of continuous-time mixes. Privacy Enhancing Technologies, 2004."
)
_MASSEY = "Massey. Guessing and entropy. Information Theory (ISIT), 1994."
_GIONIS = "Gionis, Mazza, Tassa. k-Anonymization revisited. Data Engineering (ICDE), 2008."
_CHAUM = "Chaum. The dining cryptographers problem. Journal of Cryptology 1, 1988."

MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    {
        "degree": Meaning(
            "log of the number of matchings, as a share of that if nothing were known (ln n!); "
            "0: everybody is known, 1: nothing is; weights are ignored",
            _EDMAN,
        ),
        "weighted_degree": Meaning(
            "ln per(P) / ln(n!/n^n) for weights P whose rows and columns sum to 1; ranks graphs "
            "in the opposite order of degree and cannot stand in for it",
            _EDMAN,
        ),
        "matching_entropy": Meaning(
            "entropy of the matching that happened, as a share of ln n!; with weights, what degree "
            "is without",
            _BAGAI,
        ),
        "log_rescaled": Meaning(
            "permanent of p |ln p| with p = 1/degree (weights: their share of the user's); 0 as "
            "soon as one user has a single edge; a reading of the source, not its formula",
            _BAGAI,
        ),
        "message_bits": Meaning(
            "entropy, in bits, of how many messages each sender sent to each receiver",
            _GIERLICHS,
        ),
        "message_share": Meaning(
            "the same as a share of ln t! for t messages; more matchings can leave less doubt "
            "about people",
            _GIERLICHS,
        ),
        "below": Meaning("share of users whose effective set size is below the threshold", _TOTH),
        "users.degree": Meaning("behaviours that the user may have done, taken alone", _CHAUM),
        "users.allowed": Meaning(
            "behaviours that the user does in at least one perfect matching", _GIONIS
        ),
        "users.shannon": Meaning(
            "bits that an attacker lacks on average; matchings left after exposing the user, as "
            "an average of logs, are the count less this",
            _SERJANTOV,
        ),
        "users.shannon_all": Meaning(
            "the same over all that may have become of a message: departures, lost, still inside",
            _SERJANTOV,
        ),
        "users.departed": Meaning("probability that the message came out", _SERJANTOV),
        "users.lost": Meaning("probability that the message got lost", _SERJANTOV),
        "users.inside": Meaning(
            "probability that the message was inside when the log ended", _SERJANTOV
        ),
        "users.edge": Meaning(
            "whether the message is so near to an end of the log that it is not counted", _DANEZIS
        ),
        "users.censored": Meaning(
            "whether nothing that came out can be the message: it is not counted", _DANEZIS
        ),
        "users.renyi2": Meaning(
            "collision entropy, in bits; the log of the matchings expected after exposing the user "
            "is the count's less this",
            _RENYI,
        ),
        "users.min_entropy": Meaning("bits against an attacker who guesses once", _TOTH),
        "users.effective": Meaning(
            "effective set size: 2 to the Shannon entropy, a size of evenly likely behaviours",
            _SERJANTOV,
        ),
        "users.probability": Meaning(
            "probability that the best single guess about the user is right", _TOTH
        ),
        "users.guesses": Meaning(
            "guessing entropy: guesses on average, the likeliest first, until the right one",
            _MASSEY,
        ),
        "users.guess": Meaning("the behaviour that an attacker would name", _TOTH),
    }
)
"""From the name of a measure (``users.`` for columns of the table) to its meaning."""
