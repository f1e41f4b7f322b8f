"""TableAudit and audit_table(): the audit of a released table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from anonymatch.audits import Audit
from anonymatch.running import Budget, Progress, tells_misfits
from anonymatch.tables.observation import TableObservation
from anonymatch.tables.table_findings import TableFindings

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TableAudit", "audit_table"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableAudit(Audit):
    """Audit of a released table: which rows may belong to which people.

    Attributes
    ----------
    people : polars.DataFrame
        One row per person: `person`, `row` (the best guess), `probability`, `in_release` (True,
        False, or null where that is open), `shannon`, `effective` and more. Figures include that a
        person may be absent. `probability_if_present` and `shannon_if_present` assume that the
        person is in the release, which has the probability `present`.
    privacy_models : dict of str to float or None
        Values by name: "k-anonymity", "(1,k)", "(k,1)", "(k,k)", "global (1,k)", "l-diversity",
        "t-closeness" and more.
    unreleased : int
        People who are not in the release: no row can be theirs.
    findings : TableFindings
        Privacy models with the people who decide them, sensitive attributes and data utility.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.TableAudit.columns["user"], am.TableAudit.columns["guess"]  # names until 0.3.0
    ('person', 'row')
    """

    observation: TableObservation
    findings: TableFindings = field(repr=False)

    columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "user": "person",
            "guess": "row",
            "released": "in_release",
            "departed": "present",
            "n_users": "n_people",
            "n_behaviours": "n_rows",
            **{
                f"{figure}_departed{end}": f"{figure}_if_present{end}"
                for figure in ("probability", "shannon")
                for end in ("", "_low", "_high")
            },
        }
    )
    absent: ClassVar[tuple[str, ...]] = ("shannon_all", "lost", "inside", "edge", "censored")

    @property
    def n_people(self) -> int:
        return self.n_users

    @property
    def n_rows(self) -> int:
        return self.n_behaviours

    @property
    def n_behaviours(self) -> int:
        return self.observation.release.n_rows

    @property
    def unreleased(self) -> int:
        return int(self.answers.users.censored.sum())

    @property
    def privacy_models(self) -> dict[str, float | None]:
        return {key: model.value for key, model in self.findings.notions.items()}

    @property
    def users(self) -> pl.DataFrame:
        """`people` with the names of version 0.1, until 0.3.0; its `released` is `in_release`."""
        import polars as pl

        from anonymatch.base.frames import Frame

        present = pl.col("departed")
        known = pl.when((present >= 1.0) | pl.col("censored")).then(~pl.col("censored"))
        return Frame(super().users.with_columns(known.alias("released")))

    @property
    def people(self) -> pl.DataFrame:
        return self.frame

    @property
    def table(self) -> TableFindings:
        """`findings` by its name of version 0.1, until 0.3.0."""
        return self.findings

    @property
    def notions(self) -> dict[str, float | None]:
        """`privacy_models` by its name of version 0.1, until 0.3.0."""
        return self.privacy_models

    def _entries(self) -> dict[str, Any]:
        details = self.findings.to_dict()
        details["privacy_models"] = details.pop("notions")
        return super()._entries() | {
            "unreleased": self.unreleased,
            "privacy_models": self.privacy_models,
            "table": details,
        }


@tells_misfits
def audit_table(
    released: str | os.PathLike[str],
    /,
    original: str | os.PathLike[str] | None = None,
    *,
    quasi_identifiers: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    name: str | None = None,
    hierarchies: Mapping[str, str | os.PathLike[str]] | None = None,
    tolerance: Mapping[str, float] | None = None,
    missing: Sequence[str] | str | None = None,
    threshold: float | None = None,
    top: int = 20,
    budget: Budget | float | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> TableAudit:
    r"""Audit a released table: who is re-identified, and which privacy models it satisfies.

    Parameters
    ----------
    released, original : path
        The released table and the table before release, as .csv, .tsv or .parquet files.
    quasi_identifiers : sequence of str, optional
        Columns that the attacker knows. Default: guessed from the tables.
    sensitive : sequence of str, optional
        Columns that the attacker wants to know. Default: the other columns of the release.
    name : str, optional
        Column of the original table with the names of people.
    hierarchies : mapping of str to path, optional
        By column: a generalisation hierarchy, as an ARX CSV file.
    tolerance : mapping of str to float, optional
        By column: the largest difference between a released and a true number.
    missing : sequence of str, optional
        Texts that mean an unknown value.
    threshold : float, optional
        Effective anonymity set size; the audit reports the share of people below it. Default: 5.
    top : int
        Number of people in `worst`; 0 for all.
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
    TableAudit

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import anonymatch as am
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     known, given = pathlib.Path(folder, "known.csv"), pathlib.Path(folder, "given.csv")
    ...     _ = known.write_text("name,age,zip\nmia,23,1010\nnoa,27,1020\noli,31,1010\n")
    ...     _ = given.write_text("age,zip,illness\n20-29,10**,flu\n20-29,1010,flu\n30-39,*,cold\n")
    ...     audit = am.audit_table(given, original=known, quasi_identifiers=["age", "zip"])
    >>> audit.identified, audit.privacy_models["k-anonymity"], audit.people["person"].to_list()
    (3, 1, ['mia', 'noa', 'oli'])
    """
    from anonymatch.audits import audit

    result = audit(
        released,
        source="released",
        original=original,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        name=name,
        hierarchies=hierarchies,
        tolerance=tolerance,
        missing=missing,
        threshold=threshold,
        top=top,
        budget=budget,
        seed=seed,
        executor=executor,
        progress=progress,
    )
    assert isinstance(result, TableAudit)
    return result
