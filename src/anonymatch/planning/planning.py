"""plan(): which mix, which delay, how much cover; and what nothing can do.

Settings are screened by what nothing exceeds, tried by simulation in units that serve every level
of cover, and solved for the targets between those that were tried. The cheapest is simulated again
with seeds of its own: only that is told as reached.
"""

from __future__ import annotations

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
from anonymatch.planning.options import PlanOptions
from anonymatch.planning.request import Burst, Network, PlanRequest, Traffic
from anonymatch.planning.result import NetworkPlan
from anonymatch.planning.search import Ledger, Planner
from anonymatch.running import Budget, Execution, Progress, StagedProgress

__all__ = ["plan", "plan_request"]


def plan(
    file: str | PathLike[str] | None = None,
    options: PlanOptions | None = None,
    *,
    emit: str | None = None,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **keywords: Any,
) -> NetworkPlan:
    """The cheapest mixes, delays and cover that reach targets, confirmed by simulation.

    Parameters
    ----------
    file : path, optional
        A plan in TOML; options take the place of what it says.
    options : PlanOptions, optional
        Traffic, network, attacker and targets.
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
    **keywords
        Fields of :class:`anonymatch.planning.PlanOptions`, which explains them: ``preset``;
        ``users``, ``rate``, ``hours``, ``burst`` and ``arrivals`` of the traffic; ``network``,
        ``link``, ``laws`` and ``cover``; ``corrupt_mixes``, ``corrupt_users`` and ``active`` of
        the attacker; the targets ``worst``, ``mean_delay``, ``delay_99``, ``packets`` and
        ``identified``.

    Returns
    -------
    NetworkPlan

    Examples
    --------
    >>> found = plan(users=100, rate=0.1, network="one", laws="threshold:10", worst=(0.01, 8))
    >>> found.best.law, round(found.best.worst.value)
    ('threshold:10', 10)
    """
    wanted = replace(options or PlanOptions(), **keywords)
    request = PlanRequest() if file is None else read_request(Path(file))
    if wanted.preset is not None:
        request = preset_named(wanted.preset)
    given = _changed(request, {**vars(wanted), "emit": emit})
    try:
        log = _arrivals(given)
    except InputError as error:
        if file is None or wanted.arrivals is not None:
            raise
        raise InputError(f"{file}: arrivals: {error}") from None
    planned = _planned(given, log, seed, budget, executor, progress)
    return replace(planned, notes=(*_notes(file, wanted), *planned.notes))


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


def _notes(file: object, wanted: PlanOptions) -> tuple[Message, ...]:
    """What of the traffic was taken for want of better, if only a part of it was told."""
    if file is not None or wanted.preset is not None or wanted.arrivals is not None:
        return ()
    taken = Traffic()
    if wanted.users is None and wanted.rate is not None:
        words = f"{taken.users:,} users are taken; tell how many with "
        return (Message(words, Argument("users")),)
    if wanted.rate is None and wanted.users is not None:
        words = f"{taken.rate:g} messages a second of each user are taken; tell how many with "
        return (Message(words, Argument("rate")),)
    return ()
