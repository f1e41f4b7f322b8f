"""What pages show is what the library says, and what definitions say."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.counting.reference import matchings
from anonymatch.mixes import ReadOptions
from anonymatch.studio.options import AddressOptions
from anonymatch.studio.pages.attack import EXAMPLE, GRAPHS, play, start_of
from anonymatch.studio.pages.design import contenders, edges_for
from anonymatch.studio.pages.one_user import why
from anonymatch.studio.request import LABELS, AuditRequest, as_field
from anonymatch.studio.session import Remembered
from anonymatch.studio.uploads import Store


@pytest.mark.parametrize(("users", "edges"), [(2, 3), (4, 8), (6, 17), (7, 25), (5, 25)])
def test_contenders_have_the_edges_and_matchings_they_are_shown_with(
    users: int, edges: int
) -> None:
    for each in contenders(users, edges):
        assert each.graph is not None
        assert (each.graph.n_users, each.graph.n_edges) == (users, edges)
        if each.key == "random":
            assert each.bits == pytest.approx(
                am.random_expectation(users, edges=edges) / math.log(2)
            )
            continue
        number = len(list(matchings(each.graph)))
        assert each.bits == pytest.approx(math.log2(number))
        left = min(float(x) for x in am.exposures(each.graph).expected_left)
        assert each.bits_left == pytest.approx(math.log2(left), abs=1e-9)
        assert each.curve[0] == pytest.approx(each.bits, abs=1e-6)


def test_no_contender_beats_the_best_in_its_own_field() -> None:
    best, after, *others = contenders(10, 37)

    for each in others:
        assert each.bits is not None
        assert best.bits is not None
        assert each.bits <= best.bits + 1e-9
        if each.bits_left is not None and after.bits_left is not None:
            assert each.bits_left <= after.bits_left + 1e-9


def test_many_users_are_compared_without_their_graphs() -> None:
    compared = contenders(3000, 9000)

    assert [each.graph for each in compared] == [None] * 5
    assert compared[0].share == pytest.approx(1.0)


@pytest.mark.parametrize("candidates", [0.2, 1.0, 2.4, 99.0])
def test_edges_for_stay_in_range(candidates: float) -> None:
    assert 7 <= edges_for(7, candidates) <= 49


@pytest.mark.parametrize("key", GRAPHS)
def test_a_campaign_ends_with_everybody_known(key: str) -> None:
    graph = start_of(key)
    targets: list[str] = []
    state = play(graph, [])
    while state.next is not None:
        targets.append(str(state.next.best[0]))
        state = play(graph, targets)

    assert state.log == pytest.approx(0.0, abs=1e-9)
    assert set(state.identified) | set(state.targets) == set(graph.users)
    assert all(state.truth[user] == did for user, did in state.identified.items())


def test_a_step_leaves_the_matchings_that_agree_with_it() -> None:
    graph = am.ring(6, 3)
    state = play(graph, ["2"], seed=3)
    agreeing = [one for one in matchings(graph) if one[2] == state.truth[2]]

    assert state.own is not None
    assert state.own.steps[0].left == len(agreeing)
    assert state.named("4") == 4
    assert state.named("2") is None


def test_users_who_were_known_before_did_not_fall() -> None:
    state = play(start_of("mix"), ["ann"])

    assert sorted(map(str, state.identified)) == sorted(
        str(user) for user, _ in am.forced(start_of("mix"))
    )
    assert state.fell == {}


def test_names_that_are_nobodys_are_left_out() -> None:
    assert play(am.ring(4, 2), ["zoe", "1", "1"]).targets == [1]


def test_why_agrees_with_counting_all_orders() -> None:
    graph = am.Graph.from_rows(["1110", "0111", "1011", "1101"])
    audit = why(am.audit(graph), 1)
    rows = [[int(bit) for bit in row] for row in graph.to_rows()]
    orders = [p for p in permutations(range(4)) if all(rows[i][j] for i, j in enumerate(p))]

    assert {name: pytest.approx(probability) for name, probability in audit.candidates} == {
        j: sum(p[1] == j for p in orders) / len(orders) for j in (1, 2, 3)
    }
    assert audit.exposure is not None
    assert audit.around is not None
    assert audit.around.n_users == 4


def test_why_names_the_tight_set() -> None:
    audit = am.audit(am.Graph.from_rows(["1100", "1100", "0110", "0011"]), top=1)

    assert why(audit, 2).reason == "what else fits is needed by 0, 1, who fit nothing else"
    assert why(audit, 3).reason == "nobody else fits 3"
    assert why(audit, 0).reason == ""


def test_errors_call_files_by_the_readers_names(tmp_path: Path) -> None:
    path = tmp_path / "secret-token.csv"
    path.write_text("user,behaviour\nann\n")
    inquiry = AuditRequest(name="seen.csv", path=path)

    with pytest.raises(InputError, match=r"seen\.csv") as caught:
        inquiry.audit(lambda *_: None)

    assert "secret" not in str(caught.value)


def test_the_command_line_of_an_audit_is_quoted() -> None:
    inquiry = AuditRequest(
        name="a b;rm.csv", path=EXAMPLE, options=ReadOptions(law="window:1,5"), budget=5.0
    )

    assert inquiry.command() == "anonymatch audit 'a b;rm.csv' --law window:1,5 --budget 5"


def test_errors_speak_of_the_fields_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "upload-1.csv"
    path.write_text("time,direction,name\n0,in,ann\n9,out,x\n")

    def problem_of(law: str) -> str:
        with pytest.raises(am.InputError) as caught:
            AuditRequest(name="log.csv", path=path, options=ReadOptions(law=law or None)).audit(
                lambda *_: None
            )
        return str(caught.value)

    assert "give 'How messages are delayed', one of window:1,5" in problem_of("")
    assert "('Dummy messages' 1)" in problem_of("window:0,1")


def test_every_field_that_an_error_may_name_is_told_by_its_label() -> None:
    for name, label in LABELS.items():
        assert as_field(Argument(name)) == repr(label)
        assert as_field(Argument(name, ...)) == repr(label)


def test_the_address_takes_laws_by_other_words() -> None:
    store = Store()
    options = AddressOptions.of({"example": "mix_log.csv", "law": "poisson:3"}, store, "")
    store.close()

    assert (options.law, options.numbers) == ("exponential", "3")


# ---- what an address has


def address_options(query: dict[str, str]) -> AddressOptions:
    store = Store()
    try:
        return AddressOptions.of(query, store, "page")
    finally:
        store.close()


def test_thresholds_and_marks_of_an_address_are_written_as_they_were_read() -> None:
    given = {"thresholds": "entropy=3,k=5,surest=0.5", "marked": "0.5,2"}
    options = address_options(given)

    assert options.thresholds == {"entropy": 3.0, "global (1,k)": 5.0, "surest": 0.5}
    assert options.marked == (0.5, 2.0)
    shown = options.shown()
    assert shown == {"thresholds": ["entropy=3", "k=5", "surest=0.5"], "marked": ["0.5", "2"]}


@pytest.mark.parametrize(
    "query",
    [
        {"thresholds": "magic=3,entropy=x,surest=7"},
        {"marked": "1"},
        {"marked": "a,b"},
        {"marked": "nan,1"},
        {"law": "measured:/etc/passwd"},
        {"law": "0.1+measured:/etc/passwd"},
        {"law": "nonsense"},
    ],
)
def test_what_an_address_says_wrongly_is_left_out(query: dict[str, str]) -> None:
    options = address_options(query)

    assert options.thresholds == {}
    assert options.marked is None
    assert options.law == options.numbers == options.links == ""


def test_time_on_links_stands_before_the_law() -> None:
    options = address_options({"law": "0.2+erlang:3,0.5", "example": "mix_log.csv"})
    inquiry = options.inquiry()

    assert (options.links, options.law, options.numbers) == ("0.2", "erlang", "3,0.5")
    assert inquiry is not None
    assert inquiry.options.law == "0.2+erlang:3,0.5"
    assert options.values()["law"] == "0.2+erlang:3,0.5"


def test_a_system_of_a_comparison_is_the_same_again() -> None:
    from urllib.parse import parse_qsl

    options = address_options(
        {"law": "0.2+erlang:3,0.5", "example": "mix_log.csv", "unit": "ms", "step": "look"}
    )
    again = address_options(dict(parse_qsl(options.system())))

    assert again.values() == options.values() | {"step": ""}


def test_the_command_fails_under_what_is_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
    request = AuditRequest(name=str(path), path=path)
    command = request.command({"entropy": 3.0, "surest": 0.5, "global (1,k)": 2.0})

    assert command.endswith("--fail-under entropy=3 --fail-over surest=0.5 --fail-under k=2")
    from shlex import split

    from anonymatch.cli import main

    assert main(split(command)[1:]) == 1  # the entropy is missed


def test_a_first_look_is_remembered_whatever_law_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    am.mixes.write_messages(am.mixes.synthesize("window:1,5", messages=40, seed=1), path)
    looks, plain = Remembered(), AuditRequest(name="log.csv", path=path, token="t").plain()
    first = looks.once(plain, plain.first_look)

    law = AuditRequest(
        name="log.csv", path=path, token="t", options=ReadOptions(law="window:1,9"), budget=3.0
    ).plain()
    assert looks.once(law, law.first_look) is first
    looks.forget("t")
    assert looks.known(law) is None
    assert looks.once(law, law.first_look) is not first


def test_errors_about_files_of_an_archive_call_them_as_the_reader_does(tmp_path: Path) -> None:
    (tmp_path / "SentMessages.csv").write_text("MessageID\n1\n")
    (tmp_path / "ReceivedMessages.csv").write_text("MessageID\n1\n")
    request = AuditRequest(name="run", path=tmp_path)

    with pytest.raises(InputError) as error:
        request.first_look()

    assert str(error.value).startswith("run/SentMessages.csv: ")
    assert str(tmp_path) not in str(error.value)


def test_a_log_of_rounds_is_sent_to_its_own_page(tmp_path: Path) -> None:
    path = tmp_path / "rounds.csv"
    path.write_text("round,direction,user,behaviour\n1,in,a,\n1,out,,x\n")

    with pytest.raises(InputError) as error:
        AuditRequest(name="mine.csv", path=path).first_look()

    assert "the page 'Rounds' tells how long anonymity lasts" in str(error.value)
    assert str(error.value).startswith("mine.csv: ")
