"""What the users and behaviours of an audit are called."""

from __future__ import annotations

from anonymatch.audits import Audit
from anonymatch.sources import Nouns

__all__ = ["nouns"]


def nouns(audit: Audit) -> Nouns:
    """The words for an audit.

    Examples
    --------
    >>> import anonymatch as am
    >>> nouns(am.audit(am.complete(2))).users
    'users'
    """
    return audit.observation.nouns
