"""Long work: how much is allowed, where it runs, how it is cancelled, recorded and sent away."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
