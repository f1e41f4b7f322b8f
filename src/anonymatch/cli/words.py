"""Arguments that messages name, in the words of the command line."""

from __future__ import annotations

import math

from anonymatch.base.numbers import rounded_up
from anonymatch.base.text import Argument, as_option
from anonymatch.running import Allowance

__all__ = ["option"]


def option(argument: Argument) -> str:
    """An argument that a message names, as the option that gives it.

    Examples
    --------
    >>> option(Argument("cover", 1))
    '--cover 1'
    >>> option(Argument("budget", Allowance(seconds=12.3, memory=2**31)))
    '--budget 13 --memory 2'
    """
    if isinstance(argument.value, Allowance):
        return _allowance(argument.value)
    return as_option(argument)


def _allowance(needed: Allowance) -> str:
    """A budget as options: whole seconds, and GiB."""
    seconds = [] if needed.seconds is None else [f"--budget {math.ceil(needed.seconds)}"]
    gib = [] if needed.memory is None else [f"--memory {rounded_up(needed.memory / 2**30):g}"]
    return " ".join(seconds + gib)
