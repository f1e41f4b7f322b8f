"""What is written into an address is read out of it again, whatever it is."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from anonymatch.studio.address import address, choice, number, texts, whole


def read(route: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(route).query, keep_blank_values=True))


@given(st.lists(st.text(min_size=1), max_size=6))
def test_names_come_back(names: list[str]) -> None:
    names = [name for name in names if name.isprintable()]

    assert texts(read(address("/attack", targets=names)), "targets") == names


@given(st.integers(0, 10**6), st.floats(0, 1000, allow_subnormal=False))
def test_numbers_come_back(count: int, size: float) -> None:
    query = read(address("/design", n=count, x=round(size, 3)))

    assert whole(query, "n", -1, least=0, most=10**6) == count
    assert abs(number(query, "x", -1, least=0, most=1000) - size) <= 0.001 + 1e-5 * size


@given(st.dictionaries(st.sampled_from(["n", "x", "kind"]), st.text()))
def test_nothing_in_an_address_is_an_error(query: dict[str, str]) -> None:
    assert 1 <= whole(query, "n", 3, least=1, most=9) <= 9
    assert 0 <= number(query, "x", 0.5, least=0, most=1) <= 1
    assert choice(query, "kind", ["a", "b"]) in ("a", "b")
