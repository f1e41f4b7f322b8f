"""The rules of pictures, in light and in dark."""

from __future__ import annotations

from collections.abc import Mapping

from anonymatch.charts import DARK, GROUPS, LIGHT

__all__ = ["DARK", "GROUPS", "LIGHT", "STYLE", "group_class"]

_RULES = """
.picture{--c:initial;max-width:100%;height:auto;color:var(--ink);background:var(--paper);
 font:13px/1.2 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.picture text{fill:currentColor;stroke:none}
.picture .end{text-anchor:end}
.picture .middle{text-anchor:middle}
.picture .small{font-size:11px}
.picture .soft{fill:var(--soft)}
.picture .bold{font-weight:600}
.picture .own{fill:var(--c,var(--ink));fill:color-mix(in srgb,var(--c,var(--ink)) 72%,var(--ink))}
.picture .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.picture .edge{stroke:var(--c,var(--line));fill:none;stroke-width:1.3;stroke-opacity:.75}
.picture .edge:hover{stroke-opacity:1;stroke-width:4}
.picture .mark{stroke-width:3.4;stroke-opacity:1}
.picture .gone{stroke-dasharray:5 4;stroke-width:2;stroke-opacity:1}
.picture .dot{fill:var(--c,var(--ink));stroke:var(--paper);stroke-width:1}
.picture .ring{fill:none;stroke:var(--c,var(--ink));stroke-width:2}
.picture .cell{fill:var(--c,var(--line));fill-opacity:.34}
.picture .cell.strong{fill-opacity:1}
.picture .frame{fill:none;stroke:var(--faint)}
.picture .axis{fill:none;stroke:var(--soft);stroke-width:1.2}
.picture .set{fill:var(--c);fill-opacity:.13;stroke:var(--c);stroke-width:2}
.picture .trail{fill:none;stroke:var(--c);stroke-width:9;stroke-opacity:.32;stroke-linecap:round;
 stroke-linejoin:round}
.picture .node{fill:var(--paper);stroke:var(--ink);stroke-width:1.6}
.picture .solid{fill:var(--c,var(--soft));stroke:none}
.picture .curve{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}
.picture .bar{fill:var(--c,var(--c0))}
.picture .span{fill:var(--c,var(--c0));fill-opacity:.28}
.picture .on{fill:var(--paper)}
.picture .tiny{font-size:10px}
.picture .shade{fill:none;stroke:var(--c,var(--c0));stroke-width:1}
.picture .whisker{fill:none;stroke:var(--ink);stroke-width:1.6}
"""


def group_class(number: int) -> str:
    """The class that gives group ``number`` its colour; after the last they begin again.

    Examples
    --------
    >>> group_class(1), group_class(7)
    ('g1', 'g1')
    """
    return f"g{number % GROUPS}"


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


STYLE = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}\n"
    f"@media print{{:root{{{_variables(LIGHT)}}}}}\n"
    + "".join(f".g{number}{{--c:var(--c{number})}}" for number in range(GROUPS))
    + _RULES
)
"""Rules for every picture. Paper is white whatever the screen is."""
