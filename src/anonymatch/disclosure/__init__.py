"""Users who stay the same over rounds: who writes to whom, and when that is known."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
