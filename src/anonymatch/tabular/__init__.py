"""Tables in files, as text or JSON."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
