r"""Formulas in sentences: written once, as TeX between dollar signs, shown as text, HTML or LaTeX.

Only what claims of the paper need is known: letters, digits and operators, powers and indices,
roots, fractions and binomials, and the names in ``_SYMBOLS``. Anything else is refused, so that
no formula is shown wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from anonymatch.base.errors import InputError

_SYMBOLS = {  # name: text, HTML
    "le": (" <= ", " ≤ "),
    "ge": (" >= ", " ≥ "),
    "ll": (" << ", " ≪ "),
    "ne": (" != ", " ≠ "),
    "mid": (" | ", " | "),
    "to": (" -> ", " → "),
    "simeq": (" ~ ", " ≃ "),
    "times": (" x ", " × "),
    "cdot": (" ", "·"),
    "dots": ("...", "…"),
    "infty": ("infinity", "∞"),
    "prod": ("product of ", "∏"),
    "sum": ("sum of ", "∑"),
    "pi": ("pi", "π"),
    "alpha": ("alpha", "α"),
    "nu": ("nu", "ν"),
    "ln": ("ln", "ln"),
    "lim": ("lim", "lim"),
    "log": ("log", "log"),
    "per": ("per", "per"),
    "M": ("M", "ℳ"),
    ",": (" ", " "),
}
_LATEX = {"per": r"\mathrm{per}", "M": r"\mathcal{M}"}
_TOKEN = re.compile(r"\\([A-Za-z]+|,)|([\^_{}])|(\s+)|([A-Za-z])|([0-9]+)|([^\\\^_{}\sA-Za-z0-9])")
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "“": "``",
    "”": "''",
}


@dataclass(frozen=True, slots=True)
class _Node:
    """A piece of a formula: a sign, a group, or a command with what it is applied to."""

    kind: str  # sign, letter, digits, space, symbol, group, sup, sub, sqrt, frac, binom
    text: str = ""
    parts: tuple[_Node, ...] = ()


def as_text(sentence: str) -> str:
    r"""A sentence as a terminal shows it.

    Examples
    --------
    >>> as_text(r"The bound is $(k!)^{n/k} \le k!^a$ for $K_{k,k}$.")
    'The bound is (k!)^(n/k) <= k!^a for K_{k,k}.'
    """
    return _render(sentence, str, _text)


def as_html(sentence: str) -> str:
    r"""A sentence as a page shows it; text is escaped.

    Examples
    --------
    >>> as_html(r"A & B: $x_i^2$")
    'A &amp; B: <span class="maths"><i>x</i><sub><i>i</i></sub><sup>2</sup></span>'
    """
    return _render(
        sentence,
        lambda words: escape(words, quote=False),
        lambda nodes: f'<span class="maths">{_html(nodes)}</span>',
    )


def as_latex(sentence: str) -> str:
    r"""A sentence for LaTeX: formulas as they are, text with its special characters escaped.

    Examples
    --------
    >>> print(as_latex(r"50 % of $\M(G_k)$"))
    50 \% of $\mathcal{M}(G_{k})$
    """
    return _render(sentence, escape_latex, lambda nodes: f"${_latex(nodes)}$")


def escape_latex(text: str) -> str:
    r"""Text in which LaTeX finds no commands.

    Examples
    --------
    >>> print(escape_latex(r"a_b & 10^6 {x} \y"))
    a\_b \& 10\textasciicircum{}6 \{x\} \textbackslash{}y
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def _render(
    sentence: str, words: Callable[[str], str], formula: Callable[[tuple[_Node, ...]], str]
) -> str:
    pieces = sentence.split("$")
    if len(pieces) % 2 == 0:
        raise InputError(f"a formula does not end: {sentence!r}")
    return "".join(
        formula(_parsed(piece)) if number % 2 else words(piece)
        for number, piece in enumerate(pieces)
    )


# ---- reading


def _parsed(formula: str) -> tuple[_Node, ...]:
    tokens = _tokens(formula)
    return tuple(_nodes(tokens, formula, closed=False))


def _tokens(formula: str) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(formula):
        match = _TOKEN.match(formula, position)
        if match is None:
            raise InputError(f"not understood in the formula {formula!r}: {formula[position:]!r}")
        position = match.end()
        yield match


def _nodes(tokens: Iterator[re.Match[str]], formula: str, *, closed: bool) -> Iterator[_Node]:
    for token in tokens:
        if token[0] == "}":
            if not closed:
                raise InputError(f"a bracket too many in the formula {formula!r}")
            return
        yield _node(token, tokens, formula)
    if closed:
        raise InputError(f"a bracket is not closed in the formula {formula!r}")


def _node(token: re.Match[str], tokens: Iterator[re.Match[str]], formula: str) -> _Node:
    name, mark, space, letter, digits, sign = token.groups()
    if name in ("sqrt", "frac", "binom"):
        number = 1 if name == "sqrt" else 2
        return _Node(name, parts=tuple(_argument(tokens, formula) for _ in range(number)))
    if name is not None:
        if name not in _SYMBOLS:
            raise InputError(f"not known in the formula {formula!r}: \\{name}")
        return _Node("symbol", name)
    if mark == "{":
        return _Node("group", parts=tuple(_nodes(tokens, formula, closed=True)))
    if mark is not None:
        return _Node("sup" if mark == "^" else "sub", parts=(_argument(tokens, formula),))
    if space is not None:
        return _Node("space", " ")
    if letter is not None:
        return _Node("letter", letter)
    return _Node("digits", digits) if digits is not None else _Node("sign", sign)


def _argument(tokens: Iterator[re.Match[str]], formula: str) -> _Node:
    for token in tokens:
        if token[0] == "}":
            break
        if token[3] is None:  # spaces do not count
            return _node(token, tokens, formula)
    raise InputError(f"something is missing in the formula {formula!r}")


# ---- writing


def _text(nodes: tuple[_Node, ...]) -> str:
    return re.sub(r" +", " ", _joined(nodes, _text_of)).strip()


def _joined(nodes: tuple[_Node, ...], write: Callable[[_Node], str]) -> str:
    """All pieces; names such as ln or pi stand apart from the letters beside them."""
    text, name = "", False
    for node in nodes:
        piece = write(node)
        word = node.kind == "symbol" and len(node.text) > 1 and _SYMBOLS[node.text][0].isalpha()
        if (word or name) and text[-1:].isalnum() and re.match(r"[A-Za-z0-9]|<i>", piece):
            text += " "
        text, name = text + piece, word
    return text


def _text_of(node: _Node) -> str:
    if node.kind == "symbol":
        return _SYMBOLS[node.text][0]
    inside = [_text((part,)) for part in node.parts]
    if node.kind == "group":
        return _text(node.parts)
    if node.kind == "sup":
        return f"^{inside[0]}" if _single(inside[0]) else f"^({inside[0]})"
    if node.kind == "sub":
        return f"_{inside[0]}" if _single(inside[0]) else f"_{{{inside[0]}}}"
    if node.kind == "sqrt":
        return f"sqrt({inside[0]})"
    if node.kind == "binom":
        return f"C({inside[0]}, {inside[1]})"
    if node.kind == "frac":
        return "/".join(part if _factor(part) else f"({part})" for part in inside)
    return node.text


def _single(text: str) -> bool:
    """Whether it is one letter or number, so that it needs no brackets."""
    return text.isalnum() and (text.isdigit() or len(text) == 1 or text in _SYMBOLS)


def _factor(text: str) -> bool:
    """Whether nothing in it binds weaker than a fraction."""
    return not re.search(r"[-+/= ]", text)


def _html(nodes: tuple[_Node, ...]) -> str:
    return re.sub(r" +", " ", _joined(nodes, _html_of))


def _html_of(node: _Node) -> str:
    if node.kind == "symbol":
        return _SYMBOLS[node.text][1]
    inside = [_html((part,)) for part in node.parts]
    if node.kind == "group":
        return _html(node.parts)
    if node.kind in ("sup", "sub"):
        return f"<{node.kind}>{inside[0]}</{node.kind}>"
    if node.kind == "sqrt":
        return f"√({inside[0]})"
    if node.kind == "binom":
        return f"C({inside[0]}, {inside[1]})"
    if node.kind == "frac":
        wrapped = [
            html if _factor(_text((part,))) else f"({html})"
            for html, part in zip(inside, node.parts, strict=True)
        ]
        return "/".join(wrapped)
    if node.kind == "letter":
        return f"<i>{node.text}</i>"
    return {"-": "−", "'": "′"}.get(node.text, escape(node.text, quote=False))


def _latex(nodes: tuple[_Node, ...]) -> str:
    pieces = [_latex_of(node) for node in nodes]
    # A command swallows the letter after it unless a space or a bracket parts them.
    text = ""
    for piece in pieces:
        parted = re.search(r"\\[A-Za-z]+$", text) and piece[:1].isalpha()
        text += f" {piece}" if parted else piece
    return text


def _latex_of(node: _Node) -> str:
    if node.kind == "symbol":
        return _LATEX.get(node.text, f"\\{node.text}")
    inside = [_latex(part.parts if part.kind == "group" else (part,)) for part in node.parts]
    if node.kind == "group":
        return f"{{{_latex(node.parts)}}}"
    if node.kind in ("sup", "sub"):
        return f"{'^' if node.kind == 'sup' else '_'}{{{inside[0]}}}"
    if node.kind in ("sqrt", "frac", "binom"):
        return f"\\{node.kind}" + "".join(f"{{{part}}}" for part in inside)
    return escape_latex(node.text) if node.text in "%#&" else node.text
