"""Subpackages that import a module when one of its names is first used.

A short command uses few modules of a large subpackage, and imports are most of its time. The public
names of such a subpackage stand in its ``__init__.pyi``, which type checkers read too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

__all__ = ["public_names"]

_IMPORT = re.compile(r"^from (\S+) import \(([^)]*)\)", re.MULTILINE)
_NAME = re.compile(r"(\w+) as (\w+)")


def public_names(package: str, file: str) -> tuple[Callable[[str], object], list[str]]:
    """Return the ``__getattr__`` and the ``__all__`` of a subpackage.

    Parameters
    ----------
    package, file : str
        Its ``__name__`` and ``__file__``.

    Examples
    --------
    >>> import anonymatch.counting
    >>> "posterior" in anonymatch.counting.__all__
    True
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {
        name: (module, original)
        for module, names in _IMPORT.findall(stub)
        for original, name in _NAME.findall(names)
    }

    def __getattr__(name: str) -> object:  # noqa: N807  (the name in tracebacks)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        source = import_module(module)
        if module == package or not hasattr(source, original):  # a module of the package
            value: object = import_module(f"{module}.{original}")
        else:
            value = getattr(source, original)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__, sorted(homes)
