"""Ring signatures: files of rings and their ages."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
