"""One function a command: parse, call once, print."""

# ruff: noqa: I001  (help lists commands in the order in which they are registered)
from anonymatch.cli.commands import (
    counting,
    measuring,
    attacking,
    designing,
    checking,
    running,
    files,
)

__all__ = ["attacking", "checking", "counting", "designing", "files", "measuring", "running"]
