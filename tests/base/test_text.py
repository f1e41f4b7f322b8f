"""One is singular, wherever the library speaks of numbers."""

from __future__ import annotations

import pickle
import re

import pytest

import anonymatch as am
from anonymatch.base.numbers import cost_in_words
from anonymatch.base.text import Argument, Call, Message, as_option, did_you_mean, quoted, several
from anonymatch.cli.words import option

ONE = am.Graph.from_edges([("ann", "x")])
NOBODY = am.Graph.from_rows(["00", "11"])


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 edges"), (1, "1 edge"), (2, "2 edges"), (10**30, f"{10**30} edges")]
)
def test_numbers_with_a_noun(number: int, text: str) -> None:
    assert several(number, "edge") == text
    assert several(number, "entry", "entries").endswith("entry" if number == 1 else "entries")


def refused(**keywords: str) -> str:
    with pytest.raises(am.InputError) as caught:
        am.count(ONE, **keywords)  # type: ignore[arg-type]
    return str(caught.value)


def without_a_matching() -> str:
    with pytest.raises(am.NoMatchingError) as caught:
        am.posterior(NOBODY)
    return str(caught.value)


def unknown_user() -> str:
    with pytest.raises(am.InputError) as caught:
        ONE.user_index("cem")
    return str(caught.value)


def test_one_is_singular() -> None:
    message = [
        str(am.count(ONE)),
        str(am.count(ONE, method="glynn").plan),
        str(am.count(ONE, method="frontier").plan),
        str(am.posterior(ONE)),
        repr(ONE),
        repr(am.blocks(ONE)[0]),
        refused(method="classes"),
        without_a_matching(),
        unknown_user(),
        cost_in_words(1.0, 2.0**30),
    ]

    several_of_one = r"(?<![\w.^])1 (?:\w+ )?(?:users|behaviours|edges|matchings|seconds)"
    assert not [text for text in message if re.search(several_of_one, text)]
    assert message[0].startswith("1 matching (2^0), exact")
    assert "at most 1 open behaviour at once" in message[2]
    assert message[3].startswith("probabilities of 1 edge, ")
    assert "1 user (0) fits only 0 behaviours" in message[7]
    assert message[8] == "no user 'cem'; the only user is 'ann'"
    assert message[9] == "about 1 second and 1 GiB"


@pytest.mark.parametrize("value", ["\0" * 10**5, "x" * 61, "'\"" * 50, "\\" * 99, list(range(999))])
def test_long_values_are_cut(value: object) -> None:
    assert len(quoted(value)) <= 60
    assert "..." in quoted(value)


def test_short_values_are_whole() -> None:
    assert quoted("it's") == repr("it's")
    assert quoted("x" * 58) == repr("x" * 58)
    assert quoted(10**5000) == "a number of thousands of digits"


def test_a_message_is_python_s_until_somebody_words_it() -> None:
    message = Message(
        "give ", Argument("unit", "m s"), " or ", Call("call()", "press"), "; ", "end"
    )
    again = Message("file: ", message)

    assert again == "file: give unit='m s' or call(); end"
    assert again.worded(as_option) == "file: give --unit 'm s' or press; end"
    assert Message("plain text").worded(as_option) == "plain text"


def test_errors_keep_what_they_name_when_a_file_is_put_before_them() -> None:
    error = am.InputError("allow ", Argument("lost", 2)).about("log.csv")

    assert str(error) == "log.csv: allow lost=2"
    assert error.message.worded(as_option) == "log.csv: allow --lost 2"


def test_a_budget_that_would_do_is_named_for_each_interface() -> None:
    refusal = am.Budget(seconds=1, memory=2**20).refusal("this", 90.4, 2.0**31)

    assert "allow it with budget=Budget(seconds=91, memory=2.2e+09)" in str(refusal)
    assert refusal.message.worded(option).endswith("allow it with --budget 91 --memory 2")
    travelled = pickle.loads(pickle.dumps(refusal))
    assert travelled.message.worded(option) == refusal.message.worded(option)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("Windw", "'window'"), ("exponental", "'exponential'"), ("xyz", ""), ("", ""), (3, "")],
)
def test_words_are_suggested_only_where_they_are_near(given: object, expected: str) -> None:
    message = did_you_mean(given, ["window", "exponential", "erlang"])

    assert message == (f"; did you mean {expected}?" if expected else "")
