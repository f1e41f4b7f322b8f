"""The claims of the paper, checked.

:func:`check` computes every statement anew, as printed and as corrected, and derives its verdict.
"""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
