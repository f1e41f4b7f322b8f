"""The command: what it needs, and what it refuses."""

from __future__ import annotations

import importlib.util
import socket
from typing import Any

import pytest

from anonymatch.cli import main


def test_without_nicegui_one_line_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find_spec = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "nicegui" else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)

    assert main(["studio"]) == 2
    assert capsys.readouterr().err == (
        "error: the studio needs NiceGUI; install it with: pip install 'anonymatch[studio]'\n"
    )


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        assert main(["studio", "--port", str(port)]) == 2

    assert capsys.readouterr().err.startswith(f"error: port {port} cannot be used: ")


@pytest.mark.parametrize("given", [["--port", "0"], ["--upload-limit", "0"], ["--port", "x"]])
def test_bad_numbers_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studio", *given]) == 2
    assert capsys.readouterr().err.count("\n") == 1
