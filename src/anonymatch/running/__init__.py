"""Long work: how much is allowed, where it runs, how it is cancelled, recorded and sent away."""

from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import (
    CHUNK_SECONDS,
    Allowance,
    Budget,
    Effort,
    Progress,
    Stopped,
    borders,
    check_place,
    in_words,
    rounded_up,
    time_in_words,
    usable_cores,
)
from anonymatch.running.cancel import Stop, byte_of_work, check_work, heard
from anonymatch.running.checkpoint import Run, RunRecord, read_run, tells_misfits
from anonymatch.running.cluster import Cluster

__all__ = [
    "CHUNK_SECONDS",
    "Allowance",
    "Budget",
    "Cluster",
    "Effort",
    "Progress",
    "Run",
    "RunRecord",
    "Shared",
    "Stop",
    "Stopped",
    "borders",
    "byte_of_work",
    "check_place",
    "check_work",
    "heard",
    "in_words",
    "read_run",
    "rounded_up",
    "tells_misfits",
    "time_in_words",
    "usable_cores",
]
