"""Charts that answer back: Vega-Altair made from plain numbers, for pages, notebooks and files.

Altair is imported when a chart is made, so that importing this room costs nothing.
"""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
