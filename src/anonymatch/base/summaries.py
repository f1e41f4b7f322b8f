"""Results at a glance: one line at the prompt, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from anonymatch.base.text import plain

__all__ = ["Figures", "Summarised", "one_line", "summary_html"]

Figures = Iterable[Sequence[str]]
"""Rows of text: a name, its value, and what it means, if that needs a word."""

_LONGEST = 200  # characters of a line at the prompt
_HEAD = 'style="text-align:left;font-weight:600;vertical-align:top;padding-right:1em"'
_CELL = 'style="text-align:left;vertical-align:top;padding-right:1em"'
_GLUE = "\u00a0"
_SHORT = 24  # characters that stay on one line


class Summarised:
    """A result that shows itself in one line, and in notebooks as a small table.

    A class says what by ``__str__`` in one sentence, ``_figures`` and, if a picture is cheap,
    ``_picture``; dataclasses need ``repr=False`` not to get another line.

    Examples
    --------
    >>> class Two(Summarised):
    ...     def __str__(self):
    ...         return "two <things>"
    ...     def _figures(self):
    ...         return [("things", "2", "as many as there are")]
    >>> Two()
    Two(two <things>)
    >>> "<th" in Two()._repr_html_(), "two &lt;things&gt;" in Two()._repr_html_()
    (True, True)
    """

    __slots__ = ()

    def _figures(self) -> Figures:
        """The key figures."""
        return ()

    def _heads(self) -> Sequence[str]:
        """Names of the columns; none if they need none."""
        return ()

    def _picture(self) -> str:
        """A small drawing as SVG; none if it would take long."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({one_line(str(self))})"

    def _repr_html_(self) -> str:
        return summary_html(
            f"{type(self).__name__}: {one_line(str(self), _LONGEST * 2)}",
            self._figures(),
            heads=self._heads(),
            picture=self._picture(),
        )


def one_line(text: str, longest: int = _LONGEST) -> str:
    r"""Text without line breaks, and no longer than people read at a prompt.

    Examples
    --------
    >>> one_line("one\n  two"), one_line("x" * 300, 8)
    ('one two', 'xxxxx...')
    """
    line = " ".join(plain(text).split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def summary_html(
    title: str, figures: Figures, *, heads: Sequence[str] = (), picture: str = ""
) -> str:
    """A title, a table of figures and a picture, as notebooks show them; all text is escaped.

    Examples
    --------
    >>> html = summary_html("A & B", [("bits", "1.5", "of entropy")])
    >>> "A &amp; B" in html, html.count("<tr>")
    (True, 1)
    """
    top = f"<thead><tr>{_cells(heads, 'th', _HEAD)}</tr></thead>" if heads else ""
    rows = "".join(
        f"<tr>{_cells(row[:1], 'th', _HEAD)}{_cells(row[1:], 'td', _CELL)}</tr>" for row in figures
    )
    table = f"<table>{top}<tbody>{rows}</tbody></table>" if rows else ""
    return f'<div class="anonymatch"><p>{escape(plain(title))}</p>{table}{picture}</div>'


def _cells(texts: Sequence[str], tag: str, style: str) -> str:
    return "".join(
        f"<{tag} {style}>{escape(plain(text)).replace(' ', _GLUE if len(text) <= _SHORT else ' ')}"
        f"</{tag}>"
        for text in texts
    )
