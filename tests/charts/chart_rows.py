"""The rows of all data of a chart, wherever in its layers they are."""

from __future__ import annotations

from typing import Any

__all__ = ["rows"]


def rows(chart: Any) -> list[dict[str, Any]]:
    """The rows of all data of a chart."""
    return _walked(chart.to_dict())


def _walked(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        own = value["data"]["values"] if "values" in value.get("data", {}) else []
        return [*own, *(row for key in value if key != "data" for row in _walked(value[key]))]
    return [row for each in value for row in _walked(each)] if isinstance(value, list) else []
