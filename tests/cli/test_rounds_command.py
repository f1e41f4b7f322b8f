"""Rounds on the command line: how long anonymity lasts, thresholds, methods and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.disclosure import METHODS
from anonymatch.running.checkpoint import read_checkpoint

EXAMPLE = Path(__file__).parents[2] / "examples" / "rounds.csv"
QUICK = ("--budget", 1)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def words(text: str) -> str:
    """A screen without the breaks of its lines."""
    return " ".join(text.split())


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, "rounds", *arguments, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert isinstance(record, dict)
    return record


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err.removeprefix("error: ").rstrip()


def written(folder: Path, text: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text("round,direction,user,behaviour\n" + text)
    return path


@pytest.fixture
def log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "rounds.csv"
    sizes = ("--rounds", 24, "--friends", 2, "--users", 8, "--batch", 3, "--seed", 2)
    assert run(capsys, "synthesize", *sizes, path)[0] == 0
    return path


# ---- what is told


def test_the_screen_begins_with_the_half_life(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "rounds", EXAMPLE)

    assert (code, err) == (0, "")
    parts = (
        "rounds.csv: 60 rounds, 16 users, 12 behaviours, 360 messages",
        "The half-life is about",
        "rounds seen",
        "Shortest half-life first:",
        "has few friends",
        "The likeliest pairs",
        "Against the known links",
        "Method gibbs",
        "Prior of profiles: Dirichlet",
    )
    places = [words(out).find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_who_writes_always_to_the_same_falls_first(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, EXAMPLE)
    first = record["users"][0]

    assert (first["user"], first["why"]) == ("bob", "has few friends")
    assert first["half_life"] < record["half_life"]
    likeliest = max(record["profiles"], key=lambda pair: pair["probability"])
    assert likeliest["user"] == "bob"


def test_json_is_what_the_library_says(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    record = answer(capsys, log, *QUICK)
    result = am.rounds(log, budget=am.Budget(seconds=1.0))

    assert record["half_life"] == result.half_life
    assert [point["rounds"] for point in record["curve"]] == result.decay["rounds"].to_list()
    assert [point["bits"]["value"] for point in record["curve"]] == result.decay["bits"].to_list()
    assert record["right"]["value"] == result.right
    assert record["believed"]["value"] == result.believed
    assert record["calibrated"] == result.calibrated
    assert [pair["probability"] for pair in record["profiles"]] == (
        result.profiles["probability"].to_list()
    )
    assert (record["n_rounds"], record["n_users"], record["n_messages"]) == (24, 8, 72)
    assert (record["gates"], record["notes"], record["seed"]) == ([], [], 0)


def test_pairs_are_saved_with_probabilities_and_errors(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    table = tmp_path / "pairs.csv"
    code, _, err = run(capsys, "rounds", log, *QUICK, "--csv", table)
    frame = pl.read_csv(table)

    assert (code, err) == (0, f"note: wrote {table}\n")
    assert frame.columns == ["user", "behaviour", "probability", "error"]
    result = am.rounds(log, budget=am.Budget(seconds=1.0)).profiles
    assert frame["probability"].to_list() == pytest.approx(result["probability"].to_list())
    assert frame["error"].to_list() == pytest.approx(result["error"].to_list())


def test_a_page_is_written_by_the_report(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    page = tmp_path / "rounds.html"
    code, _, err = run(capsys, "rounds", log, *QUICK, "--html", page)

    assert (code, err) == (0, f"note: wrote {page}\n")
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_one_user_alone_is_told(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    record = answer(capsys, log, *QUICK, "--target", "user 3")

    assert record["target"] == "user 3"
    assert {pair["user"] for pair in record["profiles"]} == {"user 3"}
    assert [user["user"] for user in record["users"]] == ["user 3"]
    assert "a message of user 3" in record["verdict"]


def test_users_that_are_numbers_are_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "numbers.parquet"
    rows = [(k, way, 7 if way == "in" else None, 9 if way == "out" else None)
            for k in (1, 2) for way in ("in", "out")]  # fmt: skip
    columns = ["round", "direction", "user", "behaviour"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(path)

    assert answer(capsys, path, *QUICK, "--target", 7)["target"] == 7


@pytest.mark.slow
def test_the_seed_decides_and_nothing_else(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    one, same, other = (answer(capsys, log, *QUICK, "--seed", seed) for seed in (1, 1, 2))

    assert one == same
    assert one["profiles"] != other["profiles"]


def test_a_prior_that_is_told_is_kept(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    record = answer(capsys, log, *QUICK, "--alpha", 0.5)

    assert record["strength"] == pytest.approx(0.5 * record["n_behaviours"])
    assert "alpha 0.5 per behaviour, set with --alpha" in words(
        run(capsys, "rounds", log, *QUICK, "--alpha", 0.5)[1]
    )


def test_an_answer_that_is_resumed_is_the_same(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.sqlite"
    code, first, _ = run(capsys, "rounds", log, "--budget", 20, "--resume", path, "--json")
    assert code == 0
    recorded = sum(job.recorded for job in read_checkpoint(path).jobs)
    code, again, err = run(capsys, "rounds", log, "--budget", 20, "--resume", path, "--json")

    assert recorded > 0
    assert f"{recorded} of {recorded} chunks were there already" in err
    assert again == first


# ---- methods


@pytest.mark.grid
@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("exact", "presence")])
def test_every_method_tells_who_writes_to_whom(
    capsys: pytest.CaptureFixture[str], log: Path, method: str
) -> None:
    record = answer(capsys, log, *QUICK, "--method", method)

    assert record["method"] == method
    assert record["right"]["value"] > 0.5
    assert (record["believed"] is not None) == (method == "gibbs")
    assert (record["half_life"] is not None) == (method == "gibbs")
    _, out, _ = run(capsys, "rounds", log, *QUICK, "--method", method)
    assert f"Method {method}:" in out
    assert ("no half-life" in words(out)) == (method != "gibbs")


def test_help_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rounds", "--help")

    assert [name for name in METHODS if name not in words(out)] == []


def test_sets_of_friends_of_one_target_are_weighed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    received = ("023", "142", "055", "104")
    text = "".join(
        f"{k},in,ann,\n" + "".join(f"{k},out,,{one}\n" for one in round_)
        for k, round_ in enumerate(received)
    )
    path = written(tmp_path, text)
    record = answer(capsys, path, "--method", "exact", "--target", "ann", "--friends", 2)
    chosen = {pair["behaviour"]: pair["probability"] for pair in record["profiles"]}

    assert record["bits"]["value"] == pytest.approx(1.584963, abs=1e-6)
    assert chosen == pytest.approx({"0": 1.0, "1": 1 / 3, "2": 1 / 3, "4": 1 / 3})
    assert record["sets"] == 3
    _, out, _ = run(capsys, "rounds", path, "--method", "exact", "--target", "ann", "--friends", 2)
    assert "3 sets of friends explain all rounds:" in out


def test_a_target_that_falls_in_its_first_round_has_a_half_life(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "1,in,ann,\n1,out,,a\n2,in,bob,\n2,out,,b\n3,in,bob,\n3,out,,c\n")
    record = answer(capsys, path, "--method", "exact", "--target", "ann", "--friends", 1)

    assert 0 < record["half_life"] <= 1
    assert "The half-life is at most 1 round of ann" in record["verdict"]


def test_presence_is_a_method_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    online = ((1, "pqr", "x"), (2, "pqs", "x"), (3, "prs", ""), (4, "qrs", "x"))
    text = "".join(
        "".join(f"{k},in,{one},\n" for one in users) + "".join(f"{k},out,,{one}\n" for one in acts)
        for k, users, acts in online
    )
    path = written(tmp_path, text)
    record = answer(capsys, path, "--presence")

    assert record == answer(capsys, path, "--method", "presence")
    assert [(pair["user"], pair["probability"]) for pair in record["profiles"]] == [("q", 1.0)]
    assert record["notes"] == []  # more are online than act, and nothing was lost
    assert "The likeliest pairs:" in run(capsys, "rounds", path, "--presence")[1]


def test_pseudonyms_that_nobody_can_own_are_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "1,in,ann,\n1,out,,x\n1,out,,y\n2,in,bob,\n2,in,ann,\n2,out,,y\n3,in,bob,\n3,out,,x\n"
    record = answer(capsys, written(tmp_path, text), "--presence")

    assert record["notes"] == ["nobody was online whenever x acted; left out"]
    assert {pair["behaviour"] for pair in record["profiles"]} == {"y"}
    assert all(point["believed"]["value"] > 0 for point in record["curve"])
    nobody = written(tmp_path, "1,in,ann,\n1,out,,x\n2,in,bob,\n2,out,,x\n", "nobody.csv")
    assert "nobody was online" in refusal(capsys, "rounds", nobody, "--presence")


def test_a_sample_of_users_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    log = am.disclosure.synthesize_rounds(2000, friends=1, users=6000, batch=20)
    am.disclosure.write_rounds(log, path)
    record = answer(capsys, path, "--method", "sda")

    assert "200 users drawn among" in record["notes"][0]
    assert "name a user with --target" in record["notes"][0]
    assert len({pair["user"] for pair in record["profiles"]}) == 200


def test_methods_are_compared_on_one_table(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    record = answer(capsys, log, *QUICK, "--compare")
    rows = {row["method"]: row for row in record["methods"]}

    assert list(rows) == [name for name in METHODS if name not in ("exact", "presence")]
    assert [name for name, row in rows.items() if row["believed"] is not None] == ["gibbs"]
    assert all(row["right"]["value"] > 0.4 for row in rows.values())
    assert rows["gibbs"]["squared_distance"] < rows["sda"]["squared_distance"]
    code, out, _ = run(capsys, "rounds", log, *QUICK, "--compare")
    assert code == 0
    assert [name for name in rows if f"\n  {name} " not in out] == []
    assert max(map(len, out.splitlines())) <= 80


def test_a_method_that_does_not_reach_is_named_with_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    users = [f"u{k}" for k in range(40)]
    text = "".join(
        f"{k},in,{user},\n{k},out,,r{(at * 7 + k) % 40}\n"
        for k in (1, 2)
        for at, user in enumerate(users)
    )
    record = answer(capsys, written(tmp_path, text), *QUICK, "--compare")
    reasons = {row["method"]: row["reason"] for row in record["methods"]}

    assert "too many for em" in reasons.pop("em")
    assert set(reasons.values()) == {None}
    _, out, _ = run(capsys, "rounds", tmp_path / "log.csv", *QUICK, "--compare")
    assert "Out of reach:" in out
    assert "nothing can be scored" in words(out)


# ---- thresholds


@pytest.mark.grid
@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (("--fail-under", "half-life=2"), 0, "half_life=2 is reached: about"),
        (("--fail-under", "half-life=20"), 1, "half_life=20 is missed: about"),
        (("--fail-under", "half_life=500"), 1, "half_life=500 is missed"),
        (("--fail-under", "bits=1.5"), 1, "bits=1.5 is missed"),
        (("--fail-under", "bits=0.001"), 0, "bits=0.001 is reached"),
        (("--fail-over", "right=0.5"), 1, "right=0.5 is exceeded"),
        (("--fail-over", "right=1"), 0, "right=1 is kept"),
        (("--fail-over", "right=1,believed=0.5"), 1, "believed=0.5 is exceeded"),
        (("--method", "sda", "--fail-under", "half-life=2"), 1, "sda tells no bits; choose gibbs"),
        (("--method", "em", "--fail-over", "believed=1"), 1, "em does not tell it; choose gibbs"),
    ],
)
def test_thresholds_decide_the_exit_code(
    capsys: pytest.CaptureFixture[str],
    log: Path,
    options: tuple[str, ...],
    code: int,
    line: str,
) -> None:
    ended, out, err = run(capsys, "rounds", log, *QUICK, *options)

    assert (ended, err) == (code, "")
    assert line in words(out)
    assert run(capsys, "rounds", log, *QUICK, *options, "--json")[0] == code


@pytest.mark.parametrize(
    ("asked", "code", "line"),
    [
        (3, 0, "half_life=3 is reached: more than 3 rounds, all that the log has"),
        (4, 1, "half_life=4 cannot be judged: the log has only 3 rounds"),
    ],
)
def test_a_log_that_is_too_short_for_its_half_life_is_judged_by_its_rounds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, asked: int, code: int, line: str
) -> None:
    text = "".join(f"{k},in,ann,\n{k},in,bob,\n{k},out,,x\n{k},out,,y\n" for k in (1, 2, 3))
    path = written(tmp_path, text)
    ended, out, _ = run(capsys, "rounds", path, *QUICK, "--fail-under", f"half-life={asked}")

    assert ended == code
    assert line in words(out)
    assert "The half-life is more than 3 rounds" in words(out)


def test_what_the_log_does_not_tell_cannot_be_judged(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "1,in,ann,\n1,out,,x\n2,in,ann,\n2,out,,x\n")
    code, out, _ = run(capsys, "rounds", path, *QUICK, "--fail-over", "right=0.9")

    assert code == 1
    assert "right=0.9 cannot be judged: the log does not tell which message is which" in words(out)


def test_who_never_hides_has_no_half_life(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "1,in,ann,\n1,out,,x\n2,in,bob,\n2,out,,y\n")
    code, out, _ = run(capsys, "rounds", path, *QUICK, "--fail-under", "half-life=1")

    assert code == 1
    assert "half_life=1 is missed: nobody hides even in one round" in words(out)


@pytest.mark.slow
def test_audits_judge_half_lives_as_rounds_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = am.disclosure.synthesize_rounds(120, users=80, batch=20, seed=1)
    rows = ["time,direction,user,behaviour,round"]
    for t in range(made.n_rounds):
        senders = made.sender[made.sent[t] : made.sent[t + 1]].tolist()
        rows += [f"{30 * t + k},in,{made.users[s]},,{t}" for k, s in enumerate(senders)]
        rows += [
            f"{30 * t + 25},out,,{made.behaviours[r]},{t}" for r in made.received_in(t).tolist()
        ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    options = ("--budget", 0.5, "--json", "--fail-under")

    for asked, code, reached in ((35, 0, None), (500, 1, False)):
        gates = []
        for command in (("rounds", path), ("audit", path, "--law", "threshold:20")):
            ended, out, _ = run(capsys, *command, *options, f"half_life={asked}")
            assert ended == code
            gates += json.loads(out)["gates"]
        assert [gate["reached"] for gate in gates] == [reached, reached]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--fail-under", "half=3"), "threshold 'half=3' is not understood"),
        (("--fail-under", "right=0.3"), "belongs to --fail-over"),
        (("--fail-over", "half-life=3"), "belongs to --fail-under"),
        (("--fail-over", "right=3"), "is a share; give a number from 0 to 1"),
        (("--fail-under", "half-life=soon"), "is not understood"),
    ],
)
def test_thresholds_that_are_none_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], says: str
) -> None:
    assert says in refusal(capsys, "rounds", EXAMPLE, *options)


# ---- bad input


def test_rounds_out_of_order_are_put_in_order_and_that_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "2,in,ann,\n2,out,,x\n1,in,ann,\n1,in,bob,\n1,out,,x\n1,out,,y\n")
    code, out, _ = run(capsys, "rounds", path, *QUICK)

    assert code == 0
    assert "line 4: round 1 comes after round 2; rounds were put in order" in words(out)


def test_one_round_is_a_plain_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = written(tmp_path, "1,in,ann,\n1,in,bob,\n1,out,,x\n1,out,,y\n")
    code, out, _ = run(capsys, "rounds", path, *QUICK)

    assert code == 0
    assert "One round alone says nothing about how long anonymity lasts" in words(out)
    assert "1 bit about the receiver of a message is left" in words(out)
    assert answer(capsys, path, *QUICK)["half_life"] is None


def test_more_receivers_than_messages_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "1,in,ann,\n1,out,,x\n1,out,,y\n2,in,ann,\n2,out,,x\n")
    code, out, _ = run(capsys, "rounds", path, *QUICK)

    assert code == 0
    assert "1 round has more messages out than in" in words(out)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1,in,,\n1,out,,x\n", "line 2: there is no user"),
        ("1,in,ann,\n1,in,bob,\n", "there is no message out in any round"),
        (",in,ann,\n1,out,,x\n", "line 2: there is no round"),
        ("1,up,ann,\n1,out,,x\n", "line 2"),
    ],
)
def test_a_log_that_is_not_usable_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    path = written(tmp_path, text)
    line = refusal(capsys, "rounds", path)

    assert line.startswith(f"{path}: ")
    assert says in line


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--target", "zoe"), "--target 'zoe' sends in no round"),
        (("--method", "gibs"), "--method gibs: there is no such method; use gibbs, sda"),
        (("--friends", "3"), "--friends is for --method exact, not gibbs; leave it out"),
        (("--compare", "--friends", "3"), "--friends is about one user; give --target USER"),
        (("--method", "exact"), "give --target USER and --friends M"),
        (("--method", "exact", "--target", "ann", "--friends", "99"), "--friends must be from 1"),
        (("--method", "sda", "--alpha", "1"), "--alpha: only gibbs takes it, not sda"),
        (("--presence", "--method", "sda"), "--presence is a method, and so is --method sda"),
        (("--compare", "--csv", "out.csv"), "--compare is a table of its own; leave --csv out"),
        (("--compare", "--method", "em"), "--compare is a table of its own; leave --method out"),
        (("--csv", "out.foo"), "its suffix tells no known format"),
        (("--csv", str(EXAMPLE)), "it is the file to read"),
        (("--memory", "1e-9"), "allow it with --memory"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], says: str
) -> None:
    assert says in refusal(capsys, "rounds", EXAMPLE, *options)


def test_a_message_log_without_a_law_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "messages.csv"
    path.write_text("time,direction,user,behaviour\n1,in,ann,\n2,out,,x\n")

    assert "give a law with --law, or a column round" in refusal(capsys, "rounds", path)


def test_times_beside_rounds_change_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "both.csv"
    path.write_text("round,time,direction,user,behaviour\n1,1,in,ann,\n1,2,out,,x\n")

    assert answer(capsys, path, *QUICK)["n_rounds"] == 1


def test_nothing_is_written_when_a_log_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, "1,in,,\n1,out,,x\n")
    refusal(capsys, "rounds", path, "--csv", tmp_path / "out.csv")

    assert [one.name for one in tmp_path.iterdir()] == [path.name]


# ---- what else knows rounds


def test_an_audit_of_a_log_of_rounds_points_here(capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(capsys, "audit", EXAMPLE)

    assert line.startswith(f"{EXAMPLE}: it is a log of rounds")
    assert "'anonymatch rounds FILE'" in line
    with pytest.raises(am.InputError, match=r"call am\.rounds\(path\)"):
        am.audit(EXAMPLE)


def test_edges_with_a_column_round_can_still_be_audited(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("round,user,behaviour\n1,ann,x\n1,ann,y\n2,bob,x\n2,bob,y\n")

    assert "--source edges" in refusal(capsys, "audit", path)
    assert run(capsys, "audit", path, "--source", "edges")[0] == 0


def test_every_audit_points_to_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "demo")

    assert (
        "An audit measures one round. Users who stay the same over many rounds lose more "
        "anonymity: 'anonymatch rounds' measures how fast."
    ) in words(out)


def test_logs_are_made_up_with_their_truth(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "made.parquet"
    code, out, _ = run(
        capsys, "synthesize", "--rounds", 7, "--friends", 2, "--users", 9, "--receivers", 5,
        "--batch", 3, "--seed", 4, path,
    )  # fmt: skip
    made = am.disclosure.synthesize_rounds(7, friends=2, users=9, receivers=5, batch=3, seed=4)
    log = am.disclosure.read_rounds(path)

    assert (code, out) == (0, f"wrote {path}: 7 rounds, 21 messages\n")
    assert log.n_rounds == 7
    named = [log.behaviours[k] for k in log.true_receivers().tolist()]  # type: ignore[union-attr]
    assert named == [made.behaviours[k] for k in made.true_receivers().tolist()]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("window:1,5", "--rounds", "3", "out.csv"), "--rounds takes no law; leave window:1,5 out"),
        (("--rounds", "3", "--law", "window:1,5", "out.csv"), "--rounds takes no law"),
        (("--rounds", "3", "--rate", "2", "out.csv"), "--rate is not for rounds"),
        (("--rounds", "3", "--network", "3x3", "out.csv"), "--network is not for rounds"),
        (("window:1,5", "--batch", "3", "out.csv"), "--batch is for rounds; give --rounds, too"),
        (
            ("--rounds", "3", "--batch", "200", "out.csv"),
            "--batch 200 is more than there are users",
        ),
        (("--rounds", "3", "--friends", "101", "out.csv"), "--friends 101 is more than there are"),
        (("--rounds", "3", "out.foo"), "its suffix tells no known format"),
    ],
)
def test_made_up_rounds_take_what_rounds_have(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert says in refusal(capsys, "synthesize", *arguments)
    assert list(tmp_path.iterdir()) == []
