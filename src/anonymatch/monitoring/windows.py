"""Gauges gathered into windows that are long enough, and full enough, to tell nobody apart.

Figures are told of windows that do not overlap. Each lasts five minutes at least, and at least a
hundred packets passed the mix in it; where fewer did, it goes on. What is told of the network is
made from mixes that are told, so that the others do not follow from it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from anonymatch.base.arguments import real
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import Argument, label, several
from anonymatch.monitoring.figures import MixFigures, NetworkFigures, Window, coarse
from anonymatch.planning import Network
from anonymatch.reporting.gates import Gate
from anonymatch.reporting.report import AMOUNT, SHARE, Better, Figure

__all__ = ["LEAST_PACKETS", "LEAST_SECONDS", "MOST_INSIDE", "Alarm", "Gauge", "Windows"]

LEAST_SECONDS = 300.0
LEAST_PACKETS = 100
_LEAST_SAMPLES = 5  # from which on they say how numbers are spread
_SILENT = 3600.0  # seconds without figures that are worth an alarm
_GAPS = 3  # times the usual time between samples after which a mix is taken to be down
_LONGEST = 86400.0  # seconds; what is older is forgotten
_MOST_MIXES = 10_000
_FEW = f"fewer than {LEAST_PACKETS} packets"
MOST_INSIDE = 1e9 - 1


class Gauge(NamedTuple):
    """So many packets were inside a mix at that time; ``rate``: packets a second, if known."""

    time: float
    mix: str
    inside: float
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Targets: own bits at least, and the probability of meeting nobody at most.

    ``bits`` is for the network where there is one, else for each mix; ``alone`` for each mix.
    """

    bits: float | None = None
    alone: float | None = None

    def __post_init__(self) -> None:
        if self.bits is not None:
            real(self.bits, "alarm")
        if self.alone is not None:
            real(self.alone, "alarm_alone", high=1.0)

    @property
    def wanted(self) -> bool:
        return self.bits is not None or self.alone is not None

    def missed(self, mixes: tuple[MixFigures, ...], network: NetworkFigures | None) -> list[str]:
        """A line for each target that the figures, as they are told, miss."""
        gates = []
        if self.bits is not None:
            named = (
                [(label(one.mix), one.bits) for one in mixes]
                if network is None
                else [(f"network {network.network}", network.bits)]
            )
            limit = f"own bits, and {amount(self.bits)} are asked"
            gates += [_gate(name, bits, self.bits, limit, at_most=False) for name, bits in named]
        if self.alone is not None:
            limit = f"of packets meet nobody, and at most {percent(self.alone)} may"
            gates += [
                _gate(label(one.mix), one.alone, self.alone, limit, at_most=True) for one in mixes
            ]
        return [
            f"{gate.figure.title}: {gate.figure.text} {gate.figure.meaning}"
            for gate in gates
            if not gate.passed
        ]


def _gate(mix: str, value: float, threshold: float, meaning: str, *, at_most: bool) -> Gate:
    figure = Figure(
        key="alone" if at_most else "bits",
        title=mix,
        value=Interval(value, value, value),
        unit=SHARE if at_most else AMOUNT,
        meaning=meaning,
        better=Better.LOWER if at_most else Better.HIGHER,
    )
    return Gate(figure=figure, threshold=threshold)


class _Mix:
    """What was seen of one mix since its figures were last told."""

    __slots__ = ("first", "last", "new", "numbers", "passed", "rises", "since", "unknown")

    def __init__(self, since: float) -> None:
        self.since = since
        self.last: Gauge | None = None
        self.clear(since)

    def clear(self, since: float) -> None:
        """Begin a window."""
        self.since = since
        self.numbers: Counter[float] = Counter()
        self.rises = 0.0
        self.passed: float | None = None
        self.new = False
        self.first = math.nan  # time of the first sample
        self.unknown = False  # whether the latest sample is NaN

    def add(self, gauge: Gauge) -> None:
        self.unknown = math.isnan(gauge.inside)
        if self.unknown:
            return
        if not self.numbers:
            self.first = gauge.time
        before = self.last
        # Those inside at first, and every rise: so many different packets at least.
        least = before.inside if before is not None and self.numbers else 0.0
        self.rises += max(0.0, gauge.inside - least)
        if gauge.rate is not None:
            gap = 0.0 if before is None else gauge.time - max(before.time, self.since)
            self.passed = (self.passed or 0.0) + gauge.rate * max(gap, 0.0)
        self.numbers[gauge.inside] += 1
        self.last = gauge
        self.new = True

    def mean(self) -> float:
        return sum(n * times for n, times in self.numbers.items()) / self.numbers.total()

    def lag(self, end: float) -> float:
        """Seconds since its latest sample."""
        return math.inf if self.last is None else end - self.last.time

    def down(self, end: float) -> bool:
        """Whether samples have stopped, by the usual time between them."""
        samples = self.numbers.total()
        if self.last is None or not samples:
            return False
        if samples == 1:
            return self.lag(end) > LEAST_SECONDS / 2
        return self.lag(end) > _GAPS * max((self.last.time - self.first) / (samples - 1), 1.0)

    def packets(self, seconds: float, hop: float | None) -> float:
        """That passed in so many seconds: by the rate, by Little's law, or at least."""
        if self.passed is not None:
            return self.passed
        if hop is not None:
            return self.mean() * seconds / hop
        return self.rises


class Windows:
    """Gathers gauges, and tells figures of them.

    Parameters
    ----------
    every : float
        Seconds of a window, at least `LEAST_SECONDS`.
    network : Network, optional
        Tell the network's figures, too.
    hop : float, optional
        Mean delay of a mix in seconds: how many packets passed follows from it.
    alarm : Alarm, optional
    """

    def __init__(
        self,
        *,
        every: float = LEAST_SECONDS,
        network: Network | None = None,
        hop: float | None = None,
        alarm: Alarm | None = None,
    ) -> None:
        if real(every, "every", high=_LONGEST) < LEAST_SECONDS:
            raise InputError(
                Argument("every"),
                f" must be at least {LEAST_SECONDS:g} s, not {every:g}: figures of shorter windows "
                "tell single packets",
            )
        if network is not None and network.shape == "free":
            raise InputError(
                Argument("network"),
                f" {network}: free routes have no closed form; give LAYERSxWIDTH, cascade:LAYERS "
                "or one",
            )
        if hop is not None and real(hop, "hop", high=1e9) == 0:
            raise InputError(Argument("hop"), " must be above 0 s")
        self.every, self.network, self.hop = float(every), network, hop
        self.alarm = Alarm() if alarm is None else alarm
        self._mixes: dict[str, _Mix] = {}

    def add(self, gauge: Gauge, begin: float) -> None:
        """Take a sample of the window that began then; an earlier one shows that a mix was there.

        A gauge of NaN shows that the mix is there, and not how many packets are inside.

        Raises
        ------
        InputError
            If it is no number of packets, or goes back in time.
        """
        name = label(gauge.mix)
        if not (math.isnan(gauge.inside) or 0 <= gauge.inside <= MOST_INSIDE):
            raise InputError(f"{name}: {gauge.inside} packets cannot be inside; see what it counts")
        mix = self._mixes.get(gauge.mix)
        if mix is None:
            if len(self._mixes) == _MOST_MIXES:
                raise InputError(
                    f"there are more than {_MOST_MIXES:,} mixes; are these users or packets? "
                    "Such series are not read"
                )
            mix = self._mixes[gauge.mix] = _Mix(max(begin, gauge.time))
        if mix.last is not None and gauge.time < mix.last.time:
            raise InputError(
                f"{name}: time goes back from {mix.last.time:.15g} to {gauge.time:.15g}; sort the "
                "samples by time"
            )
        if gauge.time >= begin:
            mix.add(gauge)

    def passed(self, mix: str, packets: float) -> None:
        """So many packets passed in this window, where that is known for all of it."""
        known = self._mixes.get(mix)
        if known is not None and packets >= 0:
            known.passed = (known.passed or 0.0) + packets

    def close(self, end: float) -> Window:
        """End the window and tell what can be told."""
        told: list[MixFigures] = []
        means: list[float] = []
        withheld: dict[str, str] = {}
        silent: list[str] = []
        alive, lag = 0, 0.0
        for name, mix in self._mixes.items():
            seconds = end - mix.since
            why = self._withheld(mix, seconds, end)
            alive += mix.new and not mix.unknown and not mix.down(end)
            if not why:
                lag = max(lag, mix.lag(end))
                told.append(MixFigures.of(name, round(seconds), mix.numbers))
                means.append(mix.mean())
                mix.clear(end)
                continue
            withheld[name] = why
            if why.startswith(_FEW):  # in the network it counts as empty, which says nothing of it
                means.append(0.0)
            if self.alarm.wanted and (not mix.new or mix.down(end) or seconds >= _SILENT):
                silent.append(f"{label(name)}: {why}")
            mix.new = False
            if seconds >= _LONGEST:
                mix.clear(end)
        network = None
        if self.network is not None and told:
            network = NetworkFigures.of(self.network, means)
        mixes = tuple(told)
        if self.network is not None and alive != self.network.mixes:
            silent.append(
                f"network {self.network} has {several(self.network.mixes, 'mix', 'mixes')}, and "
                f"{alive} {'gives' if alive == 1 else 'give'} samples"
            )
        return Window(
            time=end,
            mixes=mixes,
            withheld=withheld,
            network=network,
            alarms=(*self.alarm.missed(mixes, network), *silent),
            lag=coarse(lag),
        )

    def _withheld(self, mix: _Mix, seconds: float, end: float) -> str:
        """Why nothing is told of it; "" if something is."""
        if mix.unknown:
            return "its gauge is NaN"
        if not mix.new:
            return "no samples"
        if mix.down(end):
            return f"no samples for the last {amount(coarse(mix.lag(end)))} s"
        if seconds < LEAST_SECONDS or math.isnan(seconds):
            return f"watched for less than {LEAST_SECONDS:g} s"
        if mix.numbers.total() < _LEAST_SAMPLES:
            return f"fewer than {_LEAST_SAMPLES} samples"
        if mix.packets(seconds, self.hop) < LEAST_PACKETS:
            known = mix.passed is not None or self.hop is not None
            return _FEW if known else f"{_FEW} that are known of"
        return ""
