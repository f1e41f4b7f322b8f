"""Plans of mix networks: which mix, which delay, how much cover, and what nothing can do."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
