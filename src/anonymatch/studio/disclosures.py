"""Rounds that pages ask about: a dropped log or one made up, each looked at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from threading import Lock

from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.base.text import Argument, Message, as_option
from anonymatch.disclosure import Disclosure, RoundLog, read_rounds, rounds, synthesize_rounds
from anonymatch.running import Progress
from anonymatch.studio.address import whole

__all__ = ["Disclosures", "RoundsRequest"]

_SECONDS = 20.0  # of chains
_KEPT = 8  # results that are remembered
_MADE = "rounds.csv"
_MOST_USERS, _MOST_ROUNDS, _MOST_BATCH, _MOST_FRIENDS = 1000, 10_000, 200, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsRequest:
    """Which rounds: those of a file, or of a log that is made up from four numbers and a seed."""

    users: int = 20
    friends: int = 3
    batch: int = 5
    rounds: int = 100
    seed: int = 1
    name: str = ""
    path: Path | None = None
    token: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> RoundsRequest:
        """From an address; what is not there, or no number, is as usual."""
        usual = cls()
        users = whole(query, "users", usual.users, least=2, most=_MOST_USERS)
        return cls(
            users=users,
            friends=whole(
                query, "friends", min(usual.friends, users), least=1, most=min(users, _MOST_FRIENDS)
            ),
            batch=whole(
                query, "batch", min(usual.batch, users), least=1, most=min(users, _MOST_BATCH)
            ),
            rounds=whole(query, "rounds", usual.rounds, least=1, most=_MOST_ROUNDS),
            seed=whole(query, "seed", usual.seed, least=0, most=10**9),
        )

    def values(self) -> dict[str, object]:
        """For an address."""
        if self.path is not None:
            return {"file": self.token}
        names = ("users", "friends", "batch", "rounds", "seed")
        return {name: getattr(self, name) for name in names}

    def log(self) -> RoundLog:
        """The rounds themselves; errors name the file as the reader does."""
        if self.path is None:
            return synthesize_rounds(
                self.rounds,
                friends=self.friends,
                users=self.users,
                batch=self.batch,
                seed=self.seed,
            )
        try:
            log = read_rounds(self.path)
        except AnonymatchError as error:
            raise self._worded(error) from None
        stored = str(self.path)
        return replace(log, notes=tuple(note.replace(stored, self.name) for note in log.notes))

    def find(self, progress: Progress | None = None) -> Disclosure:
        """What an attacker learns from them."""
        log = self.log()
        try:
            answer = rounds(log, budget=_SECONDS, progress=progress)
        except AnonymatchError as error:
            raise self._worded(error) from None
        notes = tuple(Message(note).worded(_on_command_line) for note in answer.notes)
        return replace(answer, notes=notes)

    def _worded(self, error: AnonymatchError) -> InputError:
        names = {} if self.path is None else {str(self.path): self.name}
        return InputError(error.message.renamed(names).worded(_on_command_line))

    def command(self) -> str:
        """The command lines that give the same."""
        look = f"anonymatch rounds {quote(self.name or _MADE)} --budget {_SECONDS:g}"
        if self.path is not None:
            return look
        return (
            f"anonymatch synthesize {_MADE} --rounds {self.rounds} --friends {self.friends} "
            f"--users {self.users} --batch {self.batch} --seed {self.seed}\n{look}"
        )

    def python(self) -> str:
        """The Python lines that give the same."""
        log = (
            f"log = am.disclosure.synthesize_rounds({self.rounds}, friends={self.friends}, "
            f"users={self.users}, batch={self.batch}, seed={self.seed})"
            if self.path is None
            else f"log = am.disclosure.read_rounds({self.name!r})"
        )
        return (
            f"import anonymatch as am\n{log}\nfound = am.rounds(log, budget={_SECONDS:g})\n"
            "print(found)\nfound.report('rounds.html')"
        )


def _on_command_line(argument: Argument) -> str:
    """An argument that a message names: the page has no field for any of them."""
    return f"{as_option(argument)} on the command line"


class Disclosures:
    """Answers of this studio, the latest few of them remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[RoundsRequest, Disclosure] = OrderedDict()
        self._lock = Lock()

    def known(self, request: RoundsRequest) -> Disclosure | None:
        """The answer that is there at once."""
        with self._lock:
            answer = self._known.get(request)
            if answer is not None:
                self._known.move_to_end(request)
            return answer

    def find(self, request: RoundsRequest, progress: Progress) -> Disclosure:
        """The answer, from memory or computed now."""
        answer = self.known(request)
        if answer is None:
            answer = request.find(progress)
            with self._lock:
                self._known[request] = answer
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return answer

    def forget(self, token: str) -> None:
        """Forget what was found about a file that is removed."""
        with self._lock:
            for request in [each for each in self._known if each.token == token]:
                del self._known[request]
