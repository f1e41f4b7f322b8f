"""What to build: the best groups for a number of users and edges, and what random graphs give."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
