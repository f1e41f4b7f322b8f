"""Ring signatures: how well do rings hide the real spends?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymatch.base.options import argument
from anonymatch.cli.command import command
from anonymatch.cli.commands.auditing import AuditOptions, run_audit
from anonymatch.cli.options import WORK, Options
from anonymatch.cli.saving import FigureOptions
from anonymatch.mixes import ReadOptions
from anonymatch.rings import RingOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _File:
    file: Path = argument("FILE", "Rings as .json, or a table with one row per ring member.")


@command(acts=WORK)
def audit(
    *, where: _File, rings: RingOptions, asked: AuditOptions, drawn: FigureOptions, options: Options
) -> int | None:
    """How well do rings hide real spends? Effective ring sizes, and identified spends.

    The attacker sees every ring. A chain reaction (zero-mixin) or a closed set identifies a real
    spend. With age laws (--decoys, --spends) members are weighted by their ages.
    """
    given = ReadOptions(source="rings", **vars(rings))
    return run_audit(where.file, given, asked, drawn, options)
