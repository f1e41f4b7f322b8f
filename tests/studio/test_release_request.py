"""Releases and rings as pages ask about them: columns, hierarchies and laws of ages."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from shlex import split
from urllib.parse import parse_qsl, urlsplit

import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.mixes import SOURCES, ReadOptions
from anonymatch.studio.address import address, with_text
from anonymatch.studio.options import AddressOptions, form_fields, law_choices
from anonymatch.studio.pages.one_user import why
from anonymatch.studio.request import LABELS
from anonymatch.studio.uploads import Store, Upload

PEOPLE = "person,age,zip\nann,23,1010\nbob,27,1010\ncem,24,1020\ndan,31,1020\neve,36,1030\n"
RELEASED = (
    "age,zip,illness\n20-29,101*,flu\n20-29,101*,flu\n20-29,10**,asthma\n30-39,10**,cold\n"
    "30-39,10**,hiv\n"
)


def upload(folder: Path, name: str, content: str) -> Upload:
    path = folder / f"secret-{name}"
    path.write_text(content)
    return Upload(f"token-{name}", name, path, path)


@pytest.fixture
def options(tmp_path: Path) -> AddressOptions:
    return AddressOptions(
        file=upload(tmp_path, "released.csv", RELEASED),
        second=upload(tmp_path, "people.csv", PEOPLE),
        role="original",
    )


def audited(options: AddressOptions) -> am.Audit:
    inquiry = options.inquiry()
    assert inquiry is not None
    return inquiry.audit(lambda *_: None)


def test_a_release_has_the_readers_name_and_the_columns_that_are_ticked(
    options: AddressOptions,
) -> None:
    guessed = audited(options)
    options.tell(quasi_identifiers=("age",), sensitive=(), name="person")
    told = audited(options)

    assert guessed.name == told.name == "released.csv"
    assert "Identifiers (guessed): age, zip" in guessed.notes[0]
    assert told.notes[0] == "Identifiers: age; name: person."
    assert (guessed.identified, told.identified) == (1, 0)


def test_the_command_of_a_release_gives_the_same(
    options: AddressOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, content in (("released.csv", RELEASED), ("people.csv", PEOPLE)):
        (tmp_path / name).write_text(content)
    (tmp_path / "zip.csv").write_text("1010;101*\n1020;102*\n1030;103*\n")
    options.hierarchies = {"zip": upload(tmp_path, "zip.csv", "1010;101*\n1020;102*\n1030;103*\n")}
    options.tell(quasi_identifiers=("age", "zip"), sensitive=(), tolerance={"age": 1.5})
    inquiry = options.inquiry()
    assert inquiry is not None
    command = inquiry.command()

    assert "--hierarchies zip=zip.csv" in command
    assert "--tolerance age=1.5" in command
    assert "secret" not in f"{command} {inquiry.python()}"
    monkeypatch.chdir(tmp_path)
    assert main(split(command)[1:]) == 0
    assert "Identifiers: age, zip; name (guessed): person." in re.sub(
        r"\s+", " ", capsys.readouterr().out
    )


def test_a_hierarchy_of_a_column_that_does_not_identify_is_left_out(
    options: AddressOptions, tmp_path: Path
) -> None:
    options.hierarchies = {"zip": upload(tmp_path, "zip.csv", "1010;101*\n")}
    options.tell(quasi_identifiers=("age",))
    inquiry = options.inquiry()
    assert inquiry is not None

    assert inquiry.options.hierarchies is None
    assert audited(options).identified == 0


def test_an_address_has_columns_tolerance_and_laws_of_ages() -> None:
    store = Store()
    given = AddressOptions(
        example="mix.csv",
        read=ReadOptions(
            quasi_identifiers=("age, years", "zip"),
            sensitive=(),
            name="who",
            tolerance={"age": 2.0},
            decoys="uniform",
            spends="gamma:10,1",
            merging=5.0,
        ),
    )
    link = address("/audit", **given.values())
    query = dict(parse_qsl(urlsplit(link).query, keep_blank_values=True))
    again = AddressOptions.of(query, store, "page")
    store.close()

    assert again.read == given.read


def test_an_address_names_no_file_of_this_machine() -> None:
    store = Store()
    query = {
        "law": "measured:/etc/passwd",
        "delays": "/etc/passwd",
        "hierarchies": "age:/etc/passwd",
        "decoys": "measured:/etc/passwd",
    }
    options = AddressOptions.of(query, store, "page")
    store.close()

    assert (options.law, options.delays, options.hierarchies) == ("", None, {})
    assert options.read == ReadOptions()


def test_measured_delays_need_a_file_that_was_dropped(tmp_path: Path) -> None:
    log = am.mixes.synthesize("window:1,5", messages=60, seed=1)
    am.mixes.write_messages(log, tmp_path / "log.csv")
    options = AddressOptions(file=upload(tmp_path, "log.csv", (tmp_path / "log.csv").read_text()))
    options.delay("measured")

    assert "Drop a file of delays along" in options.missing
    delays = "\n".join(f"{delay:.4f}" for delay in log.true_delays().tolist())
    options.delays = upload(tmp_path, "mine.csv", f"delay\n{delays}\n")
    assert options.missing == ""
    assert law_choices(options.delays)["measured"] == "measured: the delays of mine.csv"
    options.delays.path.write_text("delay\n1\nx\n")
    with pytest.raises(am.InputError, match=r"mine\.csv") as caught:
        audited(options)
    assert "secret" not in str(caught.value)


def test_a_table_without_its_original_says_what_to_drop(tmp_path: Path) -> None:
    options = AddressOptions(file=upload(tmp_path, "released.csv", RELEASED))
    inquiry = options.inquiry()
    assert inquiry is not None

    assert inquiry.is_lone_table
    with pytest.raises(am.InputError, match=r"released\.csv: .*drop the original one along"):
        inquiry.first_look()


def test_a_first_look_has_columns_and_first_rows(options: AddressOptions) -> None:
    options.tell(quasi_identifiers=("zip",))  # what is ticked is no part of it
    inquiry = options.plain_inquiry()
    assert inquiry is not None
    tables = inquiry.first_look().tables

    assert tables is not None
    assert tables.shared == ("age", "zip")
    assert tables.guess.sensitive == ("illness",)
    assert tables.released.rows[0] == ("20-29", "101*", "flu")
    assert (tables.released.n_rows, tables.original.n_rows) == (5, 5)


def test_a_person_of_a_release_without_a_graph_has_a_reason(tmp_path: Path) -> None:
    ages = [20 + k % 10 for k in range(1100)]
    people = "".join(f"p{k},{age}\n" for k, age in enumerate(ages))
    rows = "".join("20-29,flu\n" for _ in ages)
    options = AddressOptions(
        file=upload(tmp_path, "released.csv", f"age,illness\n{rows}80-89,hiv\n"),
        second=upload(tmp_path, "people.csv", f"person,age\n{people}zoe,81\n"),
        role="original",
    )
    audit = audited(options)
    alone, one_of_many = why(audit, "zoe"), why(audit, "p3")

    assert audit.observation.graph is None
    assert (alone.allowed, one_of_many.allowed) == (1, 1100)
    assert "row" in alone.reason
    assert (one_of_many.reason, one_of_many.exposure) == ("", None)


def test_laws_of_rings_are_those_of_the_fields(tmp_path: Path) -> None:
    rings = (
        '{"rings": {"i1": {"members": ["o1", "o2"], "height": 50}}, "outputs": {"o1": {"height": '
        '1}, "o2": {"height": 49}}}'
    )
    options = AddressOptions(file=upload(tmp_path, "rings.json", rings))
    plain = audited(options)
    options.tell(decoys="uniform")
    weighed = audited(options)
    inquiry = options.plain_inquiry()
    assert inquiry is not None
    look = inquiry.first_look()

    assert plain.entropy.value == pytest.approx(1.0)
    assert options.file is not None
    assert weighed.entropy == am.audit(options.file.path, decoys="uniform").entropy
    assert weighed.entropy.value < 0.95
    request = options.inquiry()
    assert request is not None
    assert request.command() == "anonymatch rings audit rings.json --decoys uniform --budget 30"
    assert look.rings is not None
    assert look.rings.weighted == ""
    assert look.graph is not None
    assert look.graph.n_behaviours == 2


LOG = {
    "loss": "0.1",
    "cover_rate": "0.5",
    "since": "2",
    "until": "2026-01-01T00:00:00",
    "drained": "1",
    "whole_log": "1",
    "columns": "time=ts,user=src",
    "inside_at_start": "m1=2,m2=0.5",
    "lost": "3",
    "corrupt": "m3,m7",
    "view": "ends",
}


def test_every_option_of_a_log_is_in_the_address() -> None:
    store = Store()
    options = AddressOptions.of({"example": "mix_log.csv"} | LOG, store, "page")
    link = address("/audit", **options.values())
    query = dict(parse_qsl(urlsplit(link).query, keep_blank_values=True))
    again = AddressOptions.of(query, store, "page")
    store.close()

    assert again.read == options.read
    assert options.read.given().keys() == LOG.keys()
    assert options.read.inside_at_start == {"m1": 2.0, "m2": 0.5}
    assert options.read.until == LOG["until"]


@pytest.mark.parametrize(("name", "text"), [("loss", "x"), ("lost", "1.5"), ("view", "all")])
def test_invalid_options_are_refused_and_not_read_from_addresses(name: str, text: str) -> None:
    store = Store()
    options = AddressOptions.of({"example": "mix_log.csv", name: text}, store, "page")
    store.close()

    assert options.read == ReadOptions()
    with pytest.raises(am.InputError, match=r".+"):
        with_text(options.read, name, text)


def test_every_option_has_a_field_on_the_page() -> None:
    placed = {"law", "source", "unit", "columns", "departures", "original", "quasi_identifiers"}
    placed |= {"sensitive", "name", "hierarchies", "tolerance"}
    formed = {name for kind in SOURCES for names in form_fields(kind).values() for name in names}

    assert placed | formed == {each.name for each in fields(ReadOptions)}
    assert all(name in LABELS for name in placed | formed)


def test_options_of_a_log_reach_the_audit_and_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = am.mixes.synthesize("exponential:1", messages=60, rate=3.0, seed=1)
    am.mixes.write_messages(log, tmp_path / "log.csv")
    options = AddressOptions(file=upload(tmp_path, "log.csv", (tmp_path / "log.csv").read_text()))
    options.take("exponential:1")
    options.read = with_text(with_text(options.read, "loss", "0.1"), "drained", "True")
    inquiry = options.inquiry()
    assert inquiry is not None
    direct = am.audit(tmp_path / "log.csv", law="exponential:1", loss=0.1, drained=True)

    assert "--loss 0.1 --drained" in inquiry.command()
    assert audited(options).entropy.value == pytest.approx(direct.entropy.value)
    monkeypatch.chdir(tmp_path)
    assert main([*split(inquiry.command())[1:], "--json"]) == 0
    assert "entropy" in capsys.readouterr().out
