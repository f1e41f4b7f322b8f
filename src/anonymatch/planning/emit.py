"""A setting as other systems write it."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import did_you_mean
from anonymatch.planning.files import request_as_toml
from anonymatch.planning.tuning import TUNING

if TYPE_CHECKING:
    from anonymatch.planning.result import Setting

__all__ = ["LANGUAGES", "ClientStream", "client_stream", "emitted"]

LANGUAGES = ("katzenpost", "nym", "toml")


class ClientStream(NamedTuple):
    """What a client sends per second: a payload stream and loops.

    At every tick of the payload stream, a Poisson process, the client sends the next message of its
    queue, or a decoy if the queue is empty. ``queue_delay`` is the mean wait of a message: that of
    an M/M/1 queue with its service.
    """

    payload: float
    loops: float
    queue_delay: float

    @property
    def packets(self) -> float:
        """Packets per second of one client."""
        return self.payload + self.loops


def client_stream(
    rate: float, packets: float, network: float, limit: float | None, language: str = ""
) -> ClientStream:
    """Return the stream with the smallest payload rate that keeps queue plus network in the limit.

    Without a limit, or if the network alone exceeds it, the queue has a load of 0.5.

    Parameters
    ----------
    rate, packets : float
        Messages per second of a client, and all its packets by the plan.
    network, limit : float
        Mean delay of the network, and what is allowed for queue and network together.

    Examples
    --------
    >>> client_stream(0.01, 0.04, 1.5, 2.0)
    ClientStream(payload=2.01, loops=0.0, queue_delay=0.5)
    >>> client_stream(0.01, 0.04, 1.5, None)
    ClientStream(payload=0.02, loops=0.02, queue_delay=100.0)
    """
    if limit is None or network >= limit:
        payload, wait = rate / TUNING.load, TUNING.load / rate / (1 - TUNING.load)
    else:
        wait = limit - network
        payload = rate + 1 / wait
    loops = TUNING.katzenpost_loops * payload if language == "katzenpost" else 0.0
    return ClientStream(payload, max(packets - payload, loops), wait)


def emitted(language: str, setting: Setting) -> str:
    """Return the setting in the configuration language of that system."""
    if language not in LANGUAGES:
        near = did_you_mean(language, LANGUAGES)
        raise InputError(f"emit must be {', '.join(LANGUAGES)}, not {language!r}{near}")
    if language == "toml":
        request = replace(setting.request, laws=(setting.law,), cover=(setting.cover,))
        return request_as_toml(request)
    if setting.kind != "exponential":
        raise InputError(
            f"{language} has exponential mixes only, and the setting is {setting.law}; plan with "
            "exponential alone, or write it as toml"
        )
    stream = setting.client(language)
    if stream is None:
        raise InputError(
            f"{language}: the wait in a client's queue is known for messages at a constant rate "
            "only; plan without hours, burst and arrivals, or emit toml"
        )
    return (_katzenpost if language == "katzenpost" else _nym)(setting, stream)


def _katzenpost(setting: Setting, stream: ClientStream) -> str:
    """Rates in events per millisecond, as its authorities publish them."""
    hop = setting.parameters["mean"]
    loops = (
        "Loop decoys of every client. Katzenpost reads 0 as its default, so this is 5 % of LambdaP "
        "at least."
    )
    values = {
        "Mu": (1 / (1000 * hop), _hop_words(setting)),
        "LambdaP": (stream.payload / 1000, _payload_words(setting, stream, "LambdaP")),
        "LambdaL": (stream.loops / 1000, [loops]),
    }
    lines = [
        *_comment("Rates are events per millisecond.", *_total_words(setting, stream), indent=""),
        "[Parameters]",
    ]
    for name, (value, words) in values.items():
        lines += [*_comment(*words), f"  {name} = {value:.6g}"]
    flags = " ".join(f"--{name} {value:.6g}" for name, (value, _) in values.items())
    lines += ["", "# tools/mixnet-params: the same as flags", f"# {flags}"]
    return "\n".join(lines) + "\n"


def _nym(setting: Setting, stream: ClientStream) -> str:
    """Delays and streams of a client; loops are its cover traffic."""
    name = "message_sending_average_delay"
    lines = [
        *_comment(*_total_words(setting, stream), indent=""),
        "[debug.traffic]",
        *_comment(*_hop_words(setting), indent=""),
        f'average_packet_delay = "{_duration(setting.parameters["mean"])}"',
        *_comment(*_payload_words(setting, stream, f"1/{name}"), indent=""),
        f'{name} = "{_duration(1 / stream.payload)}"',
        "",
        "[debug.cover_traffic]",
    ]
    if stream.loops > 1e-9 * stream.payload:
        words = f"Loop decoys: {amount(stream.loops)} per second and client."
        lines += [
            *_comment(words, indent=""),
            f'loop_cover_traffic_average_delay = "{_duration(1 / stream.loops)}"',
        ]
    else:
        words = "The decoys of the payload stream are all the cover that the plan counts."
        lines += [*_comment(words, indent=""), "disable_loop_cover_traffic_stream = true"]
    return "\n".join(lines) + "\n"


def _hop_words(setting: Setting) -> list[str]:
    hop, network = setting.parameters["mean"], setting.request.network
    return [
        f"Mean delay per hop: {amount(hop)} s.",
        f"A packet is in the network {network} for {amount(setting.network_delay)} s on average.",
    ]


def _payload_words(setting: Setting, stream: ClientStream, name: str) -> list[str]:
    rate = setting.request.traffic.rate
    limit = setting.request.targets.mean_delay
    if limit is None:
        why = "No mean delay was asked, so the load is 0.5."
    elif setting.network_delay >= limit:
        why = f"The network alone takes longer than the {amount(limit)} s asked; the load is 0.5."
    else:
        why = f"This is the smallest rate that keeps queue plus network within {amount(limit)} s."
    wait = f"1/({name} - {amount(rate)}/s) = {amount(stream.queue_delay)} s"
    return [
        f"Payload stream of every client: {amount(stream.payload)} packets per second.",
        "Each is the next message of the queue, or a decoy if the queue is empty.",
        f"Messages come at {amount(rate)} per second: a load of {amount(rate / stream.payload)}.",
        f"The mean wait of a message in the client's queue is {wait}.",
        why,
    ]


def _total_words(setting: Setting, stream: ClientStream) -> list[str]:
    packets = stream.packets / setting.request.traffic.rate
    share = percent(setting.request.targets.worst)
    worst = f"{amount(setting.worst.value)} (at least {amount(setting.worst.low)})"
    words = (
        f"Every client sends {amount(packets)} packets per message: the message, decoys of the "
        f"payload stream and loops. The worst {share} of messages have an effective anonymity set "
        f"of {worst}; the attacker {setting.attacker}."
    )
    more = (
        f"That was simulated with {amount(setting.packets)} packets per message, and this client "
        "sends more."
    )
    return [words, more] if packets > setting.packets * (1 + 1e-6) else [words]


def _comment(*sentences: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        " ".join(sentences), 96, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
    )


def _duration(seconds: float) -> str:
    """Whole milliseconds, or else microseconds or nanoseconds: Nym reads whole numbers only."""
    for unit, each in (("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        value = round(seconds * each)
        if math.isclose(value, seconds * each, rel_tol=1e-6) or unit == "ns":
            return f"{value}{unit}"
    raise AssertionError
