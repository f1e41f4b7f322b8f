"""Run: a file in which every finished chunk of work is recorded, so that nothing is done twice.

A chunk is named by its function and all that goes into it, so its recorded result belongs to it and
to no other, whatever graph, method, arithmetic or cutting it came from. The file is SQLite with a
log (WAL): a process may be killed at any moment and leaves the chunks that it had recorded.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol, TypeVar

import numpy.typing as npt

from anonymatch.base.atomic_files import as_path, check_path
from anonymatch.base.errors import AnonymatchError, InputError, StoppedError
from anonymatch.base.text import Call, several
from anonymatch.running.broadcast import code
from anonymatch.running.codec import decode, encode, fingerprint, is_a

__all__ = [
    "LARGEST",
    "MISSING",
    "Checkpoint",
    "CheckpointRecord",
    "ComputationRecord",
    "damaged",
    "read_checkpoint",
    "tells_misfits",
]

P = ParamSpec("P")
T = TypeVar("T")

MISSING: Final = object()
"""What is found where nothing was recorded."""

_FORMAT = 0x616D7231  # "amr1": what SQLite calls the application's number
LARGEST = 2**26  # bytes of a result that is recorded; larger ones are computed again
_NO_GRAPH = "no graph"
_NO_JOB = 0  # what no chunk of a job is
_MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
_TABLES = {
    "about": "CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "sessions": "CREATE TABLE sessions(id INTEGER PRIMARY KEY, began REAL NOT NULL, "
    "last REAL NOT NULL, computed INTEGER NOT NULL, predicted REAL NOT NULL)",
    "jobs": "CREATE TABLE jobs(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
    "what TEXT NOT NULL, number INTEGER NOT NULL, each REAL NOT NULL, finished INTEGER NOT NULL)",
    "chunks": "CREATE TABLE chunks(key BLOB PRIMARY KEY, job INTEGER NOT NULL, "
    "session INTEGER NOT NULL, result BLOB NOT NULL, checksum BLOB NOT NULL)",
}


class RecordedRows(Protocol):
    """A graph, as far as it is named here."""

    @property
    def n_users(self) -> int: ...
    @property
    def n_behaviours(self) -> int: ...
    @property
    def indptr(self) -> npt.NDArray[Any]: ...
    @property
    def indices(self) -> npt.NDArray[Any]: ...
    @property
    def weights(self) -> npt.NDArray[Any] | None: ...
    @property
    def rounded(self) -> bool: ...
    @property
    def exact_weights(self) -> npt.NDArray[Any] | None: ...


class Checkpoint(Executor):
    """Long work that goes on where it stopped: pass it as ``executor=``.

    Parameters
    ----------
    path : path
        The file; made if it does not exist. One process at a time may work with it.
    graph : Graph, optional
        What the run is about. A file that was begun with another graph is refused.
    executor : concurrent.futures.Executor, optional
        Where chunks run. Default: threads on all usable cores.

    Raises
    ------
    InputError
        If the file is of another graph, of another version, in use, or no such file.
    StoppedError
        Later, if the disk is full; what was recorded is kept.

    Examples
    --------
    >>> import anonymatch as am, tempfile, os
    >>> graph = am.random_density(24, 0.5, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with am.Checkpoint(os.path.join(folder, "run.sqlite"), graph) as run:
    ...         first = am.count(graph, method="glynn", executor=run)
    ...         again = am.count(graph, method="glynn", executor=run)
    >>> first.value == again.value == am.count(graph).value
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        graph: RecordedRows | None = None,
        *,
        executor: Executor | None = None,
    ) -> None:
        self.path = as_path(path)
        check_path(self.path)
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputError(f"executor must be a concurrent.futures.Executor, not {executor!r}")
        self.executor = executor
        self._lock = threading.RLock()
        self._base = _open(self.path, graph)
        self._session = self._begin_session()
        self._taken, self._computed, self._predicted = 0, 0, 0.0
        self._asked: set[int] = set()  # jobs of this session
        self._closed = False

    @property
    def taken(self) -> int:
        """Chunks that were asked for so far and found as an earlier session recorded them."""
        return self._taken

    @property
    def computed(self) -> int:
        """Chunks that were asked for so far and computed."""
        return self._computed

    # ---- as an executor

    def submit(self, call: Callable[..., T], /, *args: Any, **keywords: Any) -> Future[T]:
        """Run a call that is no chunk: nothing of it is recorded."""
        if self.executor is not None:
            return self.executor.submit(call, *args, **keywords)
        future: Future[T] = Future()
        try:
            future.set_result(call(*args, **keywords))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the file; the executor inside goes on."""
        self.close()

    def close(self) -> None:
        """Close the file; another process may use it then."""
        with self._lock:
            if not self._closed and self._base.in_transaction:
                self._base.rollback()
            self._base.close()
            self._closed = True

    # ---- for the loop

    def begin(self, key: bytes, what: str, number: int, each: float) -> int:
        """The number of a job that is named by ``key``; new, or begun earlier."""
        name = what.removeprefix("anonymatch.")
        with self._writing() as base:
            row = (key, name, number, each)
            base.execute("INSERT OR IGNORE INTO jobs VALUES (NULL, ?, ?, ?, ?, 0)", row)
            ((job,),) = base.execute("SELECT id FROM jobs WHERE key = ?", (key,))
        self._asked.add(int(job))
        return int(job)

    def refuse_others(self, key: bytes, name: str) -> None:
        """Refuse a new job beside those of its kind that this session has not asked for."""
        with self._lock, _clear(self.path):
            same = self._base.execute("SELECT id, key FROM jobs WHERE what = ?", (name,)).fetchall()
        if any(row[1] == key for row in same) or self._asked.issuperset(row[0] for row in same):
            return
        raise InputError(
            "begun with another log, law, seed or budget; give the same ones, or the name of a new "
            "file"
        ).about(self.path)

    def find(self, key: bytes, kind: Any) -> Any:
        """The recorded result of a chunk, or ``MISSING``: also if it is damaged or of another type.

        ``kind`` is the type of what the chunk returns.
        """
        with self._lock, _clear(self.path):
            rows = self._base.execute(
                "SELECT result, checksum, session, job FROM chunks WHERE key = ?", (key,)
            )
            row = rows.fetchone()
        if row is None or not isinstance(row[0], bytes):
            return MISSING
        if row[1] != _checksum(key, row[0]):
            return MISSING
        try:
            result = decode(row[0])
        except ValueError:
            return MISSING
        if not is_a(result, kind):
            return MISSING
        with self._lock:
            self._taken += row[2] != self._session and row[3] != _NO_JOB
        return result

    def store(
        self,
        job: int,
        rows: Sequence[tuple[bytes, Any]],
        each: float,
        state: tuple[bytes, Any] | None = None,
    ) -> None:
        """Record results of chunks, each with its name: on the disk when this returns.

        ``state``: the name of what the next chunk goes on from, and that itself. It is no chunk.
        """
        encoded = []
        for key, result in rows:
            data = encode(result)
            if len(data) <= LARGEST:
                encoded.append((key, job, self._session, data, _checksum(key, data)))
        if state is not None:
            data = encode(state[1])
            encoded.append((state[0], _NO_JOB, self._session, data, _checksum(state[0], data)))
        self._computed += len(rows)
        self._predicted += each * len(rows)
        with self._writing() as base:
            base.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?)", encoded)
            base.execute(
                "UPDATE sessions SET last = ?, computed = ?, predicted = ? WHERE id = ?",
                (time.time(), self._computed, self._predicted, self._session),
            )

    def finish(self, job: int) -> None:
        """No more chunks of a job are needed; who is told so after the end does not matter."""
        if self._closed:
            return
        with self._writing() as base:
            base.execute("UPDATE jobs SET finished = 1 WHERE id = ?", (job,))

    def _begin_session(self) -> int:
        """The number of this session; from here on nobody else can write."""
        now = time.time()
        with _clear(self.path):
            self._base.execute("BEGIN IMMEDIATE")
            done = self._base.execute("INSERT INTO sessions VALUES (NULL, ?, ?, 0, 0)", (now, now))
            self._base.execute("COMMIT")
            self._base.execute("BEGIN IMMEDIATE")
        return int(done.lastrowid or 0)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write, commit, and take the right to write again.

        Between the two another process may slip in: it has begun a session then, and this one ends.
        """
        with self._lock, _clear(self.path):
            try:
                yield self._base
                self._base.execute("COMMIT")
            except sqlite3.Error:
                if self._base.in_transaction:
                    self._base.rollback()
                raise
            self._base.execute("BEGIN IMMEDIATE")
            ((latest,),) = self._base.execute("SELECT max(id) FROM sessions")
            if latest != self._session:
                raise _in_use(self.path)


def tells_misfits(function: Callable[P, T]) -> Callable[P, T]:
    """A function with ``executor=`` that names the run if it fails with what that had recorded.

    Results of chunks are of the right type when they are found. Whether an array is as long as it
    must be, or a count can be one, is known only to those who go on with it.
    """

    @wraps(function)
    def telling(*arguments: P.args, **keywords: P.kwargs) -> T:
        run = keywords.get("executor")
        if not isinstance(run, Checkpoint):
            return function(*arguments, **keywords)
        before = run.taken
        try:
            return function(*arguments, **keywords)
        except _MISFITS as error:
            if isinstance(error, AnonymatchError) or run.taken == before:
                raise
            raise _misfit(run.path, error) from error

    return telling


# ---- the file


def _open(path: Path, graph: RecordedRows | None) -> sqlite3.Connection:
    """A connection to a file of this graph and this code, made if there is none."""
    with _clear(path):
        base = sqlite3.connect(
            path.absolute(),  # ':memory:' is a name like others
            timeout=0.0,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            base.execute("PRAGMA trusted_schema = OFF")
            ((number,),) = base.execute("PRAGMA application_id")
            new = not base.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            if not new or number:
                _check_form(path, base)
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")  # enough against kill -9, not for the power
            if new:
                _create(base, graph)
            _check_subject(path, base, graph)
        except BaseException:
            base.close()
            raise
    return base


def _create(base: sqlite3.Connection, graph: RecordedRows | None) -> None:
    base.execute("BEGIN IMMEDIATE")
    if not base.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        base.execute(f"PRAGMA application_id = {_FORMAT}")
        for table in _TABLES.values():
            base.execute(table)
        about = {"code": code(), "graph": _name(graph), "graph in words": _words(graph)}
        base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    base.execute("COMMIT")


def _check_form(path: Path, base: sqlite3.Connection) -> None:
    """Refuse a base that is not exactly of our making: it may hold traps."""
    ((number,),) = base.execute("PRAGMA application_id")
    made = base.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if number != _FORMAT or dict(made) != _TABLES or len(made) != len(_TABLES):
        raise _no_run(path)


def _check_subject(path: Path, base: sqlite3.Connection, graph: RecordedRows | None) -> None:
    about = dict(base.execute("SELECT name, value FROM about"))
    if about.get("code") != code():
        raise InputError(
            f"{path}: begun by anonymatch {about.get('code')}, and this is {code()}; finish it "
            "with that one, or begin a new file"
        )
    if about.get("graph") != _name(graph):
        raise InputError(
            f"{path}: begun with another graph ({about.get('graph in words')}), and this is "
            f"{_words(graph)}; give each graph a file of its own"
        )


def _name(graph: RecordedRows | None) -> str:
    if graph is None:
        return ""
    weights = graph.exact_weights if graph.rounded else graph.weights
    rows = (graph.n_users, graph.n_behaviours, graph.indptr, graph.indices, weights)
    return fingerprint(rows).hex()


def _words(graph: RecordedRows | None) -> str:
    if graph is None:
        return _NO_GRAPH
    sizes = several(graph.n_users, "user"), several(len(graph.indices), "edge")
    return f"{sizes[0]}, {sizes[1]}, {_name(graph)[:8]}"


def _checksum(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8, key=key).digest()


def _in_use(path: Path) -> InputError:
    return InputError(f"{path}: another process is using it; wait for it, or give another file")


def _no_run(path: Path) -> InputError:
    return InputError(
        f"{path}: this is no run of anonymatch, or a damaged one; name one that ",
        Call("a Run", "--resume"),
        " made, or a new file",
    )


def damaged(path: Path) -> InputError:
    """The error that a file holds what cannot have been recorded."""
    return InputError("it is damaged; give the name of a new file").about(path)


def _misfit(path: Path, error: Exception) -> InputError:
    text = f"{type(error).__name__}: {error}".replace("\n", " ")
    return InputError(
        f"{path}: a result that it has recorded does not fit the others ({text}); it is damaged: "
        "give the name of a new file"
    )


@contextmanager
def _clear(path: Path, *, reading: bool = False) -> Iterator[None]:
    """What SQLite has against a file, in one clear line."""
    try:
        yield
    except UnicodeDecodeError:  # also of what SQLite says itself
        raise damaged(path) from None
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorname", "")
        if "UTF-8" in str(error):
            raise damaged(path) from None
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise _in_use(path) from None
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            if reading:  # SQLite keeps a small index beside the file even then
                raise InputError(
                    f"{path}: cannot read it ({error}); reading takes a little room beside the "
                    "file: make room, and ask again"
                ) from None
            raise StoppedError(
                f"{path}: cannot record ({error}); what was recorded is kept: make room and run "
                "the same command again"
            ) from None
        raise InputError(f"{path}: {error}; give another file") from None
    except sqlite3.DatabaseError:
        raise _no_run(path) from None


# ---- what is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputationRecord:
    """One job of a run: chunks of one kind that make one number or array."""

    what: str
    number: int
    recorded: int
    each: float  # predicted seconds of a chunk
    finished: bool

    @property
    def left(self) -> float:
        """Predicted seconds of one core that are left."""
        return 0.0 if self.finished else self.each * max(self.number - self.recorded, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecord:
    """What a file of a run tells: also while another process works on it."""

    code: str
    graph: str
    sessions: int
    computed: tuple[int, ...]  # chunks that each session has computed
    jobs: tuple[ComputationRecord, ...]
    pace: float | None  # seconds by the clock for a predicted one, in the last session that worked
    last: float  # seconds since 1970

    @property
    def done(self) -> float:
        """The share of the predicted work of all jobs begun so far that is recorded."""
        left = sum(job.left for job in self.jobs)
        whole = left + sum(job.each * job.recorded for job in self.jobs)
        return 1.0 if whole == 0 else 1.0 - left / whole

    @property
    def left(self) -> float | None:
        """Seconds by the clock that are left of the jobs begun so far; None if nobody can tell."""
        left = sum(job.left for job in self.jobs)
        if left == 0:
            return 0.0
        return None if self.pace is None else left * self.pace


def read_checkpoint(path: str | os.PathLike[str]) -> CheckpointRecord:
    """What is in a file of a run.

    Raises
    ------
    InputError
        If there is no such file, it is no run, or its disk is full.
    """
    file = as_path(path)
    if not file.exists():
        raise InputError(
            f"{file}: there is no such file; ", Call("a Run", "--resume"), " makes one"
        )
    if not file.is_file():
        raise InputError(f"{file}: this is no file; give the name of a run")
    with _clear(file, reading=True):
        base = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)
        try:
            base.execute("PRAGMA trusted_schema = OFF")
            _check_form(file, base)
            return _record(base)
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError):
            raise damaged(file) from None
        finally:
            base.close()


def _record(base: sqlite3.Connection) -> CheckpointRecord:
    about = dict(base.execute("SELECT name, value FROM about"))
    sessions = base.execute(
        "SELECT began, last, computed, predicted FROM sessions ORDER BY id"
    ).fetchall()
    working = [(last - began) / predicted for began, last, _, predicted in sessions if predicted]
    jobs = base.execute(
        "SELECT what, number, each, finished, "
        "(SELECT count(*) FROM chunks WHERE chunks.job = jobs.id) FROM jobs ORDER BY id"
    )
    return CheckpointRecord(
        code=str(about.get("code")),
        graph=str(about.get("graph in words")),
        sessions=len(sessions),
        computed=tuple(int(row[2]) for row in sessions),
        jobs=tuple(
            ComputationRecord(
                what=str(what),
                number=max(int(number), int(recorded) + (not finished)),  # it was an estimate
                recorded=int(recorded),
                each=float(each),
                finished=bool(finished),
            )
            for what, number, each, finished, recorded in jobs
        ),
        pace=working[-1] if working else None,
        last=max((float(row[1]) for row in sessions), default=0.0),
    )
