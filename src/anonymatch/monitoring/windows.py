"""Gauges gathered into windows that are long enough, and full enough, to tell nobody apart.

Figures are told of windows that do not overlap. Each lasts five minutes at least, and at least a
hundred packets passed the mix in it; where fewer did, it goes on. What is told of the network is
made from mixes that are told, so that the others do not follow from it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from anonymatch.base.arguments import real
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import Argument, label, quoted, several
from anonymatch.monitoring.figures import LIMITS, MixFigures, NetworkFigures, Window, coarse
from anonymatch.planning import Network
from anonymatch.reporting.gates import Gate
from anonymatch.reporting.report import AMOUNT, SHARE, Better, Figure

__all__ = ["LEAST_PACKETS", "LEAST_SECONDS", "Alarm", "Gauge", "Windows", "reports_of_lines"]

LEAST_SECONDS = LIMITS.least_seconds
LEAST_PACKETS = LIMITS.least_packets
_FEW = f"fewer than {LEAST_PACKETS} packets"
_NEEDED = ("time", "mix", "inside")
_KEYS = (*_NEEDED, "rate")


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
        return self.lag(end) > LIMITS.gaps * max((self.last.time - self.first) / (samples - 1), 1.0)

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
        if real(every, "every", high=LIMITS.longest) < LEAST_SECONDS:
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
        if not (math.isnan(gauge.inside) or 0 <= gauge.inside <= LIMITS.most_inside):
            raise InputError(f"{name}: {gauge.inside} packets cannot be inside; see what it counts")
        mix = self._mixes.get(gauge.mix)
        if mix is None:
            if len(self._mixes) == LIMITS.most_mixes:
                raise InputError(
                    f"there are more than {LIMITS.most_mixes:,} mixes; are these users or packets? "
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
            if self.alarm.wanted and (not mix.new or mix.down(end) or seconds >= LIMITS.silent):
                silent.append(f"{label(name)}: {why}")
            mix.new = False
            if seconds >= LIMITS.longest:
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
        if mix.numbers.total() < LIMITS.least_samples:
            return f"fewer than {LIMITS.least_samples} samples"
        if mix.packets(seconds, self.hop) < LEAST_PACKETS:
            known = mix.passed is not None or self.hop is not None
            return _FEW if known else f"{_FEW} that are known of"
        return ""


# ---- gauges as lines of JSON: {"time": 30, "mix": "m1", "inside": 4}, and "rate" if it is known


def reports_of_lines(stream: BinaryIO, windows: Windows) -> Iterator[Window]:
    """A report at the end of each window; time is what the lines say.

    Raises
    ------
    InputError
        If a line cannot be read, or all of them are too few for one window.
    """
    begin = end = math.nan
    told = 0
    for number, gauge in _gauges(stream):
        if math.isnan(begin):
            begin = gauge.time
        if gauge.time >= begin + windows.every:
            told += 1
            # The window ends with the line that is beyond it: none is cut short.
            yield windows.close(gauge.time)
            begin = gauge.time
        if gauge.time < begin:
            raise InputError(
                f"line {number}: time {gauge.time:.15g} is of a window that ended at "
                f"{begin:.15g}; sort the lines by time"
            )
        try:
            windows.add(gauge, begin)
        except InputError as error:
            raise InputError(f"line {number}: ", error.message) from None
        end = gauge.time if math.isnan(end) else max(end, gauge.time)
    if math.isnan(begin):
        raise InputError(
            'standard input has no lines; give {"time": 30, "mix": "m1", "inside": 4} and so on'
        )
    if not told:
        raise InputError(
            f"the lines are of {end - begin:g} s, and figures are told from {windows.every:g} s on"
        )


def _gauges(stream: BinaryIO) -> Iterator[tuple[int, Gauge]]:
    number = 0
    while line := stream.readline(LIMITS.longest_line + 1):
        number += 1
        if len(line) > LIMITS.longest_line:
            raise InputError(
                f"line {number}: more than {LIMITS.longest_line:,} bytes; a gauge is short"
            )
        if line.strip():
            yield number, _gauge(line, number)


def _gauge(line: bytes, number: int) -> Gauge:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        text = quoted(line.decode("utf-8", "replace").strip())
        raise InputError(
            f'line {number}: {text} is no JSON; give {{"time": 30, "mix": "m1", "inside": 4}}'
        ) from None
    if not isinstance(given, dict):
        raise InputError(f"line {number}: give an object with {', '.join(_NEEDED)}")
    for key in _NEEDED:
        if key not in given:
            raise InputError(f"line {number}: there is no {key!r}; give {', '.join(_NEEDED)}")
    for key in given:
        if key not in _KEYS:
            raise InputError(
                f"line {number}: {quoted(key)} is not read; give {', '.join(_NEEDED)}, and rate "
                "if it is known: nothing about single packets or users"
            )
    mix = given["mix"]
    if not isinstance(mix, str) or not 0 < len(mix) <= LIMITS.longest_name:
        letters = f"1 to {LIMITS.longest_name} letters"
        raise InputError(f"line {number}: mix must be a name of {letters}, not {quoted(mix)}")
    rate = None if given.get("rate") is None else _number(given, "rate", number)
    inside = _number(given, "inside", number)
    return Gauge(_number(given, "time", number, least=-math.inf), mix, inside, rate)


def _number(given: dict[str, Any], key: str, line: int, least: float = 0.0) -> float:
    value = given[key]
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not least <= value <= 1e15 or value < -1e15:
        span = "" if math.isinf(least) else " from 0"
        raise InputError(f"line {line}: {key} must be a number{span}, not {quoted(value)}")
    return float(value)
