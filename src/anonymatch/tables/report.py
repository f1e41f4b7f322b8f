"""Released tables in words: the only place that reports their audits and improvements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, plural, powers, shown, span, took
from anonymatch.base.text import name
from anonymatch.reporting.charts import AnyChart, bar_chart
from anonymatch.reporting.report import (
    AMOUNT,
    COUNT,
    PLACES,
    SHARE,
    Better,
    Cell,
    Chart,
    Column,
    Figure,
    Note,
    Prominence,
    Provenance,
    Report,
    Section,
    Table,
)
from anonymatch.running import Budget
from anonymatch.tables import (
    NOTION_KINDS,
    Generalised,
    Notion,
    Release,
    TableAudit,
    TableFindings,
    class_notions,
    generalise,
)
from anonymatch.tables.grouping import best_grouping

__all__ = ["first_report", "improved_report", "table_report"]

_DETAIL, _BRIEF = Prominence.DETAIL, Prominence.BRIEF
_PEOPLE = 40  # rows of the table of certain values
_SIZES = 30  # bars of sizes of classes
_CHANGES = 15  # classes of rows that change
_MOST_ROWS = 20_000  # of a release whose changes are searched for
_SECONDS = 5.0  # for that search
_CAVEAT = (
    "All matchings of people and rows are assumed to be equally likely. An attacker who knows more "
    "than the quasi-identifiers does better."
)
_KINDS = (
    "k-anonymity, risks, l-diversity and t-closeness are about rows that are equal; (1,k), (k,1) "
    "and (k,k) about who fits what; global (1,k) about what is still possible when everybody must "
    "have a row."
)


def table_report(
    audit: TableAudit, *, missed: Mapping[str, float] | None = None, whole: bool = True
) -> Report:
    """Return everything that an audit of a released table says.

    Parameters
    ----------
    audit : TableAudit
    missed : mapping of str to float, optional
        Thresholds that are missed: the report searches changes that reach the first of them.
    whole : bool, default True
        Whether it is for a page; else only what the terminal shows.
    """
    found = audit.findings
    rows = plural(found.release.n_rows, "row")
    told = (*audit.notes, *found.sentences(), *found.about_present())
    notes = [Note(text=text, section="risk") for text in told]
    notes += _decided(list(found.notions.values()))
    tables = [*_people(audit)]
    charts = []
    if whole:
        notes.append(Note(text=_KINDS, section="models", prominence=_DETAIL))
        tables += [_models(found), *_sensitive(found), _utility(found)]
        charts.append(_classes(found))
        change, changed = _to_change(audit, found, missed or {})
        notes += [Note(text=text, section="change", prominence=_DETAIL) for text in change]
        tables += changed
    used = found.utility
    left = (
        f"Data utility: the mean information loss is {percent(used.loss)} and a class has "
        f"{amount(used.mean_class)} equal rows on average; discernibility "
        f"{used.discernibility:,}."
    )
    notes.append(Note(text=left, section="utility", prominence=_BRIEF))
    return Report(
        title=f"Release {audit.name}",
        subject=f"{plural(audit.n_users, 'person', 'people')}, {rows}",
        headline=(found.headline(audit.identified, audit.n_counted),),
        figures=tuple(_figure(one) for one in found.notions.values()),
        tables=tables,
        charts=charts,
        notes=notes,
        sections=(
            Section("risk", "Who is at risk"),
            Section("models", "Privacy models"),
            Section("people", "People at risk"),
            Section("sensitive", "Sensitive values that are certain"),
            Section("change", "What to change"),
            Section("classes", "Equivalence classes"),
            Section("utility", "Data utility"),
        ),
        provenance=_provenance(audit),
    )


def first_report(file: str, release: Release) -> Report:
    """Return the figures that equal rows decide, before people and rows are matched."""
    known = class_notions(release)
    notes = []
    if "journalist risk" not in known and not release.spare:
        # Each row of a class belongs to another person who is compatible with all of them.
        most = known["prosecutor risk"].text
        mean = percent(len(release.class_sizes) / release.n_rows)
        text = f"The journalist risk is at most {most}, and the marketer risk at most {mean}."
        notes.append(Note(text=text, section="first"))
    return Report(
        title=file,
        subject=plural(release.n_rows, "row"),
        headline=(
            (
                "First figures. They are exact, and equal rows decide them. Figures that need "
                "people and rows to be matched follow."
            ),
        ),
        figures=tuple(_figure(one) for one in known.values() if one.value is not None),
        notes=notes,
        sections=(Section("first", "First figures"),),
    )


def improved_report(found: Generalised, file: str, notes: Sequence[str]) -> Report:
    """Return the changes of a release, and each privacy model before and after."""
    return Report(
        title=file,
        subject=plural(found.release.n_rows, "row"),
        headline=(found.headline(),),
        tables=(*_changes(found), _before_and_after(found)),
        notes=[Note(text=text) for text in notes],
        sections=(Section("change", "What to change"),),
    )


def _figure(notion: Notion) -> Figure:
    value = notion.value
    better = Better(notion.kind.better)
    direction = "more is better" if better is Better.HIGHER else "less is better"
    return Figure(
        key=notion.key,
        title=notion.key,
        value=None if value is None else Interval(value, value, value),
        meaning=f"{notion.kind.meaning} ({direction})",
        better=better,
        prominence=_BRIEF,
        shown=notion.text,
    )


def _decided(notions: Sequence[Notion]) -> list[Note]:
    """Return what decides the privacy models, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for notion in notions:
        if notion.decided_by and notion.value is not None:
            reasons.setdefault(notion.decided_by, []).append(notion.key)
    told = [f"{', '.join(keys)}: {name(reason)}" for reason, keys in reasons.items()]
    note = Note(text="Decided by:", section="models", bullets=told, prominence=_BRIEF)
    return [note] if told else []


def _models(found: TableFindings) -> Table:
    return Table(
        key="models",
        title="By name",
        section="models",
        columns=(
            Column("privacy model"),
            Column("value", AMOUNT),
            Column("meaning"),
            Column("better"),
            Column("decided by"),
        ),
        rows=[
            (
                one.key,
                one.text,
                one.kind.meaning,
                "more" if one.kind.better == "higher" else "less",
                one.decided_by,
            )
            for one in found.notions.values()
        ],
        prominence=_DETAIL,
    )


def _people(audit: TableAudit) -> Iterator[Table]:
    if not audit.worst:
        return
    sampled = audit.answers.users.present is not None
    last = (
        "the same probability if the attacker knows that the person is in the release."
        if sampled
        else "the number of equally likely rows (the effective anonymity set)."
    )
    rows: list[tuple[Cell, ...]] = []
    for one in audit.worst:
        guess = "–" if one.guess is None else name(one.guess)
        size: Cell = one.effective
        if one.probability is None:
            size = f"{PLACES.text(one.effective)} or more"
        end = one.probability_departed if sampled else size
        rows.append((name(one.user), guess, one.probability, end, one.candidates, one.reason))
    yield Table(
        key="people",
        title="People at risk",
        section="people",
        columns=(
            Column("person"),
            Column("likeliest row"),
            Column("probability", SHARE),
            Column("if in the release", SHARE) if sampled else Column("hides among", PLACES),
            Column("rows that fit", COUNT, detail=True),
            Column("why"),
        ),
        rows=rows,
        brief=range(len(rows)),
        caption=(
            "The people with the highest re-identification risk. The table shows the probability "
            f"that the likeliest row belongs to the person, and {last}"
        ),
    )


def _sensitive(found: TableFindings) -> Iterator[Table]:
    """Yield the sensitive values that are certain, one table per column."""
    for one in found.attributes:
        known = found.certain_values(one.column)
        if known:
            yield Table(
                key=f"certain-{one.column}",
                title=f"Certain {one.column}",
                section="sensitive",
                columns=(Column("person"), Column(one.column), Column("how it is known")),
                rows=[(name(each.person), each.value, each.how) for each in known[:_PEOPLE]],
                noun="person",
                nouns="people",
                total=len(known),
                prominence=_DETAIL,
            )


def _to_change(
    audit: TableAudit, found: TableFindings, missed: Mapping[str, float]
) -> tuple[list[str], list[Table]]:
    """Return cells to generalise so that a threshold is reached, and the grouping to aim for."""
    grouping = best_grouping(found.release, audit.count.log)
    aim = [] if grouping is None else [grouping.in_words()]
    target = _target(found, missed)
    if target is None:
        said = "Nothing: all thresholds are reached, and every class has at least 5 equal rows."
        return [said, *aim], []
    key, value = target
    spelled = f"{key}={value:g}"
    do = f"anonymatch improve, with --target '{spelled}' and --out, writes the changed table."
    if found.release.n_rows > _MOST_ROWS:
        return [f"This page looks at up to {_MOST_ROWS:,} rows; {do}", *aim], []
    better = generalise(found.release, {key: value}, budget=Budget(seconds=_SECONDS))
    said = f"To reach {spelled}: {better.headline()}"
    return [said, do, *aim], [*_changes(better), _before_and_after(better)]


def _target(found: TableFindings, missed: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the first threshold on a privacy model that is missed, or five equal rows."""
    for key, value in missed.items():
        if key in found.notions:
            return key, value
    usual = NOTION_KINDS["k-anonymity"]
    held = usual.reaches(found.notions[usual.key].value, usual.usual)
    enough = found.release.n_rows >= usual.usual
    return (usual.key, usual.usual) if enough and not held else None


def _changes(found: Generalised) -> list[Table]:
    if not found.changes:
        return []
    rows: list[tuple[Cell, ...]] = []
    for one in found.changes[:_CHANGES]:
        cells = ["left out", *one.cells()[1:]] if one.after is None else one.cells()
        rows.append((*map(name, cells), len(one.rows)))
    columns = (*(Column(column.name) for column in found.release.columns), Column("rows", COUNT))
    return [
        Table(
            key="changes",
            title="What to change",
            section="change",
            columns=columns,
            rows=rows,
            noun="class of rows",
            nouns="classes of rows",
            total=len(found.changes),
            advice="--json has all",
        )
    ]


def _before_and_after(found: Generalised) -> Table:
    rows = [
        (key, kind.text(before), kind.text(after)) for key, kind, before, after in found.notions()
    ]
    return Table(
        key="effect",
        title="What that does",
        section="change",
        columns=(Column("privacy model"), Column("before", AMOUNT), Column("after", AMOUNT)),
        rows=rows,
        brief=range(len(rows)),
    )


def _classes(found: TableFindings) -> Chart:
    def draw() -> AnyChart:
        sizes, numbers = np.unique(found.release.class_sizes, return_counts=True)
        pairs = zip(sizes[:_SIZES].tolist(), numbers[:_SIZES].tolist(), strict=True)
        bars = [(plural(int(size), "row"), int(number) * int(size)) for size, number in pairs]
        return bar_chart(
            bars, title="Rows by the size of their class", x_label="rows in such classes"
        )

    caption = (
        "Rows that are equal in all quasi-identifiers are an equivalence class. The smallest "
        "classes are the risk: k-anonymity is the size of the smallest."
    )
    return Chart(key="classes", draw=draw, caption=caption, section="classes", file=False)


def _utility(found: TableFindings) -> Table:
    used = found.utility
    rows = [
        ("information loss", percent(used.loss), "share of a column's values that a cell allows"),
        *(
            (f"information loss of {column}", percent(loss), "the same for this column")
            for column, loss in used.by_column.items()
        ),
        ("discernibility", shown(used.discernibility), "sum of the class sizes over all rows"),
        ("rows per class", amount(used.mean_class), "on average"),
        ("suppressed rows", shown(used.suppressed), "without a value in any quasi-identifier"),
    ]
    return Table(
        key="utility",
        title="Data utility",
        section="utility",
        columns=(Column("measure"), Column("value", AMOUNT), Column("meaning")),
        rows=rows,
        prominence=_DETAIL,
    )


def _provenance(audit: TableAudit) -> Provenance:
    sure = "exact" if audit.exact else f"intervals hold with {percent(audit.confidence)}"
    entropy = audit.entropy
    return Provenance(
        sentences=(f"{_CAVEAT} By {audit.count.method}, {sure}, in {took(audit.seconds)}.",),
        facts=(
            ("counted by", audit.count.method),
            ("figures", sure),
            ("ways to match", powers(audit.count.log, audit.count.low, audit.count.high)),
            ("entropy per person", f"{span(entropy.value, entropy.low, entropy.high)} bits"),
            ("took", took(audit.seconds)),
        ),
        caveats=(_CAVEAT,),
    )
