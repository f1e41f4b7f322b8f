"""What known systems ship, as plans to start from; docs/planning.md has their sources."""

from __future__ import annotations

from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.planning.request import Network, PlanRequest, Traffic

__all__ = ["PRESETS", "preset_named"]

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
