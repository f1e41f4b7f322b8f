"""What a count means: degrees of anonymity, and figures for each user and message."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
