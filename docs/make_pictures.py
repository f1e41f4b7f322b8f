"""Draw the pictures of the documentation from the library's own answers.

python docs/make_pictures.py writes docs/mix.svg.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import anonymatch as am
from anonymatch.cli.commands.files import EXAMPLE

TARGET = Path(__file__).parent / "mix.svg"
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


if __name__ == "__main__":
    TARGET.write_text(picture(am.read(EXAMPLE)), encoding="utf-8")
    print(TARGET)
