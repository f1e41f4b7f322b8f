"""A setting as other systems write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean

if TYPE_CHECKING:
    from anonymatch.plans.result import Setting

__all__ = ["LANGUAGES", "emitted"]

LANGUAGES = ("katzenpost", "nym", "toml")


def emitted(language: str, setting: Setting) -> str:
    """The setting in the words of that system."""
    if language not in LANGUAGES:
        near = did_you_mean(language, LANGUAGES)
        raise InputError(f"emit must be {', '.join(LANGUAGES)}, not {language!r}{near}")
    if language == "toml":
        return _toml(setting)
    if setting.kind != "exponential":
        raise InputError(
            f"{language} has exponential mixes only, and the setting is {setting.law}; plan with "
            "exponential alone, or write it as toml"
        )
    return _katzenpost(setting) if language == "katzenpost" else _nym(setting)


def _katzenpost(setting: Setting) -> str:
    """Rates in events a millisecond, as its authorities publish them."""
    hop = setting.parameters["mean"]
    rate = setting.request.traffic.rate / 1000
    values = {"Mu": 1 / (1000 * hop), "LambdaP": rate, "LambdaL": rate * setting.cover}
    flags = " ".join(f"--{name} {_number(value)}" for name, value in values.items())
    lines = [
        "[Parameters]",
        *(f"  {name} = {_number(value)}" for name, value in values.items()),
        "",
        "# tools/mixnet-params: the same as flags",
        f"# {flags}",
    ]
    return "\n".join(lines) + "\n"


def _nym(setting: Setting) -> str:
    """Delays and streams of a client; cover is its loop traffic."""
    hop = setting.parameters["mean"]
    every = 1 / setting.request.traffic.rate
    lines = [
        "[debug.traffic]",
        f'average_packet_delay = "{_milliseconds(hop)}"',
        f'message_sending_average_delay = "{_milliseconds(every)}"',
    ]
    cover = ["", "[debug.cover_traffic]"]
    if setting.cover:
        cover.append(f'loop_cover_traffic_average_delay = "{_milliseconds(every / setting.cover)}"')
    else:
        cover.append("disable_loop_cover_traffic_stream = true")
    return "\n".join([*lines, *cover]) + "\n"


def _milliseconds(seconds: float) -> str:
    return f"{_number(1000 * seconds)}ms"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _toml(setting: Setting) -> str:
    from anonymatch.plans.toml_file import request_as_toml

    request = setting.request.with_(laws=(setting.law,), cover=(setting.cover,))
    return request_as_toml(request)
