"""Everything about one system in one answer: how good it is, for whom it is worst, and why."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
