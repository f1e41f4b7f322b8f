"""What all pages of one studio share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from anonymatch.studio.disclosures import Disclosures
from anonymatch.studio.planner import Plans
from anonymatch.studio.request import Audits, Looks
from anonymatch.studio.uploads import Store, Upload

__all__ = ["Studio"]


@dataclass(frozen=True, slots=True)
class Studio:
    """The port, the token that opens it, dropped files, pages that wait for some, and answers.

    ``inboxes`` has the open pages that take files, by the id of their client; they are told whether
    more files follow that were dropped together.
    """

    port: int
    token: str
    store: Store
    looks: Looks = field(default_factory=Looks)
    audits: Audits = field(default_factory=Audits)
    plans: Plans = field(default_factory=Plans)
    disclosures: Disclosures = field(default_factory=Disclosures)
    inboxes: dict[str, Callable[[Upload, str, bool], Awaitable[None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store.on_gone(self.looks.forget)
        self.store.on_gone(self.audits.forget)
        self.store.on_gone(self.disclosures.forget)
