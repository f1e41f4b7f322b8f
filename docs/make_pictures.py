"""Draw the pictures of the documentation from the library's own answers.

python docs/make_pictures.py writes docs/mix.svg, and in README.md what its first commands print.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import anonymatch as am
from anonymatch.cli.commands.files import EXAMPLE

TARGET = Path(__file__).parent / "mix.svg"
README = Path(__file__).parents[1] / "README.md"
FRONT = re.compile(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^\.\.\.\n```$", re.MULTILINE | re.DOTALL)
"""The first commands of the README, and the lines of their output that it shows."""
SHOWN = 17  # lines of it
STEP, TOP, GAP, MARGIN = 62, 62, 170, 46
PLAIN, CERTAIN, NEVER = "#2563eb", "#dc2626", "#b6bcc6"


def picture(graph: am.Graph) -> str:
    """Users above, behaviours below; a line is as heavy as its probability."""
    count, probabilities, certain = am.count(graph), am.posterior(graph), set(am.forced(graph))
    width = 2 * MARGIN + STEP * (max(graph.n_users, graph.n_behaviours) - 1)
    height = TOP + GAP + 76
    bottom = TOP + GAP
    lines, marks = [], []
    for i, user in enumerate(graph.users):
        x = MARGIN + STEP * i
        for behaviour, probability in probabilities[user].items():
            end = MARGIN + STEP * graph.behaviour_index(behaviour)
            if (user, behaviour) in certain:
                style = f'stroke="{CERTAIN}" stroke-width="5"'
            elif probability == 0:
                style = f'stroke="{NEVER}" stroke-width="1.2" stroke-dasharray="3 4"'
            else:
                style = (
                    f'stroke="{PLAIN}" stroke-width="{6 * probability:.2f}" stroke-opacity=".75"'
                )
            lines.append(f'<line x1="{x}" y1="{TOP}" x2="{end}" y2="{bottom}" {style}/>')
    exposed = {name for pair in certain for name in pair}
    for names, y, shift in ((graph.users, TOP, -14), (graph.behaviours, bottom, 24)):
        for i, name in enumerate(names):
            colour = CERTAIN if name in exposed else "#111827"
            x = MARGIN + STEP * i
            marks.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>')
            marks.append(
                f'<text x="{x}" y="{y + shift}" text-anchor="middle" fill="{colour}">'
                f"{escape(str(name))}</text>"
            )
    people = " and ".join(str(user) for user in graph.users if user in exposed)
    caption = (
        f"{count.value} matchings = {count.log2:.2f} bits. Heavier lines are likelier; "
        f"dotted ones are in no matching. {people} are identified."
    )
    size = f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
            *lines,
            *marks,
            _note("users, as they send", 22, "#6b7280"),
            _note("messages, as they leave", bottom + 46, "#6b7280"),
            _note(caption, bottom + 66, "#111827"),
            "</svg>\n",
        ]
    )


def _note(text: str, y: int, colour: str) -> str:
    return f'<text x="{MARGIN - 20}" y="{y}" fill="{colour}">{escape(text)}</text>'


def output(commands: str) -> str:
    """What these commands print to standard output where that is no terminal."""
    program = Path(sys.executable).parent
    path = f"{program}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def front() -> str:
    """README.md with what its first commands print now."""
    text = README.read_text(encoding="utf-8")
    found = FRONT.search(text)
    if found is None:
        raise ValueError("README.md has no commands followed by their output")
    shown = "".join(output(found[1]).splitlines(keepends=True)[:SHOWN])
    return f"{text[: found.start(2)]}{shown}{text[found.end(2) :]}"


if __name__ == "__main__":
    TARGET.write_text(picture(am.read(EXAMPLE)), encoding="utf-8")
    README.write_text(front(), encoding="utf-8")
    print(TARGET, README)
