"""Whether libraries fit under a limit on addresses: beyond it they end the process in their way."""

import os

__all__ = ["GIB", "limit", "shortage"]

GIB = 2**30


def limit() -> float:
    """Bytes of addresses that this process may use (ulimit -v); infinite without a limit."""
    try:
        import resource
    except ImportError:  # a system that has no such limits
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if soft == resource.RLIM_INFINITY else float(soft)


def shortage(what: str, fixed: float, each: float) -> str:
    """What is said if the limit is below ``fixed`` and ``each`` for every core, in GiB; else "".

    Libraries reserve addresses for each thread that they start: far more than memory that is used.

    Examples
    --------
    >>> shortage("this", 0.0, 0.0)
    ''
    """
    needed = fixed + each * (os.cpu_count() or 1)
    allowed = limit() / GIB
    if allowed >= needed:
        return ""
    return (
        f"{what} takes {needed:.1f} GiB of addresses on this machine, and the limit is "
        f"{allowed:.2g} GiB; raise it with 'ulimit -v {int(needed * 2**20)}', or take it away"
    )
