"""Errata for LaTeX: complete, escaped, and accepted by LaTeX where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from anonymatch.reporting import errata_latex
from anonymatch.theory.claims import PUBLICATION, Checks, Typeset, Verdict, check

_KNOWN = set(
    re.findall(
        r"\S+",
        "@nodocument makeatletter makeatother ifx relax let else fi def documentclass usepackage "
        "begin end section texttt textbf item label csname endcsname newcounter arabic usecounter "
        "setlength leftmargin sloppy ttfamily allowbreak errataend frac sqrt mathcal mathrm le ge "
        "ll ne mid to times ln lim log pi alpha nu dots noindent",
    )
)


@pytest.fixture(scope="module")
def checks() -> Checks:
    return check()


def uncommented(text: str) -> str:
    return re.sub(r"(?<!\\)%.*", "", text)


def commands(text: str) -> set[str]:
    return set(re.findall(r"\\([A-Za-z@]+)", uncommented(text)))


def depth(text: str) -> int:
    """How many brackets are open at the end; fails if one closes too early."""
    open_ones = 0
    for sign in re.sub(r"\\[{}]", "", uncommented(text)):
        open_ones += (sign == "{") - (sign == "}")
        assert open_ones >= 0
    return open_ones


def test_every_statement_that_does_not_hold_is_listed_with_a_label(checks: Checks) -> None:
    text = errata_latex(checks)
    labels = re.findall(r"\\label\{erratum:([^}]+)\}", text)

    assert sorted(labels) == sorted(c.id for c in checks if c.verdict is not Verdict.HOLDS)
    assert len(labels) == 33
    assert labels.index("theorem-limit") < labels.index("figure-1")


def test_the_list_says_what_it_is_about_and_how_much_stands(checks: Checks) -> None:
    text = errata_latex(checks)

    for part in (PUBLICATION.title, PUBLICATION.author, PUBLICATION.version, PUBLICATION.link):
        assert part in text
    assert "Of 46 statements that were computed, 13 are true as printed" in text


def test_what_holds_beyond_the_paper_comes_after_the_list(checks: Checks) -> None:
    _, _, after = errata_latex(checks).partition(r"\end{list}")

    assert r"\textbf{Lemma 4 repaired: What the proof of Lemma 4 does show.}" in after
    assert r"at most $\ln B(n-1, m-2m/n+1)$" in after
    assert "nothing is proved for larger sizes" in after


def test_only_known_commands_brackets_and_formulas_in_pairs(checks: Checks) -> None:
    text = errata_latex(checks)

    assert commands(text) <= _KNOWN
    assert depth(text) == 0
    for line in uncommented(text).splitlines():
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0


def test_text_with_special_characters_stays_text() -> None:
    claim = check("bound-exponent")["bound-exponent"]
    nasty = r"50% & \input{/etc/passwd} #1 a_b {x} ~ ^"
    text = errata_latex(
        [replace(claim, typeset=Typeset(title=nasty, statement=nasty, corrected=nasty))]
    )

    assert commands(text) - _KNOWN == {"textbackslash", "textasciitilde", "textasciicircum"}
    assert r"50\% \& \textbackslash{}input\{/etc/passwd\} \#1 a\_b \{x\}" in text
    assert depth(text) == 0


def test_statements_that_all_hold_make_no_list() -> None:
    text = errata_latex(check("figure-2"))

    assert r"\item" not in text
    assert "1 statement that were computed, 1 is true" not in text
    assert "1 statement that was computed, 1 is true" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_accepts_it_alone_and_inside_another_document(checks: Checks, tmp_path: Path) -> None:
    (tmp_path / "errata.tex").write_text(errata_latex(checks))
    (tmp_path / "outer.tex").write_text(
        r"\documentclass{article}\usepackage{amssymb}\begin{document}See "
        r"\ref{erratum:conjecture}.\input{errata}After.\end{document}"
    )
    for name in ("errata", "outer"):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert (tmp_path / f"{name}.pdf").exists()
