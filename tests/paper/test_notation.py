"""Formulas of claims: the same one as text, HTML and LaTeX, or a refusal."""

from __future__ import annotations

import re

import pytest

import anonymatch as am
from anonymatch.theory.claims import as_html, as_latex, as_text, check, escape_latex
from anonymatch.theory.claims.claim import all_questions


@pytest.mark.parametrize(
    ("formula", "text", "latex"),
    [
        (r"$(k!)^{n/k}$", "(k!)^(n/k)", r"$(k!)^{n/k}$"),
        (r"$\frac{a+1}{b}$", "(a+1)/b", r"$\frac{a+1}{b}$"),
        (r"$\frac ab$", "a/b", r"$\frac{a}{b}$"),
        (r"$\sqrt{2 \pi k}$", "sqrt(2 pi k)", r"$\sqrt{2 \pi k}$"),
        (r"$b \ln k / k \to 0$", "b ln k / k -> 0", r"$b \ln k / k \to 0$"),
        (r"$\ln(a+1)$", "ln(a+1)", r"$\ln(a+1)$"),
        (r"$k \mid n$, $a \ge b$", "k | n, a >= b", r"$k \mid n$, $a \ge b$"),
        (r"$\per(A_{i \nu_i})$", "per(A_{i nu_i})", r"$\mathrm{per}(A_{i \nu_{i}})$"),
        (r"$\pi k\pi$", "pi k pi", r"$\pi k\pi$"),
        ("no formula", "no formula", "no formula"),
    ],
)
def test_a_formula_reads_the_same_everywhere(formula: str, text: str, latex: str) -> None:
    assert as_text(formula) == text
    assert as_latex(formula) == latex


def test_a_letter_after_a_name_stays_apart_in_latex() -> None:
    assert as_latex(r"$\ln{}d$") == r"$\ln{}d$"
    assert as_latex(r"$\alpha\M$") == r"$\alpha\mathcal{M}$"
    assert not re.search(r"\\ln[a-z]", as_latex(r"$\ln d$"))


def test_html_raises_powers_and_escapes_text() -> None:
    html = as_html(r"<b> & $x_1 < y^2$")

    assert html.startswith("&lt;b&gt; &amp; ")
    assert "<i>x</i><sub>1</sub> &lt; <i>y</i><sup>2</sup>" in html


@pytest.mark.parametrize(
    "wrong",
    ["$x", r"$\input{secret}$", "$x^$", "$x^{2$", "$x}$", r"$\frac{a}$", r"$a\ b$"],
)
def test_what_is_not_understood_is_refused(wrong: str) -> None:
    for show in (as_text, as_html, as_latex):
        with pytest.raises(am.InputError):
            show(wrong)


def test_special_characters_are_no_commands() -> None:
    assert escape_latex(r"\_%") == r"\textbackslash{}\_\%"


def test_every_title_and_statement_can_be_shown_in_all_three_forms() -> None:
    for question in all_questions():
        for sentence in (question.title, question.statement):
            assert "$" not in as_text(sentence)
            assert "\\" not in as_text(sentence)
            assert as_html(sentence)
            assert as_latex(sentence).count("$") == sentence.count("$")


def test_claims_have_plain_texts_and_typeset_ones() -> None:
    claim = check("theorem-limit")["theorem-limit"]

    assert claim.statement == as_text(claim.typeset.statement)
    assert claim.corrected == as_text(claim.typeset.corrected or "")
    assert claim.brief == "if and only if b ln k / k -> 0; a fixed b is enough"
    assert claim.label == "Theorem 3"


def test_what_holds_needs_no_correction() -> None:
    claim = check("figure-2")["figure-2"]

    assert (claim.corrected, claim.brief) == (None, None)
    assert (claim.typeset.corrected, claim.typeset.brief) == (None, None)


def test_theorems_weigh_more_than_labels_of_figures() -> None:
    checks = check(["figure-2", "figure-7", "theorem-permanent", "bound-exponent"])

    assert [claim.id for claims in checks.grouped.values() for claim in claims] == [
        "theorem-permanent",
        "bound-exponent",
        "figure-2",
        "figure-7",
    ]
    assert str(checks) == "4 statements: 3 hold, 1 misprint"
