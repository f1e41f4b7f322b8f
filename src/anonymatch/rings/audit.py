"""RingAudit and audit_rings(): the audit of ring signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from anonymatch.audits import ExposedAudit, RingFigures
from anonymatch.rings.observation import RingObservation
from anonymatch.running import Budget, Progress, tells_misfits

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RingAudit", "audit_rings"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RingAudit(ExposedAudit):
    """Audit of ring signatures: which output each input may spend.

    Attributes
    ----------
    inputs : polars.DataFrame
        One row per input: `input`, `output` (the best guess), `probability`, `shannon`,
        `effective` (effective ring size) and more.
    rings : RingFigures
        Spends that are certain and how that is known, figures over time, and merged outputs.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.RingAudit.columns["user"], am.RingAudit.columns["guess"]  # names until 0.3.0
    ('input', 'output')
    """

    observation: RingObservation
    rings: RingFigures = field(repr=False)

    columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "user": "input",
            "guess": "output",
            "n_users": "n_inputs",
            "n_behaviours": "n_outputs",
        }
    )
    absent: ClassVar[tuple[str, ...]] = (
        "probability_departed",
        "shannon_all",
        "departed",
        "lost",
        "inside",
        "edge",
        "censored",
    )

    @property
    def n_inputs(self) -> int:
        return self.n_users

    @property
    def n_outputs(self) -> int:
        return self.n_behaviours

    @property
    def inputs(self) -> pl.DataFrame:
        return self.frame

    def _entries(self) -> dict[str, Any]:
        return super()._entries() | {"rings": self.rings}


@tells_misfits
def audit_rings(
    source: str | os.PathLike[str],
    /,
    *,
    decoys: str | None = None,
    spends: str | None = None,
    merging: float | None = None,
    name: str | None = None,
    threshold: float | None = None,
    top: int = 20,
    steps: int = 10,
    budget: Budget | float | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> RingAudit:
    r"""Audit ring signatures: which spends are certain, and how large rings effectively are.

    Parameters
    ----------
    source : path
        A file of rings, as JSON or as a table.
    decoys, spends : str, optional
        Age distribution of decoys, and of outputs when they are spent: ``"uniform"``,
        ``"triangular"`` or ``"gamma:SHAPE,RATE"``.
    merging : float, optional
        Weight factor for ring members that one transaction may spend together.
    name : str, optional
        Name of the audit in reports. Default: the name of the file.
    threshold : float, optional
        Effective ring size; the audit reports the share of inputs below it. Default: 5.
    top : int
        Number of inputs in `worst`; 0 for all.
    steps : int
        Number of exposures of the campaign.
    budget : float or Budget, optional
        Predicted seconds of one core for everything. Beyond it, figures are estimated.
    seed : int
        Seed of all random numbers; the same seed gives the same answer.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.

    Returns
    -------
    RingAudit

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import anonymatch as am
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "rings.json")
    ...     _ = file.write_text('{"i1": ["o1"], "i2": ["o1", "o2"], "i3": ["o2", "o3", "o4"]}')
    ...     audit = am.audit_rings(file)
    >>> audit.rings.chain_reaction, audit.inputs["output"].to_list()[:2]
    (2, ['o1', 'o2'])
    """
    from anonymatch.audits import audit

    result = audit(
        source,
        source="rings",
        decoys=decoys,
        spends=spends,
        merging=merging,
        name=name,
        threshold=threshold,
        top=top,
        steps=steps,
        budget=budget,
        seed=seed,
        executor=executor,
        progress=progress,
    )
    assert isinstance(result, RingAudit)
    return result
