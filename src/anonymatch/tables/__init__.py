"""Released tables: who may be behind which row, by every notion that has a name."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
