"""Charts of notebooks: a still picture that a script of the site brings to life.

Sphinx takes this as an extension. The kernels that run notebooks take it as what they run first:
Altair's own way would have pages load Vega from elsewhere.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

__all__ = ["enable", "setup"]


def setup(app: Any) -> dict[str, bool]:
    """Give pages that have charts what these need."""
    app.connect("html-page-context", _add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_script(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    if 'class="chart"' in context.get("body", ""):
        app.add_css_file("charts.css")
        app.add_js_file("charts.js", loading_method="defer")


def files() -> dict[str, str]:
    """The script and the style that pages with charts load."""
    from anonymatch.reporting.charts import DARK, LIGHT, chart_script, chart_style

    def named(colours: Any) -> str:
        return "".join(f"--{name}:{value};" for name, value in colours.items())

    style = f":root{{{named(LIGHT)}}}\nhtml[data-theme=dark]{{{named(DARK)}}}\n{chart_style()}"
    return {"charts.js": chart_script(), "charts.css": style}


def enable() -> None:
    """Have Altair show charts so, in the kernel that calls this."""
    import altair

    # Notebooks choose still pictures, for those who read them elsewhere; here they come to life.
    for name in ("default", "svg"):
        altair.renderers.register(name, _shown)
    altair.renderers.enable("svg")


def _shown(spec: dict[str, Any], **_: object) -> dict[str, str]:
    from anonymatch.reporting.charts import embedded

    chart: Any = SimpleNamespace(to_dict=lambda **_: spec)
    return {"text/html": embedded(chart, "chart").html, "text/plain": spec.get("description", "")}


if __name__ == "__main__":
    enable()
