"""Plans as files: one TOML file is one plan, what known systems ship, and logs of arrivals."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.planning.request import Adversary, Burst, Network, PlanRequest, Targets, Traffic
from anonymatch.planning.tuning import TUNING
from anonymatch.tabular import Source, reading

__all__ = ["PRESETS", "preset_named", "read_arrivals", "read_request", "request_as_toml"]

_KEYS: dict[str, tuple[str, ...]] = {
    "traffic": ("users", "rate", "arrivals", "hours", "burst"),
    "network": ("shape", "layers", "width", "link"),
    "strategy": ("law", "cover"),
    "adversary": ("view", "corrupt_mixes", "corrupt_users", "active"),
    "target": ("worst", "among", "mean_delay", "delay_99", "packets", "identified"),
    "cost": ("packet_bytes",),
}


def read_request(path: Path) -> PlanRequest:
    """The plan of a file; what is not told there is as without a file."""
    with reading(path):
        if path.stat().st_size > TUNING.largest_file:
            raise InputError("a plan has less than 64 kB; is this one?")
        text = Source(path, packed=False).text()
        if not text.strip():
            raise InputError("it is empty; a plan has tables, such as [traffic]")
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise InputError(f"{path}: this is no TOML: {error}") from None
    try:
        return _request(tables, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _request(tables: dict[str, Any], folder: Path) -> PlanRequest:
    for name, table in tables.items():
        _known(name, _KEYS, "table")
        if not isinstance(table, dict):
            raise InputError(f"[{name}] must be a table of keys")
        for key in table:
            _known(key, _KEYS[name], f"key of [{name}]")
    parts = {name: dict(tables.get(name, {})) for name in _KEYS}
    traffic = parts["traffic"]
    if "hours" in traffic:
        traffic["hours"] = tuple(_list(traffic["hours"], "hours"))
    if "burst" in traffic:
        burst = traffic["burst"]
        if not isinstance(burst, dict) or set(burst) != {"mean", "gap"}:
            raise InputError("burst must be {mean = NUMBER, gap = SECONDS}")
        traffic["burst"] = Burst(**burst)
    if "arrivals" in traffic:
        traffic["arrivals"] = folder / str(traffic["arrivals"])
    strategy = parts["strategy"]
    more: dict[str, Any] = {}
    if "law" in strategy:
        more["laws"] = tuple(str(law) for law in _list(strategy["law"], "law"))
    if "cover" in strategy:
        more["cover"] = tuple(_list(strategy["cover"], "cover"))
    if isinstance(width := parts["network"].get("width"), list):
        if not width:
            raise InputError("width must be a number, or a list of numbers")
        more["widths"] = tuple(width)
        parts["network"]["width"] = width[0]
    adversary = parts["adversary"]
    if isinstance(adversary.get("corrupt_mixes"), list):
        adversary["corrupt_mixes"] = tuple(adversary["corrupt_mixes"])
    return PlanRequest(
        traffic=Traffic(**traffic),
        network=Network(**parts["network"]),
        adversary=Adversary(**adversary),
        targets=Targets(**parts["target"]),
        **more,
        **parts["cost"],
    )


def _known(name: str, names: Any, what: str) -> None:
    if name not in names:
        known = ", ".join(names)
        raise InputError(f"{name!r} is no {what}; use {known}{did_you_mean(name, tuple(names))}")


def _list(value: object, name: str) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def request_as_toml(request: PlanRequest) -> str:
    """A file that :func:`read_request` reads as this request."""
    tables: dict[str, dict[str, object]] = {
        "traffic": _told(request.traffic),
        "network": _told(request.network),
        "strategy": {"law": [str(law) for law in request.laws], "cover": list(request.cover)},
        "adversary": _told(request.adversary),
        "target": _told(request.targets),
        "cost": {"packet_bytes": request.packet_bytes},
    }
    if request.widths:
        tables["network"]["width"] = list(request.widths)
    return "\n".join(
        "\n".join([f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items()), ""])
        for name, table in tables.items()
    )


def _told(part: Any) -> dict[str, object]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


def _value(value: object) -> str:
    if isinstance(value, Burst):
        return f"{{mean = {_value(value.mean)}, gap = {_value(value.gap)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


# ---- what known systems ship; docs/planning.md has the sources

# Katzenpost, authority/voting/server/config/config.go: Mu = LambdaP = LambdaL = .00025 a ms.
# Nym, common/client-core/config-types/src/lib.rs: 15 ms a hop, 20 ms a message, 200 ms a loop.
# Loopix, config.json of its prototype: payload, loop and drop streams alike, a delay of 1 ms.
_SYSTEMS: dict[str, tuple[float, float, str, float, int]] = {
    # messages a second of a client, cover packets a message, network, seconds a hop, bytes
    "katzenpost": (0.25, 1.0, "3x3", 4.0, 3082),
    "nym": (50.0, 0.1, "3x80", 0.015, 2413),
    "loopix": (2.0, 2.0, "3x3", 0.001, 2413),
}
PRESETS = tuple(_SYSTEMS)


def preset_named(name: str) -> PlanRequest:
    """That system's defaults with 100 clients.

    Examples
    --------
    >>> preset_named("katzenpost").laws[0].parameters
    (4.0,)
    """
    if name not in _SYSTEMS:
        near = did_you_mean(str(name), PRESETS)
        raise InputError(f"preset must be {', '.join(PRESETS)}, not {name!r}{near}")
    rate, cover, network, hop, size = _SYSTEMS[name]
    return PlanRequest(
        traffic=Traffic(users=100, rate=rate),
        network=Network.named(network),
        laws=(f"exponential:{hop:g}",),
        cover=(cover,),
        packet_bytes=size,
    )


# ---- logs of arrivals


def read_arrivals(path: Path) -> Floats:
    """Return the times of a table with a column ``time``, in order."""
    from anonymatch.tabular import DIRECTION, TIME, Columns, read_table  # polars is long to load

    table = read_table(path, Columns(TIME._replace(required=True), DIRECTION))
    direction = table.column("direction")
    if direction is not None:
        table = table.at((direction == "in").fill_null(value=False).arg_true())
    times = np.sort(table.numbers("time"))
    if len(times) < TUNING.least_arrivals or times[-1] <= times[0]:
        least = TUNING.least_arrivals
        raise InputError(f"{path}: a plan needs at least {least} arrivals at different times")
    return times
