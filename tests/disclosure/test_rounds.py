"""What rounds tell of users who stay the same."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.disclosure.worlds import Floats, profiles, table_of, world

import anonymatch as am
from anonymatch.disclosure import (
    RoundLog,
    lsda_error,
    rounds_of_messages,
    rounds_report,
    synthesize_rounds,
)
from anonymatch.disclosure.lasting import link_shares
from anonymatch.disclosure.methods.presence import owner_probabilities
from anonymatch.mixes import Messages
from anonymatch.reporting import judge

Density = Callable[[float], float]

GOLDEN_ROUNDS = ["023", "142", "055", "104"]


def one_target(rounds: list[str], others: int = 2) -> RoundLog:
    """A target and others who send in every round; letters are who received."""
    return RoundLog.of(
        [(k, ["ann", *range(others)], list(out)) for k, out in enumerate(rounds)],
        behaviours=list("012345"),
    )


# ---- one target


def test_sets_of_friends_are_those_that_explain_every_round() -> None:
    found = am.rounds(one_target(GOLDEN_ROUNDS), method="exact", target="ann", friends=2)

    assert found.friend_sets == ((("0", "1"), 2), (("0", "2"), 2), (("0", "4"), 2))
    assert found.bits == pytest.approx(1.584963, abs=1e-6)
    assert dict(found.profiles.select("behaviour", "probability").rows()) == pytest.approx(
        {"0": 1.0, "1": 1 / 3, "2": 1 / 3, "4": 1 / 3}
    )


def test_one_target_by_all_sets() -> None:
    """The definition: the target writes to one of its friends alike, others to anybody alike."""
    draw = np.random.default_rng(3)
    for friends in (1, 2, 3):
        own = draw.choice(7, friends, replace=False)
        rounds = []
        for k in range(4):
            out = [int(draw.choice(own)), *draw.integers(7, size=3).tolist()]
            rounds.append((k, ["t", "a", "b", "c"], draw.permutation(out).tolist()))
        log = RoundLog.of(rounds, behaviours=range(7))
        weights = {}
        for members in itertools.combinations(range(7), friends):
            weight = math.prod(sum(one in members for one in out) for *_, out in rounds)
            if weight:
                weights[members] = weight
        found = am.rounds(log, method="exact", target="t", friends=friends)
        assert found.friend_sets is not None
        assert {tuple(sorted(names, key=str)): w for names, w in found.friend_sets} == weights
        total = sum(weights.values())
        bits = -sum(w / total * math.log2(w / total) for w in weights.values())
        assert found.bits == pytest.approx(bits, abs=1e-12)


def test_the_curve_of_one_target_falls_as_known() -> None:
    """N = 20, two friends, batches of 5: bits after so many rounds, mean of many worlds."""
    known = {0: 7.57, 1: 6.19, 2: 4.92, 5: 2.00, 10: 0.29}
    sums: dict[int, float] = defaultdict(float)
    for seed in range(60):
        draw = np.random.default_rng(seed)
        own = draw.choice(20, 2, replace=False)
        rounds = [
            (k, ["t", *"abcd"], [int(draw.choice(own)), *draw.integers(20, size=4).tolist()])
            for k in range(10)
        ]
        log = RoundLog.of(rounds, behaviours=range(20))
        curve = am.rounds(log, method="exact", target="t", friends=2).curve
        for point in curve:
            assert point.bits is not None
            sums[point.rounds] += point.bits.value / 60

    for rounds_seen, bits in known.items():
        assert sums[rounds_seen] == pytest.approx(bits, abs=0.2)


def test_a_target_who_sends_twice_in_a_round_has_two_friends_there() -> None:
    rounds = [(1, ["t", "t", "o"], "abc"), (2, ["t", "t", "o"], ["a", "b", "d"]), (3, ["o"], "d")]
    found = am.rounds(RoundLog.of(rounds), method="exact", target="t", friends=2)

    assert found.friend_sets == ((("a", "b"), 1),)
    assert found.bits == 0.0


def test_a_message_of_the_target_may_be_the_one_that_was_lost() -> None:
    """By hand: the last round has the factor 1 + 3 c, of two friends of six."""
    rounds = [(k, "to", f"a{other}") for k, other in enumerate("bcde")] + [(5, "to", "f")]
    found = am.rounds(RoundLog.of(rounds), method="exact", target="t", friends=2)

    assert found.friend_sets is not None
    total = sum(weight for _, weight in found.friend_sets)
    shares = {"".join(map(str, names)): weight / total for names, weight in found.friend_sets}
    assert shares == pytest.approx(
        {"af": 1 / 3, "ab": 1 / 6, "ac": 1 / 6, "ad": 1 / 6, "ae": 1 / 6}
    )
    assert found.bits == pytest.approx(2.251629, abs=1e-6)


def test_links_of_one_target_are_those_by_all_explanations() -> None:
    """Others write to anybody alike; the target's profile is Dirichlet with strength 2."""
    draw = np.random.default_rng(2)
    rounds = np.array([[0, 1, 2], [0, 3, 4], [1, 0, 5]])
    weights = np.zeros((3, 3))
    for links in itertools.product(range(3), repeat=3):
        counts = Counter(int(rounds[t, k]) for t, k in enumerate(links))
        weight = math.exp(sum(math.lgamma(2 / 6 + c) - math.lgamma(2 / 6) for c in counts.values()))
        for t, k in enumerate(links):
            weights[t, k] += weight
    expected = weights / weights.sum(axis=1, keepdims=True)

    shares = link_shares(np.tile(rounds, (400, 1, 1)), 6, draw)

    assert shares.mean(axis=0) == pytest.approx(expected, abs=0.01)


# ---- chains


def enumerated(log: RoundLog, alpha: float) -> dict[tuple[int, int], float]:
    """Probability of each message to be of each receiver, by all matchings of all rounds."""
    outs = [log.received_in(t).tolist() for t in range(log.n_rounds)]
    senders = [log.sender[log.sent[t] : log.sent[t + 1]].tolist() for t in range(log.n_rounds)]
    chances: dict[tuple[int, int], float] = defaultdict(float)
    total = 0.0
    for chosen in itertools.product(*(itertools.permutations(out) for out in outs)):
        counts: Counter[tuple[int, int]] = Counter()
        sent: Counter[int] = Counter()
        for names, receivers in zip(senders, chosen, strict=True):
            for pair in zip(names, receivers, strict=True):
                counts[pair] += 1
                sent[pair[0]] += 1
        weight = math.exp(
            sum(math.lgamma(alpha + c) - math.lgamma(alpha) for c in counts.values())
            - sum(math.lgamma(len(log.behaviours) * alpha + n) for n in sent.values())
        )
        total += weight
        flat = [one for receivers in chosen for one in receivers]
        for message, receiver in enumerate(flat):
            chances[message, receiver] += weight
    return {key: value / total for key, value in chances.items()}


@pytest.mark.parametrize("repeated", [False, True])
def test_chains_are_the_posterior_by_all_matchings(repeated: bool) -> None:
    second = ["a", "a", "c"] if repeated else ["a", "b", "c"]
    log = RoundLog.of([(1, "ab", "xy"), (2, second, "xxz"), (3, "bc", "zy")])
    chances = enumerated(log, 0.3)
    bits = -sum(p * math.log2(p) for p in chances.values() if p > 0) / log.n_messages
    top = [max(p for (m, _), p in chances.items() if m == k) for k in range(log.n_messages)]

    found = am.rounds(log, alpha=0.3, decay=False, budget=20)

    point = found.curve[-1]
    assert point.bits is not None
    assert point.believed is not None
    assert point.bits.value == pytest.approx(bits, abs=0.02)
    assert point.believed.value == pytest.approx(sum(top) / len(top), abs=0.02)
    expected: dict[tuple[int, int], float] = defaultdict(float)
    for (message, receiver), p in chances.items():
        expected[int(log.sender[message]), receiver] += p
    sent = Counter(log.sender.tolist())
    for name, other, probability, error in found.profiles.rows():
        user, behaviour = log.users.index(name), log.behaviours.index(other)
        mean = (0.3 + expected[user, behaviour]) / (len(log.behaviours) * 0.3 + sent[user])
        assert abs(probability - mean) < 4 * error + 0.01


def test_senders_who_always_come_together_cannot_be_told_apart() -> None:
    """Chains that get stuck in one of two equal explanations would say that they can."""
    rounds = [(k, ["a", "b", f"c{k}"], ["x", "y", f"z{k}"]) for k in range(12)]
    found = am.rounds(RoundLog.of(rounds), decay=False)

    about = {(u, b): p for u, b, p, _ in found.profiles.rows()}
    assert about["a", "x"] == pytest.approx(about["a", "y"], abs=0.05)
    assert about["b", "x"] == pytest.approx(about["b", "y"], abs=0.05)


def test_the_same_seed_gives_the_same_on_any_number_of_threads() -> None:
    log = synthesize_rounds(30, users=12, batch=5, seed=2)
    with ThreadPoolExecutor(3) as threads:
        first, second = (
            am.rounds(log, seed=4, budget=1, executor=executor) for executor in (None, threads)
        )

    assert first.decay.equals(second.decay)
    assert first.profiles.equals(second.profiles)
    assert not first.profiles.equals(am.rounds(log, seed=5, budget=1).profiles)


@pytest.mark.slow
def test_progress_reaches_its_end_and_a_checkpoint_spares_the_work(tmp_path: Path) -> None:
    log = synthesize_rounds(60, users=20, batch=8, seed=2)
    told: list[tuple[float, float]] = []
    with am.Checkpoint(tmp_path / "run") as run:
        first = am.rounds(
            log, budget=1, executor=run, progress=lambda done, total: told.append((done, total))
        )
    with am.Checkpoint(tmp_path / "run") as run:
        again = am.rounds(log, budget=1, executor=run)

    assert told[-1][0] == pytest.approx(told[-1][1])
    assert all(done <= total for done, total in told)
    assert first.profiles.equals(again.profiles)


def test_cover_and_losses_are_anybodys() -> None:
    """One more message out is nobody's; one fewer is anybody's loss."""
    more = RoundLog.of([(k, ["a", "b"], ["x", "y", f"z{k}"]) for k in range(10)])
    fewer = RoundLog.of([(k, ["a", "b", f"c{k}"], ["x", "y"]) for k in range(10)])

    with_cover, with_losses = am.rounds(more), am.rounds(fewer)

    assert "more messages out than in" in with_cover.notes[0]
    assert "more messages in than out" in with_losses.notes[0]
    top = with_cover.profiles.group_by("user").first()["behaviour"].to_list()
    assert set(top) <= {"x", "y"}
    for found in (with_cover, with_losses):
        assert all(0 <= p <= 1 for p in found.profiles["probability"])
        assert all(0 <= point.bits.value < 2 for point in found.curve if point.bits)


# ---- calibration, and beside other attacks


def right_less_believed(
    kind: str, rounds: int, worlds: int, *, alpha: float | None
) -> tuple[float, float, float, float]:
    """Mean and standard error of right less believed, and of the log score less bits."""
    gaps, scores = [], []
    for seed in range(worlds):
        draw = np.random.default_rng([seed, rounds])
        log = world(profiles(kind, 20, 20, draw), rounds, 5, draw)
        found = am.rounds(log, alpha=alpha, decay=False, seed=seed, budget=4)
        assert found.right is not None
        assert found.believed is not None
        assert found.log_score is not None
        assert found.bits is not None
        gaps.append(found.right - found.believed)
        scores.append(found.log_score - found.bits)
    each = [(float(np.mean(one)), float(np.std(one) / math.sqrt(worlds))) for one in (gaps, scores)]
    return (*each[0], *each[1])


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [5, 20, 60])
def test_what_is_believed_is_right_as_often(rounds: int) -> None:
    """Over worlds drawn from the prior, told and learnt."""
    gap, error, score, score_error = right_less_believed("prior", rounds, 200, alpha=0.1)
    assert abs(gap) < 3 * error
    assert abs(score) < 3 * score_error
    gap, error, *_ = right_less_believed("prior", rounds, 60, alpha=None)
    assert abs(gap) < 0.02 + 2 * error


@pytest.mark.slow
def test_worlds_drawn_from_the_model_are_calibrated_at_their_half_life() -> None:
    apart = []
    for seed in range(8):
        draw = np.random.default_rng([seed, 78])
        log = world(draw.dirichlet(np.full(200, 2.5 / 200), size=200), 78, 20, draw)
        found = am.rounds(log, decay=False, budget=4, seed=seed)
        assert found.right is not None
        assert found.believed is not None
        assert found.log_score is not None
        assert found.bits is not None
        apart.append((found.right - found.believed, found.log_score - found.bits))
    means, errors = np.mean(apart, axis=0), np.std(apart, axis=0, ddof=1) / math.sqrt(len(apart))
    assert (np.abs(means) < 3 * errors).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zipf", "groups"])
def test_believed_is_near_to_right_for_other_friends(kind: str) -> None:
    for rounds in (20, 60):
        gap, error, *_ = right_less_believed(kind, rounds, 25, alpha=None)
        assert abs(gap) < 0.06 + 2 * error


def squared_errors(kind: str, rounds: int, seed: int) -> dict[str, float]:
    draw = np.random.default_rng([seed, rounds, 77])
    table = profiles(kind, 20, 20, draw)
    log = world(table, rounds, 6, draw)
    errors = {}
    for method in ("sda", "lsda", "lsda-nn", "pmda", "nsda", "em", "gibbs"):
        found = am.rounds(log, method=method, decay=False, budget=5)
        errors[method] = squared_error(table_of(found, table.shape), table)
    known = np.zeros_like(table)
    truth = log.true_receivers()
    assert truth is not None
    pairs = np.array(log.users)[log.sender], np.array(log.behaviours)[truth]
    np.add.at(known, pairs, 1.0)
    errors["known"] = squared_error(known / np.maximum(known.sum(1, keepdims=True), 1), table)
    return errors


def squared_error(estimate: Floats, table: Floats) -> float:
    return float(((estimate - table) ** 2).sum(axis=1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["steps", "zipf", "groups"])
def test_chains_have_the_smallest_error(kind: str) -> None:
    for rounds in (30, 80):
        sums: Counter[str] = Counter()
        for seed in range(5):
            sums.update(squared_errors(kind, rounds, seed))
        best = min(value for method, value in sums.items() if method not in ("gibbs", "known"))
        assert sums["gibbs"] < best


@pytest.mark.slow
def test_errors_of_attacks_are_those_of_the_table() -> None:
    """Means of three worlds, which differ much among themselves: within a factor."""
    table = {
        50: {"sda": 0.486, "lsda": 0.518, "lsda-nn": 0.151, "pmda": 0.122, "em": 0.071},
        200: {"sda": 0.101, "lsda": 0.086, "lsda-nn": 0.032, "pmda": 0.014, "em": 0.0097},
    }
    for rounds, expected in table.items():
        sums: Counter[str] = Counter()
        for seed in range(6):
            sums.update(
                {name: value / 6 for name, value in squared_errors("steps", rounds, seed).items()}
            )
        for method, value in expected.items():
            if method in ("sda", "lsda"):  # profiles show no negative numbers, which the table has
                continue
            assert value / 1.7 < sums[method] < value * 1.7, (rounds, method)
        assert sums["em"] < 1.9 * sums["known"]


@pytest.mark.slow
def test_least_squares_err_as_their_formula_says() -> None:
    from anonymatch.disclosure.methods.incidence import incidence
    from anonymatch.disclosure.methods.least_squares import fitted

    for users, batch, rounds in ((30, 5, 400), (30, 10, 400)):
        errors, formula = [], 0.0
        for seed in range(12):
            draw = np.random.default_rng([seed, batch])
            table = profiles("steps", users, users, draw)
            log = world(table, rounds, batch, draw)
            estimate = fitted(incidence(log), np.arange(users))
            own = table[np.array(log.users)][:, np.array(log.behaviours)]
            errors.append(squared_error(estimate, own))
            spread = float((1 - (table**2).sum(axis=1)).mean())
            formula = lsda_error(users, batch, rounds, spread=spread)
        assert np.mean(errors) == pytest.approx(formula, rel=0.1)


# ---- profiles that change


@pytest.mark.slow
def test_profiles_that_change_are_told_and_others_are_not() -> None:
    draw = np.random.default_rng(5)
    before, after = (profiles("steps", 20, 20, draw) for _ in range(2))
    halves = [world(table, 50, 6, draw) for table in (before, after, before)]
    log = [
        (t + 50 * k, [half.users[s] for s in senders], [half.behaviours[r] for r in out])
        for k, half in enumerate(halves)
        for t in range(50)
        for senders, out in [(half.sender[half.sent[t] : half.sent[t + 1]], half.received_in(t))]
    ]

    changed = am.rounds(RoundLog.of(log[:100]), budget=20)
    same = am.rounds(RoundLog.of([*log[:50], *log[100:]]), budget=20)

    assert changed.drift is not None
    assert same.drift is not None
    assert changed.drift > 3 > 2 > same.drift
    assert any("profiles change" in note for note in changed.notes)
    assert not any("profiles change" in note for note in same.notes)


# ---- presence


def test_owners_are_those_by_enumeration() -> None:
    """The owner is online whenever the pseudonym acts, others at rates that nobody knows."""
    draw = np.random.default_rng(1)
    online = draw.random((5, 4)) < 0.6
    acts = np.array([True, False, True, False, True])
    online[acts, 2] = True
    grid = (np.arange(4000) + 0.5) / 4000

    def chance(pattern: np.ndarray) -> float:
        n, k = len(pattern), int(pattern.sum())
        return float(np.mean(grid**k * (1 - grid) ** (n - k)))

    weights = np.array(
        [
            (chance(online[~acts, user]) if online[acts, user].all() else 0.0)
            * math.prod(chance(online[:, other]) for other in range(4) if other != user)
            for user in range(4)
        ]
    )

    assert owner_probabilities(online, acts) == pytest.approx(weights / weights.sum(), abs=1e-6)


def test_a_pseudonym_is_known_when_one_user_was_always_there() -> None:
    rounds = [(1, "abc", "p"), (2, "ab", "p"), (3, "ac", "p"), (4, "bc", "")]
    found = am.rounds(RoundLog.of(rounds), method="presence")

    assert found.profiles.select("user", "behaviour", "probability").rows() == [("a", "p", 1.0)]
    assert [round(point.bits.value, 3) for point in found.curve if point.bits][-1] == 0.0


# ---- message logs


def test_batches_of_a_threshold_mix_are_rounds() -> None:
    log = am.mixes.synthesize("threshold:4", messages=80, users=9, receivers=9, seed=1)
    as_rounds = rounds_of_messages(log, "threshold:4")

    assert not as_rounds.timed
    assert np.diff(as_rounds.sent).tolist() == [4] * 20
    assert as_rounds.true_receivers() is not None


def timed_chances(messages: Messages, density: Density, alpha: float) -> Floats:
    """Probability of each message to be of each receiver, by all matchings under a density."""
    names = list(dict.fromkeys(messages.receivers))
    senders = list(dict.fromkeys(messages.senders))
    table = np.zeros((messages.n_in, len(names)))
    for order in itertools.permutations(range(messages.n_out)):
        delays = messages.departures[list(order)] - messages.arrivals
        weight = float(math.prod(density(float(d)) for d in delays))
        if not weight:
            continue
        counts = Counter(
            (senders.index(s), names.index(messages.receivers[o]))
            for s, o in zip(messages.senders, order, strict=True)
        )
        sent = Counter(senders.index(s) for s in messages.senders)
        weight *= math.exp(
            sum(math.lgamma(alpha + c) - math.lgamma(alpha) for c in counts.values())
            - sum(math.lgamma(len(names) * alpha + n) for n in sent.values())
        )
        for message, out in enumerate(order):
            table[message, names.index(messages.receivers[out])] += weight
    return np.asarray(table / table.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("law", "density"),
    [
        ("exponential:2", lambda d: math.exp(-d / 2) if d >= 0 else 0.0),
        ("window:0,4", lambda d: 1.0 if 0 <= d <= 4 else 0.0),
        ("erlang:3,0.7", lambda d: d**2 * math.exp(-d / 0.7) if d > 0 else 0.0),
    ],
)
def test_a_message_log_under_a_law_is_the_posterior_by_all_matchings(
    law: str, density: Density
) -> None:
    messages = Messages(
        arrivals=np.array([0, 0.6, 1.1, 1.9, 2.5, 3.1]),
        departures=np.array([1.2, 2.0, 3.0, 3.9, 4.4, 5.2]),
        senders=("a", "b", "a", "c", "b", "a"),
        receivers=("x", "y", "x", "z", "y", "x"),
    )
    table = timed_chances(messages, density, 0.4)

    found = am.rounds(messages, law=law, alpha=0.4, decay=False, budget=20)

    expected: dict[tuple[str, str], float] = defaultdict(float)
    for message, sender in enumerate(messages.senders):
        for at, name in enumerate(dict.fromkeys(messages.receivers)):
            expected[str(sender), str(name)] += float(table[message, at])
    sent = Counter(messages.senders)
    for user, behaviour, probability, _ in found.profiles.rows():
        mean = (0.4 + expected[user, behaviour]) / (3 * 0.4 + sent[user])
        assert probability == pytest.approx(mean, abs=0.02)


def test_a_log_that_the_law_forbids_is_one_line() -> None:
    messages = Messages(
        arrivals=np.array([0.0, 1.0]),
        departures=np.array([9.0, 9.5]),
        senders=("ann", "bob"),
        receivers=("x", "y"),
    )
    with pytest.raises(am.InputError, match="forbids this log: the message of 'ann' at 0 s"):
        am.rounds(messages, law="window:0,3")


@pytest.mark.parametrize("messages", [1, 2, 3])
@pytest.mark.parametrize("law", ["exponential:2", "erlang:2,1", "lognormal:1,0.5", "window:0,4"])
def test_very_short_logs_have_an_answer(law: str, messages: int) -> None:
    log = Messages(
        arrivals=np.arange(messages, dtype=np.float64),
        departures=np.arange(messages, dtype=np.float64) + 1.5,
        senders=tuple("abc"[:messages]),
        receivers=tuple("xyz"[:messages]),
    )
    assert am.rounds(log, law=law, budget=2).curve


# ---- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "gibs"}, "did you mean 'gibbs'"),
        ({"target": "nobody"}, "'nobody' sends in no round"),
        ({"friends": 2}, "only exact takes it"),
        ({"method": "exact"}, "exact needs a target"),
        ({"method": "exact", "target": "user 1"}, "needs a number of friends"),
        ({"method": "exact", "target": "user 1", "friends": 99}, "must be from 1 to"),
        ({"alpha": 0}, "alpha"),
        ({"law": "window:0,1"}, "a log of rounds needs none"),
    ],
)
def test_bad_arguments_are_one_line(arguments: dict[str, object], words: str) -> None:
    log = synthesize_rounds(10, users=8, batch=4)
    with pytest.raises(am.InputError, match=words) as error:
        am.rounds(log, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


# ---- opposite starts, and what they leave open


APART = synthesize_rounds(120, users=80, batch=20, seed=1)


def test_starts_that_disagree_give_no_single_number_and_fail_no_gate() -> None:
    found = am.rounds(APART, budget=0.5)

    assert found.gap is not None
    assert found.gap > 0.1
    assert found.half_life is None
    assert found.half_life_between is not None
    assert found.calibrated is None
    assert all(user.half_life is None for user in found.users)
    assert sum("opposite starts differ" in note for note in found.notes) == 1
    low, high = found.half_life_between.low, found.half_life_between.high
    gates = judge(rounds_report(found), {"half_life": math.sqrt(low * high)})
    assert [gate.reached for gate in gates] == [None]
    assert gates[0].state.endswith("cannot be judged")
    low_gate, high_gate = (judge(rounds_report(found), {"half_life": n})[0] for n in (1, 10 * high))
    assert (low_gate.reached, high_gate.reached) == (True, False)


@pytest.mark.slow
def test_predicted_work_never_exceeds_the_budget() -> None:
    for budget in (0.3, 1.0):
        totals: list[float] = []

        def tell(_: float, total: float, totals: list[float] = totals) -> None:
            totals.append(total)

        am.rounds(APART, budget=budget, progress=tell)
        assert totals[-1] <= budget


def test_rounds_that_a_budget_does_not_allow_are_refused() -> None:
    log = synthesize_rounds(10_000, users=1000, batch=20, seed=1)
    with pytest.raises(am.BudgetError, match=r"chains over 10000 rounds would take about \d"):
        am.rounds(log, budget=1)


def zipf_world(seed: int, users: int, rounds: int, batch: int) -> RoundLog:
    """Five contacts of every user, written to in proportion to 1, 1/2, 1/3, 1/4 and 1/5."""
    draw = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 6)
    contacts = [draw.choice(users, 5, replace=False) for _ in range(users)]
    senders = [draw.choice(users, batch, replace=False) for _ in range(rounds)]
    outs = [
        [contacts[s][draw.choice(5, p=shares / shares.sum())] for s in some] for some in senders
    ]
    orders = [draw.permutation(batch) for _ in range(rounds)]
    return RoundLog.of(
        [(t, senders[t].tolist(), [int(outs[t][k]) for k in orders[t]]) for t in range(rounds)],
        truth=[np.argsort(order).tolist() for order in orders],
        behaviours=range(users),
    )


def test_half_life_of_a_small_world_needs_little_work() -> None:
    """Reference: 55.2 (54.4 to 56.3), by 4,800 sweeps of every point."""
    log = zipf_world(1, 60, 80, 10)
    rough, good = (am.rounds(log, budget=budget) for budget in (0.2, 1.0))

    assert rough.half_life_between is not None
    assert rough.half_life_between.low <= 55.2 <= rough.half_life_between.high
    assert good.half_life == pytest.approx(55.2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("users", "rounds", "batch", "budget", "expected"),
    [(200, 500, 20, 5, 78), (2000, 512, 20, 10, 287), (500, 200, 50, 60, 95)],
)
def test_half_lives_are_those_of_converged_chains(
    users: int, rounds: int, batch: int, budget: float, expected: float
) -> None:
    """Logs of such users differ by about 5 %."""
    found = am.rounds(zipf_world(1, users, rounds, batch), budget=budget)

    assert found.gap is not None
    assert found.gap < 0.1
    assert found.half_life == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
def test_interval_of_the_half_life_holds_the_converged_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reference: the same points and stretches of the log, with many times the sweeps."""
    from anonymatch.disclosure import decay

    both = []
    for log in (zipf_world(seed, 30, 60, 6) for seed in range(40)):
        rough = am.rounds(log, budget=3, seed=1)
        points = [one.rounds for one in rough.curve[1:-1]]

        def same(
            _: object, __: object, looked: Iterable[int], points: list[int] = points
        ) -> object:
            return next((at for at in points if at not in set(looked)), None)

        with monkeypatch.context() as patch:
            patch.setattr(decay, "_STAGES", ((4, 2400, 1.0),))
            patch.setattr(decay.Plan, "_wanted", same)
            good = am.rounds(log, budget=60, seed=2)
        assert [one.rounds for one in good.curve] == [one.rounds for one in rough.curve]
        if good.half_life is not None:
            both.append((rough.half_life_between, good.half_life))
    held = sum(one is not None and one.low <= half <= one.high for one, half in both)
    assert len(both) >= 30
    assert held >= 0.95 * len(both) - 1


def test_em_that_takes_too_long_is_refused() -> None:
    log = synthesize_rounds(200, users=60, batch=20, seed=1)
    with pytest.raises(am.BudgetError, match="em would take"):
        am.rounds(log, method="em", budget=5)


def test_one_round_only_is_a_plain_answer() -> None:
    found = am.rounds(RoundLog.of([(1, "abc", "xyz")]))

    assert found.half_life is None
    assert found.curve[0].bits is not None
    assert found.curve[0].bits.value == pytest.approx(math.log2(3), abs=0.01)
