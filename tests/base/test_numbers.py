"""Numbers in words."""

from __future__ import annotations

import pytest

from anonymatch.base.numbers import percent


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.99, "99 %"),
        (0.9984, "99.8 %"),
        (0.999, "99.9 %"),
        (0.9991, ">99.9 %"),
        (0.9995, ">99.9 %"),
        (0.99999, ">99.9 %"),
        (1.0, "100 %"),
        (1e-5, "0.001 %"),
        (0.99e-5, "<0.001 %"),
    ],
)
def test_only_a_whole_share_is_100_percent(share: float, expected: str) -> None:
    assert percent(share) == expected
