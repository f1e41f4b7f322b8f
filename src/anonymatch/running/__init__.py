"""Long work: how much is allowed, where it runs, how it is cancelled, recorded and sent away."""

from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import (
    CHUNK_SECONDS,
    Allowance,
    Budget,
    Execution,
    Progress,
    borders,
    check_executor,
    usable_cores,
)
from anonymatch.running.cancel import (
    CancellableThread,
    Cancelled,
    CancelToken,
    byte_of_work,
    check_work,
    current_token,
)
from anonymatch.running.checkpoint import (
    Checkpoint,
    CheckpointRecord,
    read_checkpoint,
    tells_misfits,
)
from anonymatch.running.cluster import Cluster
from anonymatch.running.staged import StagedProgress

__all__ = [
    "CHUNK_SECONDS",
    "Allowance",
    "Budget",
    "CancelToken",
    "CancellableThread",
    "Cancelled",
    "Checkpoint",
    "CheckpointRecord",
    "Cluster",
    "Execution",
    "Progress",
    "Shared",
    "StagedProgress",
    "borders",
    "byte_of_work",
    "check_executor",
    "check_work",
    "current_token",
    "read_checkpoint",
    "tells_misfits",
    "usable_cores",
]
