"""Rounds of messages: who sent in each, and who received; from a log or made up."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from anonymatch._native import LARGEST, RoundMessages
from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Bools, Ints, offsets
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.tabular import check_memory

Codes = npt.NDArray[np.int32]

_MOST = 10**9
_BYTES_A_MESSAGE = 120


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundLog:
    """Messages by round: users and behaviours as numbers, messages out in order of behaviours.

    :meth:`of` makes one from what was seen.

    Attributes
    ----------
    rounds, users, behaviours : tuple
        Their names; rounds in order of time.
    sent, received : array of int
        Where the messages in, and out, of each round begin; one more at the end.
    sender, receiver : array of int
        The user of each message in, and the behaviour of each message out, as numbers.
    truth : array of int, optional
        The message out of each message in; -1 if it was lost, -2 if nobody knows.
    notes : tuple of str
        What a reader must know about the log.

    Examples
    --------
    >>> log = RoundLog.of([(1, "ab", "xy"), (2, "a", "x")])
    >>> log
    RoundLog(2 rounds, 2 users, 2 behaviours, 3 messages)
    """

    rounds: tuple[Hashable, ...]
    users: tuple[Hashable, ...]
    behaviours: tuple[Hashable, ...]
    sent: Ints
    sender: Codes
    received: Ints
    receiver: Codes
    truth: Ints | None = None
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        rounds: Sequence[tuple[Hashable, Sequence[Hashable], Sequence[Hashable]]],
        *,
        truth: Sequence[Sequence[int]] | None = None,
        behaviours: Sequence[Hashable] = (),
    ) -> RoundLog:
        """A log from rounds: a name, who sent, and who received.

        ``truth``: of each round, for each message in, which of the messages out it is, by position;
        -1 if it was lost, -2 if nobody knows. ``behaviours``: more that may be written to, also if
        nobody did.
        """
        users: dict[Hashable, int] = {}
        known: dict[Hashable, int] = {name: k for k, name in enumerate(dict.fromkeys(behaviours))}
        try:
            sender = [users.setdefault(one, len(users)) for _, came, _ in rounds for one in came]
            receiver = [known.setdefault(one, len(known)) for *_, left in rounds for one in left]
            sizes = [(len(came), len(left)) for _, came, left in rounds]
        except (TypeError, ValueError):
            raise InputError(
                "rounds must be a list of (name, users, behaviours), one for each round"
            ) from None
        sent = offsets([size for size, _ in sizes])
        received = offsets([size for _, size in sizes])
        links = None
        if truth is not None:
            if [len(one) for one in truth] != [size for size, _ in sizes]:
                raise InputError("truth must have a position for each message in of each round")
            flat = np.array([at for one in truth for at in one], dtype=np.int64)
            links = np.where(flat < 0, flat, flat + np.repeat(received[:-1], np.diff(sent)))
        return cls.in_order(
            rounds=tuple(name for name, *_ in rounds),
            users=tuple(users),
            behaviours=tuple(known),
            sent=sent,
            sender=np.array(sender, dtype=np.int32),
            received=received,
            receiver=np.array(receiver, dtype=np.int32),
            truth=links,
        )

    @classmethod
    def in_order(
        cls,
        *,
        rounds: tuple[Hashable, ...],
        users: tuple[Hashable, ...],
        behaviours: tuple[Hashable, ...],
        sent: Ints,
        sender: Codes,
        received: Ints,
        receiver: Codes,
        truth: Ints | None = None,
        notes: tuple[str, ...] = (),
    ) -> RoundLog:
        """A log whose messages out may be in any order within their round."""
        if len(sender) > LARGEST or len(receiver) > LARGEST:
            raise InputError(f"{several(len(sender), 'message')}: the most are {LARGEST}")
        if not len(sender) or not len(receiver):
            missing = "out" if len(sender) else "in"
            raise InputError(f"there is no message {missing} in any round; add the messages")
        round_out = np.repeat(np.arange(len(rounds)), np.diff(received))
        order = np.lexsort((receiver, round_out))
        if truth is not None:
            position = np.empty(len(order), dtype=np.int64)
            position[order] = np.arange(len(order))
            truth = np.where(truth < 0, truth, position[truth])
        return cls(
            rounds=rounds,
            users=users,
            behaviours=behaviours,
            sent=sent,
            sender=sender,
            received=received,
            receiver=receiver[order],
            truth=truth,
            notes=notes,
        )

    @property
    def n_rounds(self) -> int:
        return len(self.rounds)

    @property
    def n_messages(self) -> int:
        """Messages in."""
        return len(self.sender)

    def part(self, begin: int, end: int) -> RoundLog:
        """The log of rounds ``begin`` to ``end - 1``, with the users and behaviours of all."""
        came = slice(int(self.sent[begin]), int(self.sent[end]))
        left = slice(int(self.received[begin]), int(self.received[end]))
        truth = None if self.truth is None else self.truth[came]
        return replace(
            self,
            rounds=self.rounds[begin:end],
            sent=self.sent[begin : end + 1] - came.start,
            sender=self.sender[came],
            received=self.received[begin : end + 1] - left.start,
            receiver=self.receiver[left],
            truth=None if truth is None else np.where(truth < 0, truth, truth - left.start),
            notes=(),
        )

    def true_receivers(self) -> Codes | None:
        """The behaviour of each message in; -1 if it was lost, -2 if nobody knows."""
        if self.truth is None:
            return None
        return np.where(self.truth >= 0, self.receiver[self.truth], self.truth).astype(np.int32)

    def received_in(self, round_: int) -> Codes:
        """The behaviours of a round's messages out."""
        return self.receiver[self.received[round_] : self.received[round_ + 1]]

    def with_behaviours(self, behaviours: Sequence[Hashable]) -> RoundLog:
        """The same where these may be written to, too."""
        known = set(self.behaviours)
        more = [name for name in dict.fromkeys(behaviours) if name not in known]
        return replace(self, behaviours=(*self.behaviours, *more))

    def uneven(self) -> tuple[str, ...]:
        """Notes on rounds with more messages on one side."""
        more = np.diff(self.received) - np.diff(self.sent)
        notes = []
        for rounds, text in (
            (more > 0, "more messages out than in: as many are taken to be nobody's, to anybody"),
            (more < 0, "more messages in than out: as many are taken to be lost, anybody's"),
        ):
            if rounds.any():
                number, have = int(rounds.sum()), "has" if rounds.sum() == 1 else "have"
                notes.append(f"{several(number, 'round')} {have} {text} alike")
        return tuple(notes)

    def of_users(self, users: Bools) -> tuple[RoundMessages, Ints]:
        """Messages of some users as kernels take them, each with all that left in its round; and
        which messages in they are.

        Others of the round are nobody's, so that it has as many in as out.
        """
        mine = np.flatnonzero(users[self.sender])
        rounds = np.repeat(np.arange(self.n_rounds), np.diff(self.sent))[mine]
        some, own = np.unique(rounds, return_inverse=True)
        sizes = np.maximum(np.diff(self.sent), np.diff(self.received))[some]
        starts = offsets(sizes)
        number = np.bincount(own, minlength=len(some))
        sender = _filled(self.sender[mine], offsets(number), starts)
        outs = np.diff(self.received)[some]
        out = np.arange(int(outs.sum())) + np.repeat(self.received[some] - offsets(outs)[:-1], outs)
        receiver = _filled(self.receiver[out], offsets(outs), starts)
        return (
            RoundMessages(
                len(self.users), len(self.behaviours), starts.astype(np.int32), sender, receiver
            ),
            mine,
        )

    @property
    def timed(self) -> bool:
        """Whether a law says who may be whose; else everybody of a round may be."""
        return False

    @property
    def reach(self) -> int:
        """How far apart messages are that can be taken for each other, where a law says so."""
        return 1

    def settled(self) -> Bools:
        """Messages in whose message out is among what was seen, whichever it is."""
        return np.ones(self.n_messages, dtype=np.bool_)

    def start(self) -> Codes | None:
        """A matching that the law allows; None if any will do."""
        return None

    def messages(self) -> RoundMessages:
        """As kernels take them: rounds with as many in as out, filled up with nobody's (-1)."""
        came, left = np.diff(self.sent), np.diff(self.received)
        size = np.maximum(came, left)
        starts = offsets(size)
        if int(starts[-1]) > LARGEST:
            raise InputError(f"rounds of {int(starts[-1])} messages in all: the most are {LARGEST}")
        return RoundMessages(
            len(self.users),
            len(self.behaviours),
            starts.astype(np.int32),
            _filled(self.sender, self.sent, starts),
            _filled(self.receiver, self.received, starts),
        )

    def __repr__(self) -> str:
        return (
            f"RoundLog({several(self.n_rounds, 'round')}, {several(len(self.users), 'user')}, "
            f"{several(len(self.behaviours), 'behaviour')}, {several(self.n_messages, 'message')})"
        )


def _filled(codes: Codes, begins: Ints, starts: Ints) -> Codes:
    """Codes of rounds that begin elsewhere, with room after each."""
    whole = np.full(int(starts[-1]), -1, dtype=np.int32)
    whole[np.arange(len(codes)) + np.repeat(starts[:-1] - begins[:-1], np.diff(begins))] = codes
    return whole


# ---- made up


def synthesize_rounds(
    rounds: int,
    *,
    friends: int = 3,
    users: int = 100,
    receivers: int | None = None,
    batch: int = 10,
    seed: int = 0,
) -> RoundLog:
    """A log of rounds with its truth.

    Every round has ``batch`` different users, any of them alike; each sends one message to one of
    its ``friends``, the first twice as often as the second, three times as often as the third, and
    so on. Friends are drawn for every user among the ``receivers`` [default: the same
    number as users].

    Examples
    --------
    >>> log = synthesize_rounds(50, friends=2, users=20, batch=5, seed=1)
    >>> log, bool((log.truth >= 0).all())
    (RoundLog(50 rounds, 20 users, 20 behaviours, 250 messages), True)
    """
    number = whole(rounds, "rounds", least=1, most=_MOST)
    people = whole(users, "users", least=1, most=_MOST)
    known = people if receivers is None else whole(receivers, "receivers", least=1, most=_MOST)
    size = whole(batch, "batch", least=1, most=_MOST)
    own = whole(friends, "friends", least=1, most=_MOST)
    for name, value, most, noun in (
        ("batch", size, people, "users"),
        ("friends", own, known, "receivers"),
    ):
        if value > most:
            raise InputError(Argument(name, value), f" is more than there are {noun}: {most}")
    check_memory(
        number * size * _BYTES_A_MESSAGE + people * own * 16,
        "making this log",
        "ask for fewer rounds",
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    sender = _different(draw, number, size, people)
    shares = 1.0 / np.arange(1, own + 1)
    friend = _different(draw, people, own, known)
    receiver = friend[sender, draw.choice(own, size=sender.shape, p=shares / shares.sum())].ravel()
    starts = offsets(np.full(number, size))
    return RoundLog.in_order(
        rounds=tuple(range(1, number + 1)),
        users=tuple(f"user {k}" for k in range(1, people + 1)),
        behaviours=tuple(f"receiver {k}" for k in range(1, known + 1)),
        sent=starts,
        sender=sender.ravel().astype(np.int32),
        received=starts,
        receiver=receiver.astype(np.int32),
        truth=np.arange(number * size),
    )


def _different(draw: np.random.Generator, rows: int, size: int, most: int) -> Ints:
    """In each row ``size`` different numbers below ``most``."""
    if size * 4 > most:
        return np.argsort(draw.random((rows, most)), axis=1)[:, :size]
    chosen = draw.integers(most, size=(rows, size))
    while True:
        ordered = np.sort(chosen, axis=1)
        again = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
        if not len(again):
            return chosen
        chosen[again] = draw.integers(most, size=(len(again), size))
