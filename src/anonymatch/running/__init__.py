"""Long work: how much is allowed, where it runs, how it is cancelled, recorded and sent away."""

from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import (
    CHUNK_SECONDS,
    Allowance,
    Budget,
    Cancelled,
    Execution,
    Progress,
    borders,
    check_place,
    in_words,
    rounded_up,
    time_in_words,
    usable_cores,
)
from anonymatch.running.cancel import CancelToken, byte_of_work, check_work, heard
from anonymatch.running.checkpoint import (
    Checkpoint,
    CheckpointRecord,
    read_checkpoint,
    tells_misfits,
)
from anonymatch.running.cluster import Cluster

__all__ = [
    "CHUNK_SECONDS",
    "Allowance",
    "Budget",
    "CancelToken",
    "Cancelled",
    "Checkpoint",
    "CheckpointRecord",
    "Cluster",
    "Execution",
    "Progress",
    "Shared",
    "borders",
    "byte_of_work",
    "check_place",
    "check_work",
    "heard",
    "in_words",
    "read_checkpoint",
    "rounded_up",
    "tells_misfits",
    "time_in_words",
    "usable_cores",
]
