"""One function a command: parse, call once, print.

A module registers its commands with the program when it is imported. A run needs one of them, and
only that one is imported: all of them take longer than to count a small graph.
"""

from importlib import import_module

__all__ = ["COMMANDS", "load_commands"]

COMMANDS = {
    "audit": "auditing",
    "compare": "auditing",
    "rounds": "disclosing",
    "totals": "totalling",
    "count": "counting",
    "posterior": "exposing",
    "sample": "counting",
    "bounds": "counting",
    "blocks": "counting",
    "metrics": "measuring",
    "attack": "attacking",
    "improve": "attacking",
    "plan": "planning",
    "watch": "watching",
    "design": "designing",
    "random": "designing",
    "paper": "paper",
    "runs": "checkpoint",
    "demo": "files",
    "convert": "files",
    "synthesize": "files",
    "studio": "studio",
}
"""The module of each command, in the order in which help lists them."""


def load_commands(name: str | None = None) -> None:
    """Register the command of that name; all of them if there is none."""
    modules = [COMMANDS[name]] if name in COMMANDS else dict.fromkeys(COMMANDS.values())
    for module in modules:
        import_module(f"anonymatch.cli.commands.{module}")
