"""The only importer of the compiled kernels: checks going in, Python values coming out.

One file per group of kernel families; the families are the folders of ``cpp/kernels``.
"""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
