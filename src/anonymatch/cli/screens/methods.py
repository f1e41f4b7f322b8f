"""What methods and bounds are, in the words of those who do not know their names."""

from __future__ import annotations

from anonymatch import counting

__all__ = ["SAME_DEGREES", "bound", "in_words"]

SAME_DEGREES = "for any graph with as many edges at each user and behaviour"

_METHODS = {
    "forced": ("elimination", "only one behaviour is left for each user"),
    "band in doubles": ("adding up", "as for logs by time, rounded with a proven error"),
    "proven bounds": ("bounds", "proven without counting"),
    "guided sampling": ("an estimate", "random draws guided by belief propagation"),
    "bridge sampling": ("an estimate", "guided draws held against a Markov chain"),
    "bracket": ("an estimate", "draws and a chain that hardly meet: between the two"),
    "worm chain": ("an estimate", "samples of a Markov chain over matchings"),
    "belief propagation + worm chain": ("an estimate", "messages, held against a Markov chain"),
    "Sinkhorn scaling + guided sampling": ("an estimate", "shares, held against random draws"),
    "unchecked beliefs": ("beliefs", "the budget is too small to hold them against anything"),
}

_BOUNDS = {
    "upper: Bregman, users": "any graph with as many edges at each user (Bregman)",
    "upper: Bregman, behaviours": "any graph with as many edges at each behaviour (Bregman)",
    "upper: Bregman, blocks": "as many edges in each block; those in no matching left out",
    "upper: doubly stochastic scaling": "shares on the edges that add up to 1 at everybody",
    "upper: sums of weights": "the weights of each user added up, and multiplied",
    "upper: best of each block": "the best of these in each block, put together",
    "upper: no matching": "there is no matching at all: see below",
    "lower: regular blocks (Schrijver)": "blocks where all have equally many edges (Schrijver)",
    "lower: smallest degrees (Hall)": "the fewest edges that anybody in a block has (M. Hall)",
    "lower: doubly stochastic scaling (Gurvits)": (
        "shares on the edges that add up to 1 at everybody (Gurvits)"
    ),
    "upper: Bethe with 2^(n/2)": "belief propagation, times 2 for every two (Anari, Rezaei)",
    "upper: fractional Bethe": "belief propagation with half its correction (Anari, Rezaei)",
    "lower: Bethe": "the probabilities that belief propagation gives (Gurvits)",
    "lower: best of each block": "the best of these in each block, put together",
}


def in_words(method: str) -> tuple[str, str]:
    """How a count was found, and what that means.

    Examples
    --------
    >>> in_words("closed_form")
    ('a formula', 'its blocks have forms that are known (method closed_form; see --explain)')
    """
    known = counting.exact_words(method) or _METHODS.get(method)
    if known is not None:
        return known[0], f"{known[1]} (method {method}; see --explain)"
    if " + " in method:
        several = method.replace(" + ", ", ")
        return "several ways", f"one for each kind of block ({several}; see --explain)"
    return method, "see --explain"


def bound(name: str) -> str:
    """What a bound rests on.

    Examples
    --------
    >>> bound("lower: regular blocks (Schrijver)")
    'blocks where all have equally many edges (Schrijver)'
    """
    return _BOUNDS.get(name, name)
