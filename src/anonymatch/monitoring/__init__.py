"""Anonymity of mixes that run: from how many packets are inside them, coarse enough to be told."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
