"""The subset programme on one block: dense weighted blocks in doubles, without cancellation.

n * 2^(n-1) multiply-adds over positive terms, so the error is proven and tiny; 2^n doubles.
"""

from __future__ import annotations

import math

import numpy as np

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.integers import LN2
from anonymatch.running import CHUNK_SECONDS, Execution


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Sums over sets of behaviours; what they cost does not depend on the edges."""
    if not applies(block) or seconds(block, edges=context.edges) > best:
        return None
    return Option(
        method="subset",
        why=f"{block.n_users} * 2^{block.n_users - 1} sums of positive terms",
        seconds=seconds(block, edges=context.edges),
        memory=memory(block, edges=context.edges),
        solve=lambda: solve(block, context.effort),
    )


def applies(block: Block) -> bool:
    """Whether the block is square, weighted by floats that lie close enough, and small."""
    return (
        not block.exact
        and not block.optional
        and block.n_users <= _native.SUBSET_LIMIT
        and _native.subset_fits(block.dense())
    )


def seconds(block: Block, *, edges: bool) -> float:
    """Predicted seconds of one core."""
    return (
        tuning().subset_step
        * block.n_users
        * 2.0**block.n_users
        * (tuning().subset_posteriors if edges else 1.0)
    )


def memory(block: Block, *, edges: bool) -> float:
    """Bytes that it allocates."""
    return _native.subset_bytes(block.n_users, posteriors=edges)


def solve(block: Block, effort: Execution) -> Solution:
    """Count and posteriors of ``block`` over doubles (errors: anonymatch/subset.hpp)."""
    n = block.n_users

    def real() -> tuple[float, float]:
        mantissa, exponent = _run(block, effort, edges=False).count_real()
        return math.log(mantissa) + exponent * LN2, 1.01 * n * (n + 1) * 2.0**-53

    def posteriors() -> Probabilities:
        probabilities = _run(block, effort, edges=True).posteriors()
        rows = np.repeat(np.arange(n), np.diff(block.indptr))
        return probabilities[rows * n + block.indices], 2e-11

    return Solution(block, real=real, posteriors=posteriors)


def _run(block: Block, effort: Execution, *, edges: bool) -> _native.SubsetProgramme:
    job = _native.subset_programme(block.dense(), posteriors=edges)
    predicted = seconds(block, edges=edges)
    each = predicted / job.subsets_in_all
    done = 0.0
    while not job.run(CHUNK_SECONDS / each):
        effort.advance((job.subsets_done - done) * each)
        done = job.subsets_done
    effort.advance((job.subsets_in_all - done) * each)
    return job
