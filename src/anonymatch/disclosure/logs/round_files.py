"""Logs of rounds: a row a message seen in a round.

=============  ===================================================================================
``round``      a whole number or a text; numbers are put in order, texts are as they first come
``direction``  in (also enter, send, sent, tx) or out (also leave, recv, received, rx). It may be
               missing: then rows with a user are messages in, those with a behaviour messages out
``user``       who sent it (or, for intersections, who was online), on rows of messages in
``behaviour``  who received it (or which pseudonym acted), on rows of messages out
``name``       (or ``id``, ``who``) either of them, in one column instead of two
``message``    optional: the same on the row in and the row out of one message, if known: the truth
``cover``      optional: true on rows that are nobody's, which are left out (also ``dummy`` and
               ``lost``)
=============  ===================================================================================

.csv, .tsv, .parquet or .jsonl; text may end in .gz. Headers may be in capitals.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Ints, offsets
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.tabular import (
    BEHAVIOUR,
    DIRECTION,
    EITHER,
    FLAGS,
    MESSAGE,
    TIME,
    USER,
    Column,
    Columns,
    about,
    write_table,
)

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.tabular import Table

Codes = npt.NDArray[np.int32]

_COLUMNS = Columns(
    Column("round", ("batch", "epoch")),
    TIME,
    DIRECTION,
    USER,
    BEHAVIOUR,
    EITHER,
    MESSAGE,
    *FLAGS,
)


def read_rounds(path: str | os.PathLike[str]) -> RoundLog:
    r"""Read a log of rounds, described above.

    Raises
    ------
    InputError
        The log is not usable; one line says what is wrong, where, and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rounds.csv")
    ...     _ = path.write_text("round,user,behaviour\n1,ann,\n1,bob,\n1,,x\n1,,y\n2,ann,\n2,,x\n")
    ...     read_rounds(path)
    RoundLog(2 rounds, 2 users, 2 behaviours, 3 messages)
    """
    from anonymatch.mixes import message_columns
    from anonymatch.tabular import name_codes, read_table

    file = as_path(path)
    needed = (("round", "time"), ("user", "name"), ("behaviour", "name"))
    table = read_table(file, _COLUMNS, needed, names={})
    if table.column("round") is None:
        raise InputError(
            "it has times and no rounds, so that it is a message log; give a law with ",
            Argument("law"),
            ", or a column round",
        ).about(file)
    notes = list(table.notes)
    if table.column("direction") is not None:
        inward, remarks = message_columns.directions(table)
        notes += remarks
    else:
        inward = _by_columns(table)
    flags = table.flags(None, "cover", "dummy", "lost")
    kept = np.ones(len(inward), dtype=np.bool_) if flags is None else ~flags
    if not kept.all():
        notes.append(
            f"{file}: left out {several(int((~kept).sum()), 'row')} of cover traffic or lost "
            "messages"
        )
    rounds, number, remarks = _rounds(table)
    notes += remarks
    sides = []
    for rows, columns in (
        (np.flatnonzero(inward & kept), ("user", "name")),
        (np.flatnonzero(~inward & kept), ("behaviour", "name")),
    ):
        rows = rows[np.argsort(number[rows], kind="stable")]
        codes, names = name_codes(message_columns.names_in(table, columns, rows))
        starts = offsets(np.bincount(number[rows], minlength=len(rounds)))
        sides.append((rows, tuple(names.to_list()), codes, starts))
    (came, users, sender, sent), (left, behaviours, receiver, received) = sides
    with about(file):
        return RoundLog.in_order(
            rounds=rounds,
            users=users,
            behaviours=behaviours,
            sent=sent,
            sender=sender,
            received=received,
            receiver=receiver,
            truth=_truth(table, came, left, number),
            notes=tuple(notes),
        )


def write_rounds(log: RoundLog, path: str | os.PathLike[str]) -> None:
    """Write a log of rounds; what :func:`read_rounds` reads back is the same, but for notes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rounds.csv")
    ...     write_rounds(RoundLog.of([(1, ["ann"], ["x"])], truth=[[0]]), path)
    ...     print(path.read_text())
    round,direction,user,behaviour,message
    1,in,ann,,1
    1,out,,x,1
    """
    write_table(path, _frame(log))


def _by_columns(table: Table) -> Bools:
    """Which rows are messages in, of a table without directions."""
    user, behaviour = table.column("user"), table.column("behaviour")
    if user is None or behaviour is None:
        raise InputError(
            "it has no column direction; add one with in or out, or columns user and behaviour"
        ).about(table.path)
    inward, outward = (column.is_not_null().to_numpy() for column in (user, behaviour))
    odd = np.flatnonzero(inward == outward)
    if len(odd):
        row = int(odd[0])
        both = "a user and a behaviour" if inward[row] else "neither a user nor a behaviour"
        table.refuse(
            row,
            f"there is {both}; a round does not show who wrote to whom: write a row for each, such "
            "as 1,ann, and 1,,x under round,user,behaviour, or add a column direction with in or "
            "out",
        )
    return np.asarray(inward)


def _rounds(table: Table) -> tuple[tuple[int | str, ...], Ints, list[str]]:
    """Names of the rounds in order, the number of each row's, and a note if they were sorted."""
    import polars as pl

    from anonymatch.tabular import name_codes

    given = table.frame.get_column("round")
    if given.null_count():
        table.refuse(int(given.is_null().arg_true()[0]), "there is no round; say which")
    if given.dtype.is_float():
        table.refuse(0, f"the round is {given[0]}; give whole numbers or text")
    numbers = given.cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    if numbers.null_count():
        codes, names = name_codes(given.cast(pl.String))
        return tuple(names.to_list()), codes.astype(np.int64), []
    values = numbers.to_numpy()
    different, numbered = np.unique(values, return_inverse=True)
    back = np.flatnonzero(np.diff(values) < 0)
    notes = []
    if len(back):
        row = int(back[0]) + 1
        notes.append(
            f"{table.position(row)}: round {values[row]} comes after round {values[row - 1]}; "
            "rounds were put in order"
        )
    return tuple(different.tolist()), numbered.astype(np.int64), notes


def _truth(table: Table, came: Ints, left: Ints, number: Ints) -> Ints | None:
    """The message out of each message in, by the column ``message``; -1 lost, -2 unknown."""
    from anonymatch.mixes import matched

    ids = table.text("message")
    truth = None if ids.null_count() == len(ids) else matched((table, came), (table, left))
    if truth is None:
        return None
    found = np.flatnonzero(truth >= 0)
    wrong = found[number[left[truth[found]]] != number[came[found]]]
    if len(wrong):
        row, end = int(came[wrong[0]]), int(left[truth[wrong[0]]])
        table.refuse(
            row,
            f"message {quoted(ids[row])} leaves in another round, in {table.where_of(end)}; a "
            "message stays in its round",
        )
    return truth


def _frame(log: RoundLog) -> pl.DataFrame:
    import polars as pl

    came, left = log.n_messages, len(log.receiver)
    number = np.concatenate(
        [np.repeat(np.arange(log.n_rounds), np.diff(part)) for part in (log.sent, log.received)]
    )
    order = np.argsort(number, kind="stable")
    columns: dict[str, pl.Series] = {
        "round": pl.Series(list(log.rounds)).gather(number),
        "direction": pl.Series(["in"] * came + ["out"] * left),
        "user": _named(log.users, log.sender, 0, left),
        "behaviour": _named(log.behaviours, log.receiver, came, 0),
    }
    if log.truth is not None:
        ids = np.zeros(came + left, dtype=np.int64)
        known = np.flatnonzero(log.truth >= 0)
        ids[known] = ids[came + log.truth[known]] = known + 1
        lost = np.flatnonzero(log.truth == -1)
        ids[lost] = lost + 1
        columns["message"] = pl.Series(ids).replace(0, None)
    return pl.DataFrame(columns)[order]


def _named(names: tuple[object, ...], codes: Codes, before: int, after: int) -> pl.Series:
    import polars as pl

    values = pl.Series([str(name) for name in names]).gather(codes)
    return pl.concat([values.clear(before), values, values.clear(after)])
