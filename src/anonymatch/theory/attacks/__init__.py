"""What an attacker gains by exposing users, and which edges would help most against it."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
