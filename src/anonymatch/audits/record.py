"""An audit as plain values: numbers, texts, lists, ready for JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.audits.figures import AuditFigure, Show, shown_figures

if TYPE_CHECKING:
    from anonymatch.audits.result import Audit

__all__ = ["json_value", "record"]

_CLOSE = 1e-9  # ends this close, relatively, are a value
_DIGITS = 2000.0  # natural log of a count up to which its digits are written


def record(audit: Audit) -> dict[str, Any]:
    """Every figure of an audit with its interval, without the table of users."""
    count = audit.count
    short = count.exact and count.log < _DIGITS
    names = audit.columns
    own: dict[str, Any] = json_value(audit._entries())
    return {
        "name": audit.name,
        "source": audit.observation.source,
        **({"attacker": audit.attacker} if audit.attacker else {}),
        "verdict": audit.verdict,
        names.get("n_users", "n_users"): audit.n_users,
        names.get("n_behaviours", "n_behaviours"): audit.n_behaviours,
        "cost": json_value(audit.cost),
        "count": {
            "exact": count.exact,
            "value": str(count.value) if short else None,
            "log": json_value(count.log),
            "log2": json_value(count.log2),
            "low": json_value(count.low),
            "high": json_value(count.high),
            "confidence": count.confidence,
            "method": count.method,
            "seed": count.seed,
        },
        **{
            each.key: _figure(audit, each)
            for each in shown_figures(Show.JSON)
            if isinstance(audit, each.of)
        },
        "n_counted": audit.n_counted,
        "bound": json_value(audit.bound),
        "identified": audit.identified,
        "threshold": audit.threshold,
        "worst": [
            {
                names.get(key, key): value
                for key, value in json_value(one).items()
                if key not in audit.absent
            }
            for one in audit.worst
        ],
        "one_step": json_value(audit.one_step),
        **own,
        "caveats": list(audit.caveats),
        "notes": list(audit.notes),
        "exact": audit.exact,
        "confidence": audit.confidence,
        "seed": audit.seed,
        "seconds": audit.seconds,
    }


def _figure(audit: Audit, figure: AuditFigure) -> Any:
    """A figure with its interval; no value where only its ends are known."""
    written = json_value(figure.value(audit))
    users = audit.answers.users
    open_ = figure.rests_on in ("posterior", "guesses") and not users.known
    if open_ and users.mean_shannon is None and isinstance(written, dict):
        low, high = written.get("low"), written.get("high")
        if low is None or high is None or high - low > _CLOSE * max(abs(high), 1.0):
            written["value"] = None
    return written


def json_value(value: Any) -> Any:
    """Values that JSON has; infinite and unknown values are None, and other names are text.

    Examples
    --------
    >>> from anonymatch.base.interval import Interval
    >>> json_value((Interval(0.5, -math.inf, 1.0), {"a": np.int64(3)}))
    [{'value': 0.5, 'low': None, 'high': 1.0}, {'a': 3}]
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value):
        names = (each.name for each in dataclasses.fields(value))
        return {name: json_value(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return str(value)
