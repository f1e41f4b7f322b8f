"""The pages of the site: those of the project, copied, and those that are made from the code."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import GenericAlias, ModuleType

__all__ = ["ROOT", "stage", "write"]

ROOT = Path(__file__).parents[2]
MOVED = {
    "README.md": "readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changes.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "examples.md",
}
"""Pages that live outside docs/, and where they are on the site."""

LINK = re.compile(r"\[([^][]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def stage(target: Path, notebooks: Iterable[Path] = ()) -> int:
    """Write the sources of all pages below target, and return how many.

    ``notebooks`` are some beside those of the project. What has not changed stays as it is.
    """
    texts = {name: _linked(ROOT / origin, name) for name, origin in _origins().items()}
    texts |= {f"notebooks/{path.name}": path.read_text(encoding="utf-8") for path in notebooks}
    books = sorted(name for name in texts if name.startswith("notebooks/"))
    texts |= {name: _as_notebook(texts[name]) for name in books}
    texts |= _command_pages() | _api_pages() | {"notebooks.md": _notebooks(books)}
    for name, text in texts.items():
        write(target / name, text.encode())
    kept = {target / name for name in texts}
    for path in [*_beside_pages(), *_linked_files()]:
        copy = target / _position(path)
        write(copy, path.read_bytes())
        kept.add(copy)
    for path in target.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    return len(texts)


def _origins() -> dict[str, str]:
    """Pages of the site, and the files of the project that they come from."""
    own = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/notebooks/*.md")]
    names = {path.relative_to(ROOT / "docs").as_posix(): path for path in own}
    return {name: path.relative_to(ROOT).as_posix() for name, path in names.items()} | {
        name: origin for origin, name in MOVED.items()
    }


def _position(path: Path) -> str:
    """Where a file of the project is on the site."""
    name = path.relative_to(ROOT).as_posix()
    return MOVED.get(name) or (name[5:] if name.startswith("docs/") else f"files/{name}")


def _linked(origin: Path, name: str) -> str:
    """The text of a page with links as they are on the site. Code is left alone."""

    def moved(match: re.Match[str]) -> str:
        text, address, anchor = match.groups(default="")
        target = (origin.parent / address).resolve()
        if target.is_dir():  # a site has no listing of it
            return text
        position = os.path.relpath(_position(target), PurePosixPath(name).parent)
        return f"[{text}]({position}{anchor})"

    parts = FENCE.split(origin.read_text(encoding="utf-8"))
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def _beside_pages() -> Iterator[Path]:
    """Pictures, and what notebooks read."""
    for path in (ROOT / "docs").rglob("*"):
        inner = path.relative_to(ROOT / "docs").parts
        if path.is_file() and inner[0] != "site" and path.suffix not in {".md", ".py", ".pyc"}:
            yield path


def _linked_files() -> Iterator[Path]:
    """Files outside docs/ that pages link to."""
    for origin in _origins().values():
        page = ROOT / origin
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for _, target, _ in LINK.findall(prose):
            path = (page.parent / target).resolve()
            if path.is_file() and path.suffix != ".md" and ROOT / "docs" not in path.parents:
                yield path


def write(path: Path, data: bytes) -> None:
    """Write it if it is new, so that Sphinx does only what has changed."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _as_notebook(text: str) -> str:
    """A page of Markdown that myst-nb runs: it looks for a line that editors leave out."""
    if "file_format: mystnb" in text or "text_representation" in text:
        return text
    head, body = ("", text) if not text.startswith("---\n") else text[4:].split("---\n", 1)
    return f"---\nfile_format: mystnb\n{head}---\n{body}"


def _notebooks(names: list[str]) -> str:
    """The list of all notebooks that there are."""
    links = "\n".join(name.removesuffix(".md") for name in names)
    return _page(
        "Notebooks",
        "Work told through from the first line to the last. They ran when this page was built, so\n"
        f"what they show is what the code answers.\n\n```{{toctree}}\n:maxdepth: 1\n\n{links}\n```",
    )


def _command_pages() -> dict[str, str]:
    """What ``--help`` prints, a page a command."""
    from anonymatch.cli.commands import COMMANDS

    pages = {
        f"commands/{_slug(name)}.md": _page(
            f"anonymatch {name}",
            f"{_guide(name)}\n\n```text\n{_help(name)}```",
        )
        for name in COMMANDS
    }
    rows = [
        f"| [{name}](commands/{_slug(name)}.md) | {_first_sentence(name)} |" for name in COMMANDS
    ]
    links = "\n".join(f"commands/{_slug(name)}" for name in COMMANDS)
    pages["commands.md"] = _page(
        "Commands",
        "What `anonymatch COMMAND --help` prints, command by command.\n"
        "[The command line](command-line.md) tells what all of them have in common, and shows\n"
        "each at work.\n\n"
        "| command | what it answers |\n|---|---|\n" + "\n".join(rows) + "\n\n"
        f"```{{toctree}}\n:hidden:\n\n{links}\n```",
    )
    return pages


def _slug(name: str) -> str:
    return name.replace(" ", "-")


def _guide(name: str) -> str:
    return f"What it does, with examples: [{name}](../command-line.md#{_slug(name)})."


def _help(name: str) -> str:
    """Exactly what the program prints, on a terminal of 96 columns without colours."""
    from anonymatch.cli import main

    out = io.StringIO()
    terminal = {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"}
    before = {key: os.environ.get(key) for key in terminal}
    os.environ.update(terminal)
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main([*name.split(), "--help"])
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
    if not out.getvalue().startswith("Usage"):
        raise RuntimeError(f"anonymatch {name} --help printed no help")
    return out.getvalue().strip("\n") + "\n"


def _first_sentence(name: str) -> str:
    paragraphs = _help(name).split("\n\n")
    return " ".join(paragraphs[1].split()).replace("|", "\\|")


SUBPACKAGES = {
    "families": "anonymatch.graph.families",
    "formulas": "anonymatch.theory.designs.formulas",
    "mixes": "anonymatch.mixes.closed_forms",
    "paper": "anonymatch.theory.claims",
}
"""Public modules, and where they live."""

TITLES = {
    "graph": "Graphs",
    "counting": "Counts and posteriors",
    "base.interval": "Intervals",
    "counting.measures": "Measures",
    "mixes": "Mix networks",
    "tables": "Released tables",
    "rings": "Ring signatures",
    "theory.attacks": "Attacks",
    "theory.designs": "Designs",
    "audits": "Audits",
    "planning": "Plans",
    "disclosure": "Rounds",
    "running": "Budgets, checkpoints, clusters",
    "base.errors": "Errors",
}


def _api_pages() -> dict[str, str]:
    """The public names by the room in which they live: what they say of themselves."""
    import anonymatch

    pages = {}
    for room, names in anonymatch._ROOMS.items():
        more = anonymatch._MORE.get(room, "")
        listed = [
            name
            for name in (*names.split(), *more.split())
            if name not in SUBPACKAGES and not name.startswith("__")
        ]
        if listed:
            entries = _entries(anonymatch, listed)
            title = TITLES[room]
            page = "networks" if room in SUBPACKAGES else room.rpartition(".")[2]
            pages[f"api/{page}.rst"] = _rst(title, "anonymatch", entries)
    for name, home in SUBPACKAGES.items():
        module = import_module(home)
        intro = inspect.cleandoc(module.__doc__ or "")
        entries = f"{intro}\n\n{_entries(module, _public(module))}"
        pages[f"api/{name}.rst"] = _rst(f"anonymatch.{name}", home, entries)
    links = "\n".join(f"   {page.removesuffix('.rst')}" for page in pages)
    pages["api.rst"] = _rst(
        "Python",
        "anonymatch",
        "``import anonymatch as am`` gives all of these as ``am.count``, ``am.Graph`` and so on;\n"
        "modules such as ``am.families`` have pages of their own. Names are loaded when they are\n"
        "first used.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{links}\n",
    )
    return pages


def _public(module: ModuleType) -> list[str]:
    """The names that a module gives away; where it does not say which, those that it defines."""
    own = (name for name, value in vars(module).items() if _is_own(module, name, value))
    names = getattr(module, "__all__", None) or own
    silent = (GenericAlias, ModuleType)  # a type by another name says nothing of itself
    return [name for name in names if not isinstance(getattr(module, name), silent)]


def _is_own(module: ModuleType, name: str, value: object) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", "") == module.__name__


def _entries(module: ModuleType, names: list[str]) -> str:
    return "\n\n".join(_entry(module, name) for name in names)


def _entry(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    if inspect.isclass(thing):
        inner = "" if issubclass(thing, Exception) else "\n   :members:\n   :undoc-members:"
        return f".. autoclass:: {name}{inner}"
    if inspect.isroutine(thing):
        return f".. autofunction:: {name}"
    return f".. autodata:: {name}\n   :no-value:"


def _rst(title: str, module: str, body: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: {module}\n\n{body}\n"


def _page(title: str, body: str) -> str:
    return f"# {title}\n\n{body}\n"
