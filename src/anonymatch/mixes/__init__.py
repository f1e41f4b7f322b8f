"""Mix logs and networks of mixes: delay laws, readers, solvers and closed forms."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
