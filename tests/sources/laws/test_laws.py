"""Delay laws: what they say of themselves, and the texts that name them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anonymatch.base.errors import InputError
from anonymatch.mixes.laws import (
    Binomial,
    Cottrell,
    Erlang,
    Exponential,
    Free,
    Law,
    Pool,
    Threshold,
    Timed,
    TimedPool,
    Window,
    check_law,
    parse_law,
)


@pytest.mark.parametrize(
    ("text", "law", "mean", "longest"),
    [
        ("window:1,5", Window(1, 5), 3.0, 5.0),
        (" Window: 0 , 2.5 ", Window(0, 2.5), 1.25, 2.5),
        ("exponential:2", Exponential(2), 2.0, math.inf),
        ("erlang:3,0.5", Erlang(3, 0.5), 1.5, math.inf),
        ("threshold:10", Threshold(10), None, None),
        ("timed:60", Timed(60), 30.0, 60.0),
        ("timed:60,-5", Timed(60, -5), 30.0, 60.0),
        ("pool:100,10", Pool(100, 10), None, None),
        ("pool:100,0", Pool(100, 0), None, None),
        ("timed-pool:60,10", TimedPool(60, 10), None, None),
        ("timed-pool:60,0,1,-5", TimedPool(60, 0, 1, -5), None, None),
        ("timed-pool:2,3,0.5", TimedPool(2, 3, 0.5), None, None),
        ("binomial:60,0.5", Binomial(60, 0.5), 90.0, math.inf),
        ("binomial:60,20,5", Binomial(60, 20, 5), None, None),
        ("cottrell:60,10,0.6", Cottrell(60, 10, 0.6), None, None),
    ],
)
def test_text_names_a_law(text: str, law: Law, mean: float | None, longest: float | None) -> None:
    parsed = parse_law(text)

    assert parsed == law
    assert check_law(text) == check_law(law) == law
    assert (parsed.mean_delay, parsed.longest_delay) == (mean, longest)
    assert hash(parsed) == hash(law)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no law ''; known are window:1,5"),
        ("normal:1,5", "no law 'normal:1,5'; known are"),
        ("exponentail:5", "did you mean 'exponential'?"),
        ("poison:5", "did you mean 'poisson'?"),
        ("window", "law 'window': window needs 2 numbers, low,high"),
        ("window:1", "window needs 2 numbers, low,high"),
        ("window:1,2,3", "window needs 2 numbers"),
        ("window:5,1", "law 'window:5,1': low is 5, above high, 1; swap them"),
        ("window:-1,1", "low must be a number of 0 or more, not -1.0"),
        ("window:1,inf", "high must be finite"),
        ("window:a,1", "low is 'a'; give a number"),
        ("timed-pool:60", "timed-pool needs 2 to 4 numbers, interval,kept,share,origin"),
        ("timed-pool:60,-1", "law 'timed-pool:60,-1': kept must be a whole number from 0"),
        ("timed-pool:0,1", "interval must be above 0"),
        ("binomial:60,0", "law 'binomial:60,0': leave must be above 0: nothing would ever leave"),
        ("binomial:60,1.5", "leave must be a number from 0 to 1, not 1.5"),
        ("cottrell:60,1.5,0.5", "least is '1.5'; give a whole number"),
        ("cottrell:60,1,0", "fraction must be above 0"),
        ("window:nan,1", "low must be a number"),
        ("exponential:0", "mean must be above 0"),
        ("erlang:2.5,1", "hops is '2.5'; give a whole number"),
        ("erlang:0,1", "hops must be a whole number from 1 to 10000, not 0"),
        ("threshold:0", "batch must be a whole number from 1 to 1000000000, not 0"),
        ("timed:0", "interval must be above 0"),
        ("timed:1,2,3", "timed needs 1 number or 2, interval,origin"),
        ("timed:60,nan", "origin must be a number"),
        ("pool:100", "pool needs 2 numbers, batch,kept"),
        ("pool:100,-1", "kept must be a whole number from 0 to 1000000000, not -1"),
        ("threshold:9223372036854775808", "batch must be a whole number from 1 to 1000000000"),
        ("pool:1,9223372036854775808", "kept must be a whole number from 0 to 1000000000"),
        ("threshold:" + "9" * 5000, "99...'; give a whole number"),
        ("window:0,1e308", "high must be at most 1e+30 s, not 1e+308"),
        ("exponential:1e-308", "mean must be at least 1e-30 s, not 1e-308"),
        ("timed:1,1e200", "origin must be a number from -1e+30 to 1e+30"),
    ],
)
def test_bad_text_is_refused_in_one_line(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_law(text)

    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("law", [None, 3, Window])
def test_what_is_no_law_is_refused(law: object) -> None:
    with pytest.raises(InputError, match="law must be a law such as"):
        check_law(law)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda delays: delays[:1], "must give one weight a delay, 3 of them"),
        (lambda delays: -delays, "the weight of a delay of 1 s is -1; weights must be finite"),
        (lambda delays: delays * math.nan, "is nan; weights must be finite"),
        (lambda delays: "text", "the function fails on an array of delays"),
    ],
)
def test_free_function_is_checked(function: object, expected: str) -> None:
    law = Free(function)  # type: ignore[arg-type]

    with pytest.raises(InputError, match="free law") as caught:
        law.weights(np.array([0.0, 1.0, 2.0]))
    assert expected in str(caught.value)


def test_free_law_speaks_for_itself() -> None:
    law = Free(np.exp, longest=3.0, mean=2.0, name="growing")

    assert (str(law), law.mean_delay, law.longest_delay) == ("growing, up to 3 s", 2.0, 3.0)
    with pytest.raises(InputError, match="function must take an array"):
        Free(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("poisson:2", Exponential(2)),
        ("exp:2", Exponential(2)),
        ("SG:2", Exponential(2)),
        ("stop-and-go:2", Exponential(2)),
        ("loopix:3,0.5", Erlang(3, 0.5)),
        ("gamma:3,0.5", Erlang(3, 0.5)),
        ("uniform:1,5", Window(1, 5)),
        ("batch:10", Threshold(10)),
    ],
)
def test_laws_are_known_by_other_words_of_the_field(text: str, law: object) -> None:
    assert parse_law(text) == law
