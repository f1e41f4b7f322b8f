"""Build the site of the documentation: python docs/site/build.py [FOLDER] [--notebook FILE].

Pages are copied to FOLDER/source (build/docs unless told), where those join them that are made from
the code; Sphinx makes FOLDER/html of them. A warning, a link that leads nowhere and anything that a
page would load from elsewhere are errors.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from links import problems
from notebook_charts import files
from pages import ROOT, stage, write
from sphinx.cmd.build import build_main

HERE = Path(__file__).parent


def main() -> int:
    """Build and check; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Build the site of the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--notebook", type=Path, action="append", help="one more, for a try")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    start = time.monotonic()
    count = stage(folder / "source", given.notebook or [])
    os.environ["ANONYMATCH_DOCS"] = str(folder)  # conf.py keeps its caches there
    for name, text in files().items():
        write(folder / "static" / name, text.encode())
    os.environ["IPYTHONDIR"] = str(_kernel_settings(folder / "ipython"))
    options = [
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-c",
        str(HERE),
        "-d",
        str(folder / "doctrees"),
    ]
    code = build_main([*options, str(folder / "source"), str(folder / "html")])
    wrong = [] if code else list(problems(folder / "html"))
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if code or wrong:
        return 1
    print(f"{count} pages in {time.monotonic() - start:.0f} s: {folder / 'html' / 'index.html'}")
    return 0


def _kernel_settings(folder: Path) -> Path:
    """A folder of settings in which notebooks show charts as the site does."""
    first = folder / "profile_default" / "startup" / "charts.py"
    first.parent.mkdir(parents=True, exist_ok=True)
    first.write_bytes((HERE / "notebook_charts.py").read_bytes())
    return folder


if __name__ == "__main__":
    sys.exit(main())
