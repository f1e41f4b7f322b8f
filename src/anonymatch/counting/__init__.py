"""How many perfect matchings: reduce a graph to blocks, plan, run, combine."""

from anonymatch.base.lazy import public_names

# At once: there is also a folder of the name bounds, whose import would hide the function.
from anonymatch.counting.bounds.bregman import bounds as bounds

__getattr__, __all__ = public_names(__name__, __file__)
