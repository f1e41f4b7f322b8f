"""Make examples/gauges.jsonl: half an hour of three mixes, of which the third has little to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

TARGET = Path(__file__).with_name("gauges.jsonl")
MEAN = {"mix-1": 12.0, "mix-2": 11.0, "mix-3": 1.5}
HOP = 4.0  # seconds, so that the rate follows
EVERY = 30


def lines() -> list[str]:
    """A line a mix every half minute."""
    draw = np.random.default_rng(17)
    return [
        json.dumps(
            {
                "time": time,
                "mix": mix,
                "inside": int(draw.poisson(mean)),
                "rate": mean / HOP,
            }
        )
        for time in range(0, 1801, EVERY)
        for mix, mean in MEAN.items()
    ]


if __name__ == "__main__":
    TARGET.write_text("\n".join(lines()) + "\n", encoding="utf-8")
