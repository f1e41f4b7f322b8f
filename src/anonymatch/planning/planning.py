"""plan(): which mix, which delay, how much cover; and what nothing can do.

Settings are screened by what nothing exceeds, tried by simulation in units that serve every level
of cover, and solved for the targets between those that were tried. The cheapest is simulated again
with seeds of its own: only that is told as reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message
from anonymatch.planning.emit import LANGUAGES
from anonymatch.planning.files import preset_named, read_arrivals, read_request
from anonymatch.planning.request import Burst, Network, PlanRequest, Traffic
from anonymatch.planning.result import NetworkPlan
from anonymatch.planning.search import Ledger, Planner
from anonymatch.running import Budget, Execution, Progress, StagedProgress

__all__ = ["plan", "plan_request"]


def plan(
    file: str | PathLike[str] | None = None,
    *,
    preset: str | None = None,
    users: int | None = None,
    rate: float | None = None,
    hours: Sequence[float] | None = None,
    burst: tuple[float, float] | None = None,
    arrivals: str | PathLike[str] | None = None,
    network: str | None = None,
    link: float | None = None,
    laws: Iterable[str] | str | None = None,
    cover: Iterable[float] | float | None = None,
    corrupt_mixes: int | Sequence[int] | None = None,
    corrupt_users: float | None = None,
    active: str | None = None,
    worst: tuple[float, float] | None = None,
    mean_delay: float | None = None,
    delay_99: float | None = None,
    packets: float | None = None,
    identified: float | None = None,
    emit: str | None = None,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NetworkPlan:
    """The cheapest mixes, delays and cover that reach targets, confirmed by simulation.

    Parameters
    ----------
    file : path, optional
        A plan in TOML; other arguments take the place of what it says.
    preset : {"katzenpost", "nym", "loopix"}, optional
        Start from what that system ships.
    users, rate : int, float
        Users, and messages a second of each.
    hours : sequence of float, optional
        Relative rates by hour; the mean is ``rate``.
    burst : (mean, gap), optional
        Messages in bursts: so many on average, so many seconds apart.
    arrivals : path, optional
        A log with a column ``time`` instead: the messages themselves.
    network : str, default "3x3"
        ``one``, ``cascade:L``, ``LxW`` such as ``3x3``, or ``free:L,MIXES``: routes that end after
        each hop with the probability 1/L. Widths are swept if several are given: ``3x1,3,10``, the
        range ``3x1-80``, or ``3`` for three layers of any width up to 80.
    link : float
        Seconds on every link.
    laws : names
        Kinds of mixes to try, such as ``("exponential", "pool")``, or laws with their parameters,
        such as ``"pool:2,4"``. All kinds unless told.
    cover : numbers
        Cover packets for each message, from end to end.
    corrupt_mixes : int, or one number a layer
        Mixes that the attacker has: anywhere, or so many in each layer.
    corrupt_users : float
        Share of all packets that the attacker sends and knows.
    active : {"none", "n-1"}
        Whether the attacker may also send and block: what that costs is said of every setting.
    worst : (share, among), optional
        The worst share of messages hide among at least so many.
    mean_delay, delay_99 : float, optional
        Seconds at most, on average and for 99 % of messages.
    packets : float, optional
        Packets for each message at most.
    identified : float, optional
        Share of messages that are known for certain, at most.
    emit : {"katzenpost", "nym"}, optional
        Plan for clients of that system, which send at a steady pace. The mean delay then includes
        the wait in the client's queue, and the decoys of an empty queue count as cover.
    seed : int
        Of simulations; the same seed gives the same plan.
    budget : float or Budget, optional
        Seconds of one core that simulations may take, or a Budget with memory.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.

    Returns
    -------
    NetworkPlan

    Examples
    --------
    >>> found = plan(users=100, rate=0.1, network="one", laws="threshold:10", worst=(0.01, 8))
    >>> found.best.law, round(found.best.worst.value)
    ('threshold:10', 10)
    """
    request = PlanRequest() if file is None else read_request(Path(file))
    if preset is not None:
        request = preset_named(preset)
    given = _changed(
        request,
        {
            "users": users,
            "rate": rate,
            "hours": hours,
            "burst": burst,
            "arrivals": arrivals,
            "network": network,
            "link": link,
            "laws": laws,
            "cover": cover,
            "corrupt_mixes": corrupt_mixes,
            "corrupt_users": corrupt_users,
            "active": active,
            "worst": worst,
            "mean_delay": mean_delay,
            "delay_99": delay_99,
            "packets": packets,
            "identified": identified,
            "emit": emit,
        },
    )
    try:
        log = _arrivals(given)
    except InputError as error:
        if file is None or arrivals is not None:
            raise
        raise InputError(f"{file}: arrivals: {error}") from None
    planned = _planned(given, log, seed, budget, executor, progress)
    return replace(planned, notes=(*_notes(file, preset, users, rate, arrivals), *planned.notes))


def _pair(value: Any, name: str, wanted: str) -> tuple[Any, Any]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise InputError(Argument(name), f" must be {wanted}, not {value!r}") from None
    return first, second


def _changed(request: PlanRequest, given: dict[str, Any]) -> PlanRequest:
    """Return the request with the given arguments in place of its own."""
    values = {name: value for name, value in given.items() if value is not None}
    if "hours" in values:
        values["hours"] = tuple(values["hours"])
    if "burst" in values:
        mean, gap = _pair(values["burst"], "burst", "a number and seconds, such as (5, 0.2)")
        values["burst"] = Burst(mean=mean, gap=gap)
    if "arrivals" in values:
        values["arrivals"] = Path(values["arrivals"])
    if isinstance(values.get("corrupt_mixes"), list):
        values["corrupt_mixes"] = tuple(values["corrupt_mixes"])
    if "worst" in values:
        wanted = "a share and a number such as (0.01, 20)"
        values["worst"], values["among"] = _pair(values["worst"], "worst", wanted)
    parts: dict[str, Any] = {}
    for part in ("traffic", "adversary", "targets"):
        old = getattr(request, part)
        own = {each.name: values[each.name] for each in fields(old) if each.name in values}
        if own:
            parts[part] = replace(old, **own)
    if "network" in values:
        networks = Network.several(values["network"], request.network.link)
        parts["network"] = networks[0]
        parts["widths"] = tuple(one.width for one in networks) if len(networks) > 1 else ()
    if "link" in values:
        parts["network"] = replace(parts.get("network", request.network), link=values["link"])
    if "laws" in values:
        laws = values["laws"]
        parts["laws"] = tuple([laws] if isinstance(laws, str) else laws)
    if "cover" in values:
        cover = values["cover"]
        parts["cover"] = (cover,) if isinstance(cover, (int, float)) else tuple(cover)
    emit = values.get("emit", "toml")
    if emit not in LANGUAGES:
        raise InputError(Argument("emit"), f" must be {', '.join(LANGUAGES)}, not {emit!r}")
    if emit != "toml":
        parts["client"] = emit
    return replace(request, **parts) if parts else request


def plan_request(
    request: PlanRequest,
    *,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NetworkPlan:
    """:func:`plan` for a request that was made before."""
    return _planned(request, _arrivals(request), seed, budget, executor, progress)


def _arrivals(request: PlanRequest) -> Floats:
    path = request.traffic.arrivals
    return np.empty(0) if path is None else read_arrivals(path)


def _planned(
    request: PlanRequest,
    log: Floats,
    seed: int,
    budget: Budget | float | None,
    executor: Executor | None,
    progress: Progress | None,
) -> NetworkPlan:
    # Confirmations that nobody foresaw make the work longer; the share done never falls.
    bar = StagedProgress(progress, 0.0)
    execution = Execution(executor=executor, progress=bar.stage())
    ledger = Ledger(Budget.of(budget), execution)
    plan = Planner(request, log, whole(seed, "seed"), ledger).plan()
    bar.finish()
    return plan


def _notes(
    file: object, preset: object, users: int | None, rate: float | None, arrivals: object
) -> tuple[Message, ...]:
    """What of the traffic was taken for want of better, if only a part of it was told."""
    if file is not None or preset is not None or arrivals is not None:
        return ()
    taken = Traffic()
    if users is None and rate is not None:
        words = f"{taken.users:,} users are taken; tell how many with "
        return (Message(words, Argument("users")),)
    if rate is None and users is not None:
        words = f"{taken.rate:g} messages a second of each user are taken; tell how many with "
        return (Message(words, Argument("rate")),)
    return ()
