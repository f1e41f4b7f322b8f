"""What all pages of one studio share: dropped files, open pages, and remembered answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Store, Upload

T = TypeVar("T")


class Remembered:
    """The latest answers of one kind, by their requests."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self._lock = Lock()

    def known(self, request: object) -> Any:
        """Return the answer if it is remembered, else None."""
        key = repr(request)  # options hold values that cannot be hashed
        with self._lock:
            if key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key][1]

    def once(self, request: object, work: Callable[[], T]) -> T:
        """Return the answer, remembered or computed now."""
        answer: T | None = self.known(request)
        if answer is None:
            answer = work()
            with self._lock:
                self._known[repr(request)] = getattr(request, "token", ""), answer
                while len(self._known) > TUNING.kept:
                    self._known.popitem(last=False)
        return answer

    def forget(self, token: str) -> None:
        """Forget the answers about a file that is removed."""
        with self._lock:
            for key in [key for key, (of, _) in self._known.items() if of == token]:
                del self._known[key]


@dataclass(frozen=True, slots=True)
class Studio:
    """The port, the token that opens it, dropped files, pages that wait for some, and answers.

    ``inboxes`` has the open pages that take files, by the id of their client; they are told whether
    more files follow that were dropped together.
    """

    port: int
    token: str
    store: Store
    looks: Remembered = field(default_factory=Remembered)
    audits: Remembered = field(default_factory=Remembered)
    plans: Remembered = field(default_factory=Remembered)
    disclosures: Remembered = field(default_factory=Remembered)
    inboxes: dict[str, Callable[[Upload, str, bool], Awaitable[None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for answers in (self.looks, self.audits, self.disclosures):
            self.store.on_gone(answers.forget)
