"""Settings of Sphinx for the site of the documentation; build.py calls it."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

import anonymatch

sys.path.insert(0, str(Path(__file__).parent))
FOLDER = Path(os.environ["ANONYMATCH_DOCS"])

project = "anonymatch"
author = "The anonymatch developers"
copyright = f"{author}, Apache-2.0"  # noqa: A001  (the name that Sphinx has)
version = release = anonymatch.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "mathml", "notebook_charts"]
exclude_patterns = ["readme.md"]  # the front page includes it
language = "en"

# Pages are the same on GitHub: headings have the anchors that it gives them.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "colon_fence"]
html_math_renderer = "mathml"

# Notebooks run when they or the package's version change. One that fails ends the build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(FOLDER / "notebooks")
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300

# Classes tell of their members themselves; types stand in signatures.
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "anonymatch"
html_static_path = [str(Path(__file__).parent / "static"), str(FOLDER / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_sidebars = {"index": []}
html_theme_options = {
    "show_prev_next": False,
    "use_edit_page_button": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def setup(app: Any) -> None:
    """Let Sphinx know of what these settings do themselves."""
    app.connect("autodoc-process-signature", _without_fields)


def _without_fields(
    app: Any, kind: str, name: str, thing: object, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """Results are made by functions; that they could be made from their fields is of no use."""
    if kind == "class" and dataclasses.is_dataclass(thing):
        fields = dataclasses.fields(thing)
        if fields and all(field.kw_only for field in fields):
            return "", ""
    return None
