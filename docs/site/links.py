"""Look over a built site: links lead somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["problems"]

LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
"""Attributes that a browser follows by itself."""

SILENT = {"canonical", "license", "next", "prev", "search", "index", "author", "alternate"}
"""Kinds of <link> that no browser follows."""

OUTSIDE = re.compile(r"""(?:url\(|@import\s+)\s*["']?((?:https?:)?//[^"')\s]+)""")
"""What a style loads from elsewhere."""


class Page(HTMLParser):
    """The names on a page that links can point to, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and SILENT & set(given.get("rel", "").split()):
            return
        for key in LOADED.get(tag, ()):
            if key in given:
                self.loads.append(given[key])


def problems(site: Path) -> Iterator[str]:
    """What is wrong with the site in this folder, a line each."""
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    for path, page in pages.items():
        for address in page.loads:
            if _elsewhere(address):
                yield f"{path.relative_to(site)} loads {address}"
        for address in (*page.links, *page.loads):
            if not _elsewhere(address) and not _leads_somewhere(address, path, pages):
                yield f"{path.relative_to(site)} links to {address}, which is not there"
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for address in OUTSIDE.findall(text):
            yield f"{path.relative_to(site)} loads {address}"


def _elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in {"http", "https", "mailto"}


def _leads_somewhere(address: str, page: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    if not parts.fragment or target not in pages:
        return True
    return unquote(parts.fragment) in pages[target].names
