"""Log-normal and measured delays: drawn, weighed, solved, and refused where they make no sense."""

import math
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import Law, LogNormal, Measured, Messages, observe, parse_law, synthesize


def delays_file(folder: Path, text: str) -> Path:
    path = folder / "delays.csv"
    path.write_text(text)
    return path


def graph_of(came: list[float], left: list[float], law: Law | str) -> am.Graph:
    log = Messages(
        arrivals=np.array(came),
        departures=np.array(left),
        senders=tuple(f"in {k}" for k in range(len(came))),
        receivers=tuple(f"out {k}" for k in range(len(left))),
    )
    graph = observe(log, law).graph
    assert graph is not None
    return graph


def test_lognormal_delays_have_their_mean_and_their_spread() -> None:
    law = parse_law("log-normal:5,0.5")
    assert isinstance(law, LogNormal)
    assert law == LogNormal(5, 0.5)
    delays = law.delays(200_000, np.random.default_rng(1))
    assert float(delays.mean()) == pytest.approx(5.0, abs=0.03)
    assert float(np.log(delays).std()) == pytest.approx(0.5, abs=0.005)
    end = law.end_delay(None)
    assert end is not None
    assert float((delays > end).mean()) == pytest.approx(1e-3, abs=4e-4)


def test_a_shift_comes_on_top_of_every_delay() -> None:
    plain, late = LogNormal(2, 0.3), parse_law("lognormal:2,0.3,1.5")
    assert late.mean_delay == 3.5
    came, left = [0.0, 1.0, 2.0], [1.8, 3.1, 4.4]
    weights = [
        graph_of(came, [one + more for one in left], law).weights
        for law, more in ((plain, 0.0), (late, 1.5))
    ]
    assert weights[0] == pytest.approx(weights[1])


def test_pairs_of_a_lognormal_log_weigh_the_density_of_their_delay() -> None:
    graph = graph_of([0.0, 1.0], [2.0, 4.0], "lognormal:2,0.5")

    def density(delay: float) -> float:
        z = (math.log(delay) - math.log(2.0) + 0.125) / 0.5
        return math.exp(-z * z / 2) / delay

    first = density(2) * density(3)
    second = density(4) * density(1)
    probability = am.posterior(graph).probabilities[0]
    assert float(probability) == pytest.approx(first / (first + second))


def test_measured_delays_are_drawn_as_they_were_measured(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    sample = draw.gamma(2.0, 2.0, 3000)
    path = delays_file(tmp_path, "id,delay\n" + "".join(f"m,{one}\n" for one in sample))
    law = parse_law(f"measured:{path}")
    assert isinstance(law, Measured)
    drawn = law.delays(100_000, draw)
    for share in (0.01, 0.1, 0.5, 0.9, 0.99):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(sample, share), rel=0.1)
    assert law.mean_delay == pytest.approx(float(sample.mean()), rel=0.03)
    assert law.longest_delay >= sample.max()


def test_a_log_of_measured_delays_is_audited_under_them(tmp_path: Path) -> None:
    sample = np.random.default_rng(3).gamma(2.0, 1.0, 500)
    path = delays_file(tmp_path, "\n".join(map(str, sample)))
    log = synthesize(f"measured:{path}", messages=60, rate=1.0, seed=1)
    audit = am.audit(observe(log, f"measured:{path}"))
    assert audit.score is not None
    assert audit.score.impossible == 0
    assert audit.answers.confidence == 1.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\n2\nx\n" * 5, "line 3: the delay is 'x'"),
        ("1\n-2\n", "line 2: the delay is -2 s"),
        ("1\n2\n", "2 delays; at least 10"),
        ("5\n" * 20, "all delays are 5 s"),
        ("a,b\n1,2\n", "none of them 'delay'"),
    ],
)
def test_a_file_of_delays_that_says_none_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = delays_file(tmp_path, text)
    with pytest.raises(am.InputError, match=says):
        parse_law(f"measured:{path}")


def test_a_file_of_delays_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match=r"nowhere\.csv: No such file"):
        parse_law(f"measured:{tmp_path / 'nowhere.csv'}")
    with pytest.raises(am.InputError, match="needs a file"):
        parse_law("measured:")
