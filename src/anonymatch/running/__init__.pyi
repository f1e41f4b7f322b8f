"""Long work: how much is allowed, where it runs, how it is cancelled, recorded and sent away."""

from anonymatch.running.broadcast import (
    Shared as Shared,
)
from anonymatch.running.budget import (
    Allowance as Allowance,
    Budget as Budget,
    CHUNK_SECONDS as CHUNK_SECONDS,
    Execution as Execution,
    Progress as Progress,
    borders as borders,
    check_executor as check_executor,
    usable_cores as usable_cores,
)
from anonymatch.running.cancel import (
    CancelToken as CancelToken,
    CancellableThread as CancellableThread,
    Cancelled as Cancelled,
    byte_of_work as byte_of_work,
    check_work as check_work,
    current_token as current_token,
)
from anonymatch.running.checkpoint import (
    Checkpoint as Checkpoint,
    CheckpointRecord as CheckpointRecord,
    read_checkpoint as read_checkpoint,
    tells_misfits as tells_misfits,
)
from anonymatch.running.cluster import (
    Cluster as Cluster,
)
from anonymatch.running.chains import (
    GROUPS as GROUPS,
    REPLICA_CONFIDENCE as REPLICA_CONFIDENCE,
    RHAT_LIMIT as RHAT_LIMIT,
    T_GROUPS as T_GROUPS,
    T_LANES as T_LANES,
    chain_error as chain_error,
    mean_interval as mean_interval,
    replica_mean as replica_mean,
    rhat as rhat,
    standard_error as standard_error,
    student as student,
    variance_ratio as variance_ratio,
)
from anonymatch.running.staged import (
    StagedProgress as StagedProgress,
)
