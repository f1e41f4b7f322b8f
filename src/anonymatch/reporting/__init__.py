"""Pictures and pages that show results: plain SVG and HTML, nothing to load."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
