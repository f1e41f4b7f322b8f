"""What the users and behaviours of an audit are called: messages where the log has messages."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.audits.result import Audit

__all__ = ["Nouns", "nouns"]


@dataclass(frozen=True, slots=True)
class Nouns:
    """Words for one and several of them."""

    user: str
    users: str
    behaviours: str


def nouns(audit: Audit) -> Nouns:
    """The words for an audit.

    Examples
    --------
    >>> import anonymatch as am
    >>> nouns(am.audit(am.complete(2))).users
    'users'
    """
    seen = audit.observation
    if seen.graph is None or seen.mean_delay is not None:
        return Nouns("message", "messages", "messages out")
    return Nouns("user", "users", "behaviours")
