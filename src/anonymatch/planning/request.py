"""What a plan is asked: traffic, network, mixes to try, attacker and targets, all checked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import percent
from anonymatch.base.text import Argument, did_you_mean, several
from anonymatch.planning.strategies import FAMILIES, Strategy, strategy_named
from anonymatch.planning.tuning import TUNING

__all__ = ["Adversary", "Burst", "Network", "PlanRequest", "Targets", "Traffic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Messages come in bursts: so many on average, ``gap`` seconds from one to the next."""

    mean: float
    gap: float

    def __post_init__(self) -> None:
        real(self.mean, "burst: mean", low=1.0, high=1000.0)
        real(self.gap, "burst: gap", high=1e9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Real messages: users times rate, even or by hours of a day, in bursts, or a log of them."""

    users: int = 1000
    rate: float = 0.01
    hours: tuple[float, ...] | None = None
    burst: Burst | None = None
    arrivals: Path | None = None

    def __post_init__(self) -> None:
        whole(self.users, "users", least=1, most=10**9)
        _above_zero(self.rate, "rate")
        if self.users * self.rate > TUNING.most_rate:
            raise InputError(
                f"{self.users} users with {self.rate:g} messages a second each are "
                f"{self.users * self.rate:g} a second; plans go up to {TUNING.most_rate:g}"
            )
        if self.hours is not None:
            for value in self.hours:
                real(value, "hours", high=1e9)
            if not self.hours or not any(self.hours):
                raise InputError(Argument("hours"), " must have a number above 0")
        if sum(given is not None for given in (self.hours, self.burst, self.arrivals)) > 1:
            raise InputError("give one of hours, burst and arrivals: traffic is of one kind")

    @property
    def messages(self) -> float:
        """Real messages a second."""
        return self.users * self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Mixes in layers; ``link`` seconds on every link, which the attacker knows."""

    shape: str = "stratified"
    layers: int = 3
    width: int = 3
    link: float = 0.0

    def __post_init__(self) -> None:
        shapes = ("one", "cascade", "stratified", "free")
        if self.shape not in shapes:
            near = did_you_mean(str(self.shape), shapes)
            raise InputError(f"shape must be one of {', '.join(shapes)}, not {self.shape!r}{near}")
        whole(self.layers, "layers", least=1, most=100)
        whole(self.width, "width", least=1, most=TUNING.most_mixes)
        real(self.link, "link", high=1e9)
        if self.shape == "one" and (self.layers, self.width) != (1, 1):
            object.__setattr__(self, "layers", 1)
            object.__setattr__(self, "width", 1)
        if self.shape == "cascade":
            object.__setattr__(self, "width", 1)
        if self.mixes > TUNING.most_mixes:
            raise InputError(f"a network of {self.mixes} mixes; plans go up to {TUNING.most_mixes}")
        if self.shape == "free" and self.layers > 1 and self.width < 2:
            raise InputError("a free route needs at least 2 mixes; give free:HOPS,MIXES")

    @classmethod
    def named(cls, text: str, link: float = 0.0) -> Network:
        """From words: ``one``, ``cascade:L``, ``LxW`` or ``free:L[,MIXES]``.

        Examples
        --------
        >>> Network.named("3x5").mixes, Network.named("cascade:4").layers
        (15, 4)
        """
        given = str(text).strip().lower()
        if given == "one":
            return cls(shape="one", layers=1, width=1, link=link)
        if match := re.fullmatch(r"cascade:(\d+)", given):
            return cls(shape="cascade", layers=int(match[1]), width=1, link=link)
        if match := re.fullmatch(r"(\d+)x(\d+)", given):
            return cls(layers=int(match[1]), width=int(match[2]), link=link)
        if match := re.fullmatch(r"free:(\d+)(?:,(\d+))?", given):
            hops = int(match[1])
            return cls(shape="free", layers=hops, width=int(match[2] or 3 * hops), link=link)
        raise InputError(
            Argument("network"),
            f" must be one, cascade:LAYERS, LAYERSxWIDTH such as 3x3, or free:HOPS,MIXES, "
            f"not {text!r}; a plan sweeps widths such as 3x1,3,10 or 3x1-80",
        )

    @classmethod
    def several(cls, text: str, link: float = 0.0) -> tuple[Network, ...]:
        """Return the networks of a sweep over widths, or the one network that is fixed.

        ``3x1,3,10`` lists widths, ``3x1-80`` is a range, and ``3`` leaves the width open.

        Examples
        --------
        >>> [network.width for network in Network.several("3x1-80")]
        [1, 2, 3, 7, 12, 23, 43, 80]
        >>> [str(network) for network in Network.several("3x1,3")]
        ['3x1', '3x3']
        """
        given = str(text).strip().lower()
        if match := re.fullmatch(r"(\d+)", given):
            given = f"{match[1]}x1-{TUNING.widths}"
        match = re.fullmatch(r"(\d+)x(\d+)((?:,(?:\1x)?\d+)+|-\d+)", given)
        if match is None:
            return (cls.named(given, link),)
        layers, first, more = int(match[1]), int(match[2]), match[3]
        if more[0] == ",":
            widths = [first, *(int(width.rpartition("x")[2]) for width in more[1:].split(","))]
        else:
            last = int(more[1:])
            if not 1 <= first <= last:
                raise InputError(
                    Argument("network"), f" {text}: a range of widths goes up, such as 3x1-80"
                )
            steps = math.ceil(math.log2(last / first))
            widths = [
                round(first * (last / first) ** (k / max(steps, 1))) for k in range(steps + 1)
            ]
        chosen = tuple(dict.fromkeys(widths))
        if len(chosen) > TUNING.most_networks:
            raise InputError(
                Argument("network"),
                f" has {len(chosen)} widths; give at most {TUNING.most_networks}",
            )
        return tuple(cls(layers=layers, width=width, link=link) for width in chosen)

    @property
    def links(self) -> float:
        """Seconds that a packet spends on links."""
        return self.link * (self.layers + 1)

    @property
    def mixes(self) -> int:
        return self.width if self.shape == "free" else self.layers * self.width

    @property
    def share(self) -> float:
        """Packets through one mix for each packet through the network."""
        return self.layers / self.mixes

    def __str__(self) -> str:
        if self.shape == "free":
            return f"free:{self.layers},{self.width}"
        if self.shape == "one":
            return "one"
        return (
            f"cascade:{self.layers}" if self.shape == "cascade" else f"{self.layers}x{self.width}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """What the attacker has: some mixes, a share of the users' packets, and whether he sends.

    ``corrupt_mixes``: a number of mixes anywhere, or a number for each layer.
    """

    corrupt_mixes: int | tuple[int, ...] = 0
    corrupt_users: float = 0.0
    active: str = "none"
    view: str = "links"

    def __post_init__(self) -> None:
        if isinstance(self.corrupt_mixes, (tuple, list)):
            layers = tuple(whole(number, "corrupt_mixes") for number in self.corrupt_mixes)
            object.__setattr__(self, "corrupt_mixes", layers)
        else:
            whole(self.corrupt_mixes, "corrupt_mixes")
        if real(self.corrupt_users, "corrupt_users", high=1.0) > 0.99:
            raise InputError(Argument("corrupt_users"), " must be at most 0.99: somebody is honest")
        if self.active not in ("none", "n-1"):
            raise InputError(f"active must be none or n-1, not {self.active!r}")
        if self.view != "links":
            raise InputError(
                f"view must be links, not {self.view!r}: plans are for an attacker who sees every "
                "link; one who sees less learns less"
            )

    @property
    def in_words(self) -> str:
        """Who the attacker is."""
        words = ["sees every link"]
        bad = self.corrupt_mixes
        if isinstance(bad, tuple) and any(bad):
            words.append(f"sees inside {', '.join(map(str, bad))} mixes of the layers")
        elif bad and not isinstance(bad, tuple):
            words.append(f"sees inside {several(bad, 'mix', 'mixes')}")
        if self.corrupt_users:
            words.append(f"sends {percent(self.corrupt_users)} of the packets")
        return ", ".join(words)

    def check(self, network: Network) -> None:
        """Refuse more corrupt mixes than there are."""
        if isinstance(self.corrupt_mixes, tuple):
            if network.shape == "free" or len(self.corrupt_mixes) != network.layers:
                raise InputError(
                    Argument("corrupt_mixes"),
                    f" has {len(self.corrupt_mixes)} numbers; give one number, or one a layer of "
                    f"{network}",
                )
            most = max(self.corrupt_mixes)
            if most > network.width:
                raise InputError(
                    Argument("corrupt_mixes"),
                    f": {most} of a layer of {network.width} mixes",
                )
        elif self.corrupt_mixes > network.mixes:
            raise InputError(
                Argument("corrupt_mixes"),
                f" is {self.corrupt_mixes}, and {network} has {network.mixes} mixes",
            )

    def path_share(self, network: Network) -> float:
        """Share of messages that pass corrupt mixes only."""
        bad = self.corrupt_mixes
        if isinstance(bad, tuple):
            return math.prod(number / network.width for number in bad)
        if not bad:
            return 0.0
        total, hops = network.mixes, network.layers
        if network.shape == "free":  # no mix twice in a row, the next anywhere else
            again = max(0, bad - 1) / max(1, total - 1)
            return bad / total * again ** (hops - 1)
        # One of each layer: all placements are equally likely, so hops draw without putting back.
        return math.prod(max(0, bad - k) / (total - k) for k in range(hops))


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What a setting must reach: every one may be left out.

    The worst ``worst`` share of messages hide among ``among`` others at least; the mean delay and
    the delay of 99 % in seconds, packets for each message and the share of messages that are known
    for certain are at most so large.
    """

    worst: float = 0.01
    among: float | None = None
    mean_delay: float | None = None
    delay_99: float | None = None
    packets: float | None = None
    identified: float | None = None

    def __post_init__(self) -> None:
        if not real(self.worst, "worst", high=0.5) > 0:
            raise InputError(Argument("worst"), " must be a share above 0")
        if self.among is not None:
            real(self.among, "among", low=1.0, high=1e12)
        for name in ("mean_delay", "delay_99"):
            if getattr(self, name) is not None:
                _above_zero(getattr(self, name), name)
        if self.packets is not None:
            real(self.packets, "packets", low=1.0)
        if self.identified is not None and not real(self.identified, "identified", high=1.0) > 0:
            raise InputError(
                Argument("identified"),
                " must be above 0: a simulation of any length cannot show that nobody ever is",
            )
        if (self.mean_delay or 0.0) > (self.delay_99 or math.inf):
            raise InputError(
                f"a mean delay of {self.mean_delay:g} s is allowed and only {self.delay_99:g} s "
                "for 99 %: these contradict each other; give the mean delay at most as long"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """One plan: what goes in, checked.

    ``widths``: mixes per layer to try; empty if the width is fixed. ``client``: the system whose
    clients send at a steady pace, so that messages wait in their queue; empty if messages are sent
    at once.
    """

    traffic: Traffic = field(default_factory=Traffic)
    network: Network = field(default_factory=Network)
    laws: tuple[Strategy | str, ...] = ()
    cover: tuple[float, ...] = (0.0, 1.0, 3.0)
    adversary: Adversary = field(default_factory=Adversary)
    targets: Targets = field(default_factory=Targets)
    packet_bytes: int = 2413
    widths: tuple[int, ...] = ()
    client: str = ""

    def __post_init__(self) -> None:
        laws: tuple[Strategy | str, ...] = self.laws or tuple(FAMILIES)
        chosen = tuple(law if isinstance(law, Strategy) else strategy_named(law) for law in laws)
        object.__setattr__(self, "laws", tuple(dict.fromkeys(chosen)))
        levels = tuple(dict.fromkeys(real(c, "cover", high=TUNING.most_cover) for c in self.cover))
        if not levels:
            raise InputError(Argument("cover"), " has no level; give 0 for none")
        object.__setattr__(self, "cover", levels)
        whole(self.packet_bytes, "packet_bytes", least=1, most=10**9)
        for name, given, most in (
            ("laws", chosen, TUNING.most_settings),
            ("cover", levels, TUNING.most_settings),
            ("hours", self.traffic.hours or (), TUNING.most_hours),
        ):
            if len(given) > most:
                raise InputError(Argument(name), f" has {len(given)} values; give at most {most}")
        if self.widths and self.network.shape != "stratified":
            raise InputError(f"only layers such as 3x3 have a width to sweep, not {self.network}")
        for network in self.networks:
            self.adversary.check(network)
        self._check_client()
        link = self.network.links
        for name in ("mean_delay", "delay_99"):
            limit = getattr(self.targets, name)
            if limit is not None and limit <= link:
                raise InputError(
                    Argument(name),
                    f" is {limit:g} s, and the links alone take {link:g} s "
                    f"({self.network.layers + 1} of {self.network.link:g} s)",
                )
        packets = self.targets.packets
        if packets is not None and min(levels) + 1 > packets:
            raise InputError(
                Argument("packets"),
                f" allows {packets:g} packets a message, and the least cover needs "
                f"{min(levels) + 1:g}",
            )

    def _check_client(self) -> None:
        if not self.client:
            return
        for name in ("hours", "burst", "arrivals"):
            if getattr(self.traffic, name) is not None:
                raise InputError(
                    f"{self.client}: the wait in a client's queue is known for messages at a "
                    f"constant rate only; plan without {name}, or emit toml"
                )
        chosen = tuple(law for law in self.strategies if law.keyword == "exponential")
        if not chosen:
            laws = ", ".join(str(law) for law in self.laws)
            raise InputError(
                f"{self.client} has exponential mixes only, and the plan has {laws}; plan with "
                "exponential, or emit toml"
            )
        object.__setattr__(self, "laws", chosen)

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks to try: one for each width."""
        if not self.widths:
            return (self.network,)
        return tuple(replace(self.network, width=width) for width in self.widths)

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """Kinds of mixes to try."""
        return tuple(law for law in self.laws if isinstance(law, Strategy))

    @property
    def busiest(self) -> float:
        """The highest rate beside the mean; infinite where traffic is no Poisson process at any.

        The ceiling is that of Poisson traffic at this rate: delays are worth most in that hour.
        """
        traffic = self.traffic
        if traffic.burst is not None or traffic.arrivals is not None:
            return math.inf
        hours = traffic.hours or (1.0,)
        return max(hours) * len(hours) / sum(hours)


def _above_zero(value: float, name: str) -> None:
    if not real(value, name, high=1e12) > 0:
        raise InputError(Argument(name), f" must be above 0, not {value!r}")
