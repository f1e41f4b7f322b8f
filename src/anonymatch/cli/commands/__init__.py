"""One function per command: parse, call once, print.

A run needs one command, and only its module is imported: importing all of them takes longer than
counting a small graph.
"""

__all__ = ["COMMANDS", "GROUPS"]

GROUPS = {
    "Mix networks": {
        "audit": "auditing",
        "compare": "auditing",
        "rounds": "disclosing",
        "totals": "totalling",
        "plan": "planning",
        "watch": "watching",
        "synthesize": "files",
    },
    "Data releases": {"table audit": "tables", "table improve": "tables"},
    "Ring signatures": {"rings audit": "rings"},
    "Graphs and counting": {
        "count": "counting",
        "posterior": "exposing",
        "sample": "counting",
        "bounds": "counting",
        "blocks": "counting",
        "metrics": "counting",
        "attack": "attacking",
        "improve": "attacking",
        "convert": "files",
    },
    "The paper": {"design": "designing", "random": "designing", "paper": "tools"},
    "Tools": {"demo": "files", "runs": "tools", "studio": "tools"},
}
"""The module of each command, by the heading under which help lists it."""

COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
"""The module of each command, in the order in which help lists them."""
