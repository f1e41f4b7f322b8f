"""Files that are dropped together are told apart by what they hold, in whatever order they come."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from anonymatch.base.errors import InputError
from anonymatch.studio.options import AddressOptions
from anonymatch.studio.uploads import Dropped, Store, Upload, sort_out

FILES = {
    "people.csv": "person,age,city\nann,23,Graz\nbob,27,Wien\n",
    "released.csv": "age,city,illness\n20-29,Austria,flu\n20-29,Austria,cold\n",
    "age.csv": "23;20-29;*\n27;20-29;*\n",
    "adult_hierarchy_city.csv": "Graz;Austria;*\nWien;Austria;*\n",
    "log.csv": "time,direction,name\n0,in,ann\n2,out,x\n",
    "in.csv": "time,name\n0,ann\n1,bob\n",
    "out.csv": "time,name\n2,x\n3,y\n",
    "delays.txt": "1.5\n2.5\n",
    "measured.csv": "hop,delay\n1,1.5\n2,2.5\n",
}


def dropped(folder: Path, *names: str) -> list[Upload]:
    uploads = []
    for name in names:
        path = folder / f"token-{name.replace('.', '-')}{Path(name).suffix}"
        path.write_text(FILES[name])
        uploads.append(Upload(f"of {name}", name, path, path))
    return uploads


def named(found: Dropped) -> tuple[str, str, str, str, dict[str, str]]:
    return (
        found.file.name,
        found.second.name if found.second else "",
        found.role if found.second else "",
        found.delays.name if found.delays else "",
        {column: one.name for column, one in found.hierarchies.items()},
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["log.csv"], ("log.csv", "", "", "", {})),
        (["people.csv", "released.csv"], ("released.csv", "people.csv", "original", "", {})),
        (
            ["people.csv", "released.csv", "age.csv", "adult_hierarchy_city.csv"],
            (
                "released.csv",
                "people.csv",
                "original",
                "",
                {"age": "age.csv", "city": "adult_hierarchy_city.csv"},
            ),
        ),
        (["released.csv", "age.csv"], ("released.csv", "", "", "", {"age": "age.csv"})),
        (["in.csv", "out.csv"], ("in.csv", "out.csv", "departures", "", {})),
        (["log.csv", "delays.txt"], ("log.csv", "", "", "delays.txt", {})),
        (["log.csv", "measured.csv"], ("log.csv", "", "", "measured.csv", {})),
    ],
)
def test_each_file_has_its_part_in_any_order(
    tmp_path: Path, names: list[str], expected: tuple[object, ...]
) -> None:
    for order in permutations(dropped(tmp_path, *names)):
        assert named(sort_out(order)) == expected


@pytest.mark.parametrize("names", [["log.csv", "people.csv"], ["in.csv", "out.csv", "log.csv"]])
def test_what_does_not_belong_together_is_named(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InputError, match="it is not clear what") as caught:
        sort_out(dropped(tmp_path, *names))

    assert all(name in str(caught.value) for name in names)


def test_the_table_with_names_is_the_original_if_cells_do_not_tell(tmp_path: Path) -> None:
    (one, other) = dropped(tmp_path, "people.csv", "released.csv")
    one.path.write_text("person,age\nann,23\nbob,27\n")
    other.path.write_text("age,illness\n23,flu\n23,flu\n")

    assert sort_out([one, other]).file is other
    assert sort_out([other, one]).file is other


def test_files_along_are_taken_up_and_other_files_begin_anew(tmp_path: Path) -> None:
    release, people, age = dropped(tmp_path, "released.csv", "people.csv", "age.csv")
    options = AddressOptions()
    options.receive(sort_out([release]))
    options.add(sort_out([release, people]))
    options.tell(quasi_identifiers=("age",))
    options.add(sort_out([release, age]))

    assert (options.file, options.second, options.role) == (release, people, "original")
    assert options.hierarchies == {"age": age}
    assert options.read.quasi_identifiers == ("age",)
    options.swap()
    assert (options.file, options.second) == (people, release)
    assert "quasi_identifiers" not in options.values()
    options.receive(sort_out(dropped(tmp_path, "log.csv")))
    assert (options.second, options.hierarchies, options.role) == (None, {}, "departures")


def test_measured_delays_have_a_name_of_the_studios_own(tmp_path: Path) -> None:
    store = Store()
    path = store.folder / "token.txt"
    path.write_text("1\n2\n")
    upload = Upload("token", "../../my.txt", path, path)
    store.rename(upload, "delays")
    store.rename(upload, "delays")

    assert upload.path.name == "delays.txt"
    assert upload.path.read_text() == "1\n2\n"
    store.close()
    assert not upload.path.exists()
