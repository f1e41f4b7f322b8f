"""Raise the time limits of the program for tests: a busy machine may take minutes for a second.

Progress lines, grace periods and network timeouts are decided by the clock. Tests of other
behaviour raise these limits until only a program that hangs reaches them.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

__all__ = ["PATIENCE", "patient_program", "raise_limits", "without_progress"]

PATIENCE = 600.0  # seconds
LIMITS = {
    "anonymatch.cli.console": ("_FIRST_LINE", "_GRACE"),
    "anonymatch.running.cluster": ("_PATIENCE",),
    "anonymatch.studio.app": ("_PATIENCE",),
    "anonymatch.studio.pages.audit": ("_PATIENCE",),
    "anonymatch.studio.panel": ("_PATIENCE",),
    "anonymatch.monitoring.prometheus": ("_PATIENCE",),
}
_PROGRESS = re.compile(r"^[a-z ]+: (\d+ %|at work) after \d+ s\n", re.MULTILINE)
_PROGRAM = """
import re
import sys
from importlib import import_module
for name, limits in {limits!r}.items():
    for limit in limits:
        setattr(import_module(name), limit, {patience!r})
from anonymatch_start import main
sys.exit(main())
"""


def raise_limits(*modules: str) -> None:
    """Raise the time limits of these modules in this process."""
    for name in modules:
        for limit in LIMITS[name]:
            assert getattr(import_module(name), limit) > 0
            setattr(import_module(name), limit, PATIENCE)


def patient_program(*modules: str) -> tuple[str, ...]:
    """Return the command that starts anonymatch with raised limits; its arguments follow."""
    limits = {name: LIMITS[name] for name in ("anonymatch.cli.console", *modules)}
    return sys.executable, "-c", _PROGRAM.format(limits=limits, patience=PATIENCE)


def without_progress(text: str) -> str:
    """Return standard error without its progress lines: scripts run the program as it is."""
    return _PROGRESS.sub("", text)
