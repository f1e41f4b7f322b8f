"""How many perfect matchings: reduce a graph to blocks, plan, run, combine.

Calls that count share these options:

budget : float or Budget
    Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
method : str
    "auto" takes the cheapest method for each block; or one of ``anonymatch.METHODS`` for every
    block.
seed : int
    For estimates and draws (default 0). The same seed gives the same answer on every machine and
    on any number of threads.
executor : concurrent.futures.Executor
    Where chunks of work run. Default: threads on all usable cores.
progress : callable
    Called with the work done and the work in all, in predicted seconds.
"""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
