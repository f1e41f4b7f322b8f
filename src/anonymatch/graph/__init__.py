"""The graph: who may have done what, how graphs are made, and their files."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
