"""Designs and random graphs for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import anonymatch as am
from anonymatch.cli import json_output, words
from anonymatch.cli.screens import answers
from anonymatch.designs import graph_of

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["design_page", "random_page", "random_record"]

_PARTS = 12  # kinds of parts that are listed
_POSTERIORS_UP_TO = 20  # users of a part: a moment
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def design_page(found: am.Design, min_part: int, digits: bool) -> list[RenderableType]:
    """The design, its parts, and other graphs of the same cost."""
    title = f"{words.plural(found.users, 'user')}, {words.plural(found.edges, 'edge')}"
    page = [
        answers.heading(f"{title}: {found.method}, for {_goal(found.objective)}"),
        answers.figures(_lines(found)),
        answers.indented(_parts(found)),
        answers.paragraph(" ".join(_sentence(text) for text in (found.proof, found.note) if text)),
        answers.indented(_rivals(found, min_part)),
        answers.paragraph(
            "left: matchings left on average when the attacker exposes the best target; the most "
            "matchings need not leave the most. guess: probability that one guess about the "
            "worst-off "
            "user is right."
        ),
    ]
    if digits and found.value is not None:
        page.append(answers.paragraph(words.all_digits(found.value)))
    return page


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _goal(objective: str) -> str:
    return "most matchings" if objective == "matchings" else "most left after an attack"


def _lines(found: am.Design) -> list[answers.Line]:
    amount = words.power(found.low)
    if found.exact:
        amount = amount if found.value is None else words.number(found.value, found.log)
    trust = "exact" if found.exact else f"at least; at most {words.power(found.high)}"
    each = words.bits(found.log / found.users)
    lines = [
        ("matchings", amount, f"ways to match users to what is seen; {trust}"),
        ("anonymity", words.bits(found.log), f"log2 of it; {each} a user"),
        ("at most", words.bits(found.bound), "what no graph with as many edges can exceed"),
        (
            "of the bound",
            words.share(found.ratio),
            "matchings as a share of the bound" + ("" if found.exact else ", at least"),
        ),
        (
            "after an attack",
            words.bits(max(found.attack_log, 0.0)),
            "left on average when the attacker exposes the best target",
        ),
        ("smallest group", words.plural(found.smallest_group, "user"), _group(found)),
    ]
    if found.case is not None:
        lines.append(("the paper's case", found.case, _CASES[found.case]))
    return lines


_CASES = {
    "A": "equal complete groups: the bound is reached",
    "B": "complete groups, and some one larger that lack a matching",
    "C": "as B, with the edges that are left put back into the larger groups",
    "D": "equal complete groups; the edges that are left are spare",
    "ext": "not defined by the paper: its rule continued",
}


def _group(found: am.Design) -> str:
    if found.smallest_group == 1:
        return "somebody is exposed: there is no one to hide among"
    return "that hide among each other"


def _parts(found: am.Design) -> Any:
    table = answers.columns("groups", right=("number", "users each", "edges each", "bits each"))
    for part in found.parts[:_PARTS]:
        table.add_row(
            part.kind,
            f"{part.number:,}",
            f"{part.size:,}",
            f"{part.edges:,}",
            words.bits(part.log).removesuffix("s").removesuffix(" bit"),
        )
    if len(found.parts) > _PARTS:
        table.add_row(f"and {len(found.parts) - _PARTS} kinds more")
    if found.spare:
        table.add_row("spare edges, in no matching", "", "", f"{found.spare:,}")
    return table


def _rivals(found: am.Design, min_part: int) -> Any:
    table = answers.columns(
        "for the same cost", right=("bits", "of the bound", "left, bits", "guess")
    )
    asked: dict[str, Any] = {"users": found.users, "edges": found.edges}
    rows = {
        "best, most matchings": am.design(**asked, min_part=min_part),
        "best, most left after an attack": am.design(
            **asked, min_part=min_part, objective="after_attack"
        ),
        "the paper's partition": am.design(**asked, method="paper"),
    }
    for name, other in rows.items():
        table.add_row(
            name,
            _bits(other.low, other.high if not other.exact else other.low),
            words.share(other.ratio),
            _bits(other.attack_log, other.attack_log),
            _guess(other),
        )
    for rival in found.rivals():
        share = math.exp(min(rival.low - found.bound, 0.0))
        name = rival.name + (" (expected)" if rival.expected else "")
        table.add_row(name, _bits(rival.low, rival.high), words.share(share), "", "")
    return table


def _guess(found: am.Design) -> str:
    """The probability of the best guess about the worst-off user, where it is quickly known."""
    worst = 0.0
    for part in found.parts:
        if part.edges == part.size**2:
            worst = max(worst, 1 / part.size)
        elif part.size <= _POSTERIORS_UP_TO:
            graph = graph_of(part.size, part.shape.cells())
            worst = max(worst, float(am.posterior(graph).probabilities.max()))
        else:
            return ""
    return words.share(worst)


def _bits(low: float, high: float) -> str:
    if low == -math.inf:
        return "none"
    text = words.bits(low) if low == high else words.bits_between(low, high)
    return text.removesuffix("s").removesuffix(" bit")


# ---- random graphs


def random_record(log: float, drawn: am.RandomDistribution | None) -> json_output.Record:
    """Expected, and as drawn."""
    record: json_output.Record = {"log_expected": log, "samples": 0}
    if drawn is None:
        return record
    return record | {
        "samples": drawn.samples,
        "seed": drawn.seed,
        "mean": drawn.mean,
        "zero_share": drawn.zero_share,
        "quantiles": {str(share): str(drawn.quantile(share)) for share in _QUANTILES},
    }


def random_page(
    users: int,
    degree: float | None,
    edges: int | None,
    log: float,
    drawn: am.RandomDistribution | None,
) -> list[RenderableType]:
    """What is expected of random graphs, and how rarely a typical one has it."""
    cost = edges if edges is not None else round((degree or 0.0) * users)
    kind = f"{degree:g} edges a user on average" if edges is None else f"exactly {edges:,} edges"
    lines = [("expected", words.bits(log), "log2 of the expected number of matchings")]
    if users <= cost <= users * users:
        bound = am.max_bound(users, cost)
        share = math.exp(min(log - bound, 0.0))
        lines += [
            ("at most", words.bits(bound), "what no graph with as many edges can exceed"),
            ("of the bound", words.share(share), "expected matchings as a share of it"),
        ]
    page = [
        answers.heading(f"Random graphs of {words.plural(users, 'user')}, {kind}"),
        answers.figures(lines),
    ]
    if drawn is None:
        page.append(
            answers.paragraph(
                "Few graphs with very many matchings can make the expectation: a typical one has "
                "fewer, often none. --samples N draws some."
            )
        )
        return page
    table = answers.columns("of the graphs drawn", right=("matchings at most",))
    for share in _QUANTILES:
        table.add_row(words.share(share), f"{drawn.quantile(share):,}")
    none = words.share(drawn.zero_share)
    mean = f"{float(drawn.mean):.6g}"
    return [
        *page,
        answers.indented(table),
        answers.paragraph(
            f"{words.plural(drawn.samples, 'graph')} drawn, seed {drawn.seed}: {mean} matchings on "
            f"average; {none} have none at all."
        ),
    ]
