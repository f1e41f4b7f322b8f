"""Audits of rings: certain spends told apart, time, merged outputs, words, and calibration."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"

SEVEN: dict[str, Any] = {
    "rings": {
        "i1": {"members": ["o1"], "height": 100},
        "i2": {"members": ["o1", "o2"], "height": 101},
        "i3": {"members": ["o2", "o3", "o4"], "height": 102, "transaction": "t3"},
        "i4": {"members": ["o3", "o4"], "height": 103},
        "i5": {"members": ["o3", "o4", "o5"], "height": 104},
        "i6": {"members": ["o5", "o6", "o7"], "height": 105, "transaction": "t6", "truth": "o7"},
        "i7": {"members": ["o7", "o8", "o9"], "height": 106, "transaction": "t6", "truth": "o8"},
    },
    "outputs": {"o7": {"transaction": "a"}, "o8": {"transaction": "a"}},
}


def save(folder: Path, document: object) -> Path:
    path = folder / "rings.json"
    path.write_text(json.dumps(document))
    return path


def simulated(n: int, outputs: int, size: int, seed: int) -> dict[str, Any]:
    """Rings of one spent output and decoys, all drawn alike: nothing of anonymatch is used."""
    rng = np.random.default_rng(seed)
    spent = rng.permutation(outputs)[:n].tolist()
    rings = {}
    for ring, truth in enumerate(spent):
        others = rng.permutation(outputs)
        decoys = others[others != truth][: size - 1].tolist()
        members = [f"o{one}" for one in sorted([truth, *decoys])]
        rings[f"i{ring}"] = {"members": members, "truth": f"o{truth}"}
    return rings


def test_chain_reaction_and_closed_sets_are_told_apart(tmp_path: Path) -> None:
    """By hand: o1 is i1's, so o2 is i2's; i3 and i4 take o3 and o4, so i5 has o5."""
    rings = am.audit(save(tmp_path, SEVEN)).rings

    assert rings is not None
    assert [(one.input, one.output, one.how, one.step) for one in rings.certain] == [
        ("i1", "o1", "chain reaction", 1),
        ("i2", "o2", "chain reaction", 2),
        ("i5", "o5", "closed set", 0),
    ]
    assert (rings.chain_reaction, rings.closed_sets) == (2, 1)
    # o1 in i2, o2 in i3, o3 and o4 in i5, o5 in i6; the chain reaction knows the first two.
    assert rings.ruled_out == pytest.approx(5 / 17)
    assert rings.ruled_out_by_chain == pytest.approx(2 / 17)


def test_merged_outputs_are_told_and_used_only_if_wanted(tmp_path: Path) -> None:
    path = save(tmp_path, SEVEN)
    plain, used = am.audit(path), am.audit(path, merging=10)

    assert plain.rings is not None
    assert (plain.rings.merged, plain.rings.merged_right) == (2, 1.0)
    assert any("merged outputs" in note and "do not use it" in note for note in plain.notes)
    assert any("they weigh 10 times" in note for note in used.notes)
    assert used.answers.probabilities is not None
    assert plain.answers.probabilities is not None
    assert used.answers.probabilities["i7"]["o8"] > plain.answers.probabilities["i7"]["o8"]


def test_figures_over_time_are_those_of_their_inputs(tmp_path: Path) -> None:
    audit = am.audit(save(tmp_path, SEVEN))
    rings = audit.rings

    assert rings is not None
    assert sum(period.inputs for period in rings.periods) == 7
    assert [period.begin for period in rings.periods] == [100, 101, 102, 103, 104, 105, 106]
    assert [period.chain_reaction for period in rings.periods] == [1, 1, 0, 0, 0, 0, 0]
    assert [period.closed_sets for period in rings.periods] == [0, 0, 0, 0, 1, 0, 0]
    assert [period.allowed for period in rings.periods] == [1, 1, 2, 2, 1, 2, 3]
    assert [period.effective for period in rings.periods] == pytest.approx(
        audit.answers.users.effective.value.tolist()
    )


@pytest.mark.parametrize("seed", range(6))
def test_everything_agrees_with_all_ways_to_spend(tmp_path: Path, seed: int) -> None:
    rings = simulated(6, 9, 3, seed)
    audit = am.audit(save(tmp_path, rings))
    ways = [
        spent
        for spent in itertools.product(*(ring["members"] for ring in rings.values()))
        if len(set(spent)) == len(spent)
    ]
    certain = {
        name: ways[0][k] for k, name in enumerate(rings) if len({way[k] for way in ways}) == 1
    }

    assert audit.count.value == len(ways)
    assert audit.rings is not None
    assert {one.input: one.output for one in audit.rings.certain} == certain
    assert audit.answers.probabilities is not None
    for k, (name, ring) in enumerate(rings.items()):
        for member in ring["members"]:
            share = sum(way[k] == member for way in ways) / len(ways)
            assert audit.answers.probabilities[name][member] == pytest.approx(share)


@pytest.mark.slow
def test_rings_beyond_exact_methods_have_posteriors_that_are_calibrated(tmp_path: Path) -> None:
    """2,000 rings: so many guesses come true as the probabilities promise."""
    rings = simulated(2000, 4000, 8, 1)
    audit = am.audit(save(tmp_path, rings), budget=6)

    assert audit.answers.probabilities is not None
    assert audit.answers.probabilities.method == "moves and swaps"
    assert audit.score is not None
    assert audit.score.guesses == 2000
    assert audit.score.calibrated
    errors = audit.answers.probabilities.errors
    assert errors is not None
    assert 2 * errors.max() < 0.01
    assert audit.surest.high - audit.surest.low < 0.03


def test_a_long_search_leaves_certain_spends_listed(tmp_path: Path) -> None:
    """Without seconds for anything else, what is certain still is."""
    rings = simulated(2000, 6000, 11, 2)
    rings |= {f"z{k}": {"members": [f"p{k}", f"p{k + 1}"]} for k in range(50)}
    rings["z50"] = {"members": ["p50"]}
    audit = am.audit(save(tmp_path, rings), budget=0)

    assert audit.rings is not None
    assert len(audit.rings.certain) == 51
    assert audit.rings.chain_reaction == 51


def test_no_word_of_users_is_in_a_report_about_rings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path, SEVEN)
    page = tmp_path / "page.html"
    texts = []
    for command in (
        ["audit", str(path), "--html", str(page)],
        ["count", str(path)],
        ["posterior", str(path)],
        ["sample", str(path)],
        ["blocks", str(path)],
        ["metrics", str(path)],
        ["attack", str(path)],
        ["bounds", str(path)],
    ):
        assert main(command) == 0
        texts.append(capsys.readouterr().out)
    body = re.sub(r"<(script|style).*?</\1>", "", page.read_text("utf-8"), flags=re.S)
    texts.append(re.sub(r"<[^>]+>", " ", body))
    for text in texts:
        words = re.findall(r"\b(?:users?|behaviours?|messages?|a input)\b", text, re.I)
        assert not words, words
        assert "input" in text


def test_commands_read_rings_as_audits_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path, SEVEN)
    audit = am.audit(path)
    assert main(["count", str(path), "--json"]) == 0
    assert int(json.loads(capsys.readouterr().out)["value"]) == audit.count.value
    assert main(["posterior", str(path), "--json"]) == 0
    shares = json.loads(capsys.readouterr().out)
    assert "i5" in json.dumps(shares)
    assert main(["audit", str(path), "--json"]) == 0
    rings = json.loads(capsys.readouterr().out)["rings"]
    assert rings["certain"][2] == {
        "input": "i5",
        "output": "o5",
        "how": "closed set",
        "step": 0,
    }


@pytest.mark.parametrize("command", ["count", "posterior", "sample"])
def test_commands_take_laws_of_rings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    rings = {
        "a": {"members": ["x", "y"], "height": 100, "transaction": "t"},
        "b": {"members": ["u", "v"], "height": 100, "transaction": "t"},
    }
    made = {"x": (1, "m"), "y": (50, "n"), "u": (90, "m"), "v": (10, "k")}
    outputs = {name: {"height": at, "transaction": by} for name, (at, by) in made.items()}
    path = tmp_path / "rings.json"
    path.write_text(json.dumps({"rings": rings, "outputs": outputs}))
    told = ["--decoys", "uniform", "--spends", "gamma:12,1.5", "--merging", "10"]
    assert main([command, str(path), "--json", *told]) == 0
    assert json.loads(capsys.readouterr().out)["weighted"]
    assert main([command, str(path), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["weighted"]
    assert main([command, str(path), "--decoys", "gama"]) == 2
    assert "--decoys must be uniform, triangular, gamma" in capsys.readouterr().err


def test_rings_that_cannot_all_spend_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path, {name: {"members": ["x", "y"]} for name in "abc"})
    assert main(["audit", str(path)]) == 2
    error = capsys.readouterr().err

    assert "inputs" in error
    assert "outputs" in error
    assert "user" not in error


@pytest.mark.slow
def test_the_mean_entropy_of_sampled_rings_is_closer_than_that_of_each(tmp_path: Path) -> None:
    """Held against exact answers of small rings that are sampled all the same."""
    from anonymatch.counting.measures import averages, user_figures

    held = 0
    for seed in range(12):
        rings = simulated(14, 30, 4, seed)
        pairs = [(name, member) for name, ring in rings.items() for member in ring["members"]]
        graph = am.Graph.from_edges(pairs)
        exact = am.audit(graph).entropy.value
        drawn = am.posterior(graph, method="estimate", budget=0.1, seed=seed)
        assert drawn.errors is not None
        interval = averages.mean_of_sampled(graph.indptr, drawn.probabilities, drawn.errors)
        users = user_figures(graph, drawn.probabilities, drawn.margins)
        each = averages.mean(users, users.shannon)
        assert each is not None
        assert interval.high - interval.low < (each.high - each.low) / 1.5
        held += interval.low <= exact <= interval.high
    assert held >= 11


def test_weights_of_rings_that_do_not_fit_are_not_called_a_law(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rings = {
        f"i{k}": {"members": [f"a{k}", f"b{k}"], "weights": [9, 1], "truth": f"b{k}"}
        for k in range(60)
    }
    path = save(tmp_path, {"rings": rings})
    assert am.audit(path).verdict.startswith("Weights of members do not fit: 0 % of the best")
    assert main(["audit", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "probabilities are NOT calibrated: check --decoys, --spends and --merging." in out
    assert "law" not in out


def test_decoys_as_old_as_spends_do_not_make_members_weigh_differently(tmp_path: Path) -> None:
    rings = {"i1": {"members": ["o1", "o2"], "height": 90}}
    outputs = {"o1": {"height": 10}, "o2": {"height": 80}}
    path = save(tmp_path, {"rings": rings, "outputs": outputs})
    assert "Members weigh all the same: gamma spends over gamma decoys." in (
        am.audit(path, decoys="gamma", spends="gamma").notes
    )
    assert "Members weigh differently: gamma spends over uniform decoys." in (
        am.audit(path, decoys="uniform", spends="gamma").notes
    )


def test_figures_of_which_only_the_ends_are_known_have_no_value_in_json(tmp_path: Path) -> None:
    audit = am.audit(save(tmp_path, simulated(400, 440, 11, 1)), source="rings", budget=0)
    record = audit.to_dict()

    for key in ("entropy", "min_entropy", "entropy_5%", "typical", "below", "surest"):
        assert record[key]["value"] is None, key
        assert record[key]["low"] < record[key]["high"], key
    assert am.audit(save(tmp_path, SEVEN)).to_dict()["entropy"]["value"] is not None


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_blamed_for_a_misfit_only_where_they_were_given(
    tmp_path: Path, *, weighted: bool
) -> None:
    # The first member is always the real spend, which no weight says.
    rings = {
        f"i{k}": {"members": [f"o{k}-{j}" for j in range(8)], "truth": f"o{k}-0"}
        | ({"weights": [1, 1, 1, 1, 1, 1, 1, 2]} if weighted else {})
        for k in range(80)
    }
    audit = am.audit(save(tmp_path, rings), source="rings")
    said = " ".join((audit.verdict, *audit.caveats))

    assert audit.score is not None
    assert not audit.score.calibrated
    assert ("Weights of members do not fit" in said) is weighted
    assert ("equally likely members, so the figures do not describe" in said) is not weighted
