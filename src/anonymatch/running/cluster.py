"""Cluster: chunks of work on other machines, by Dask.

Dask runs the chunks of a lost worker again on another. Values that chunks share are tasks of their
own, so that they are made again too if the only worker that has them is lost.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError, StoppedError
from anonymatch.running.broadcast import Remote, Shared, code, pack, run_packed

__all__ = ["Cluster"]

T = TypeVar("T")
Held = Any  # a future of Dask, whose types differ from version to version

_PATIENCE = 15.0  # seconds that a scheduler has to answer
_TRIES = 3  # times that work which Dask gives up is handed in again
_GLANCE = 2.0  # seconds that the number of workers is believed
_TASK_SECONDS = 0.5
_TASKS_A_SECOND = 500.0  # that a scheduler is not bothered by
_PAYS_FROM = 0.2  # predicted seconds
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}
# Layers of long bands travel with their chunks; Dask would warn that this is slow, which it is not.
_LARGE_CHUNKS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}


class Cluster(Remote):
    """An executor over a Dask cluster: pass it as ``executor=``.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tcp://host:port``; or ``local:N`` for N processes on this machine.
        Workers must have the same version of anonymatch installed.

    Raises
    ------
    InputError
        If Dask is not installed, the address is none, or nobody answers there.
    StoppedError
        Later, if the scheduler is gone or a worker has other code.

    Examples
    --------
    >>> import anonymatch as am
    >>> with am.Cluster("local:2") as cluster:  # doctest: +SKIP
    ...     am.count(am.ring(60, 3), executor=cluster)
    """

    pays_from = _PAYS_FROM

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _connect(address)
        self.elsewhere = not address.startswith("local:")
        self._shared: dict[bytes, Held] = {}
        self._holders: weakref.WeakSet[Shared[Any]] = weakref.WeakSet()
        self._lock = threading.RLock()
        self._seen = (-_GLANCE, 1)

    @property
    def width(self) -> int:
        """Threads of all workers that are there now."""
        when, number = self._seen
        if time.monotonic() - when > _GLANCE:
            try:
                number = sum(self._client.nthreads().values())
            except (OSError, TimeoutError):
                raise self._gone() from None
            self._seen = time.monotonic(), max(number, 1)
        return self._seen[1]

    @property
    def task_seconds(self) -> float:
        """Longer with more workers: schedulers stand some thousand tasks a second."""
        return max(_TASK_SECONDS, self.width / _TASKS_A_SECOND)

    def submit(self, call: Callable[..., T], /, *args: Any, **keywords: Any) -> Future[T]:
        """The future result of any call that can be pickled."""
        several = self.send(*pack([partial(call, *args, **keywords)]))
        one: Future[T] = Future()

        def pass_on(done: Future[list[Any]]) -> None:
            error = done.exception()
            one.set_result(done.result()[0]) if error is None else one.set_exception(error)

        several.add_done_callback(pass_on)
        return one

    def send(self, packed: bytes, shared: Iterable[Shared[Any]]) -> Future[list[Any]]:
        """The future results of packed calls."""
        held = [self._share(value) for value in shared]
        future: Future[list[Any]] = Future()
        self._hand_in(future, packed, held, _TRIES)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the scheduler; a local cluster ends."""
        with self._lock:
            self._shared.clear()
        self._client.close()
        if self._client.cluster is not None:
            self._client.cluster.close()

    # ---- what Dask does

    def _share(self, value: Shared[Any]) -> Held:
        with self._lock:
            known = self._shared.get(value.digest)
            if known is None or known.status in ("cancelled", "lost", "error"):
                known = self._client.submit(_made, value, key=f"anonymatch-{value.digest.hex()}")
                self._shared[value.digest] = known
            if value not in self._holders:
                self._holders.add(value)
                weakref.finalize(value, self._drop, value.digest)
            return known

    def _drop(self, digest: bytes) -> None:
        with self._lock:
            if not any(value.digest == digest for value in self._holders):
                self._shared.pop(digest, None)

    def _hand_in(
        self, future: Future[list[Any]], packed: bytes, held: list[Held], tries: int
    ) -> None:
        try:
            with import_module("dask.config").set(_LARGE_CHUNKS):
                task = self._client.submit(_in_worker, packed, code(), *held, pure=False)
        except Exception:  # whatever a closed client says
            _set(future, self._gone())
            return
        # The task is let go when its result is there: workers keep nothing then.
        task.add_done_callback(partial(self._take, future, packed, held, tries))

    def _take(
        self,
        future: Future[list[Any]],
        packed: bytes,
        held: list[Held],
        tries: int,
        task: Held,
    ) -> None:
        if future.cancelled():
            task.cancel()
            return
        if task.status in ("cancelled", "lost"):
            _set(future, self._gone())
            return
        try:
            result = task.result(timeout=_PATIENCE)
        except (ModuleNotFoundError, ImportError) as error:
            message = f"a worker lacks what it needs ({error}); install anonymatch on every worker"
            _set(future, StoppedError(message))
        except (OSError, TimeoutError):
            _set(future, self._gone())
        except BaseException as error:
            if type(error).__name__ != "KilledWorker":
                _set(future, error)
            elif tries:
                self._hand_in(future, packed, held, tries - 1)
            else:
                _set(future, StoppedError(_KILLED))
        else:
            _set(future, None, result)

    def _gone(self) -> StoppedError:
        return StoppedError(
            f"the scheduler at {self.address} is gone; what a run has recorded is kept: start it "
            "and run the same command again"
        )


_KILLED = (
    "workers died again and again on the same work; give them more memory, and look at their logs"
)


def _set(future: Future[list[Any]], error: BaseException | None, result: Any = None) -> None:
    if future.set_running_or_notify_cancel():
        future.set_result(result) if error is None else future.set_exception(error)


def _made(value: Shared[Any]) -> Shared[Any]:
    return value


def _in_worker(packed: bytes, sender: str, *shared: Shared[Any]) -> list[Any]:
    known = {value.digest: value for value in shared}
    return run_packed(packed, sender, known.__getitem__)


def _connect(address: object) -> Any:
    if not isinstance(address, str):
        raise InputError(f"a cluster is tcp://host:port or local:N, not {address!r}")
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise InputError(
            "a cluster needs Dask; install it with: pip install 'anonymatch[cluster]'"
        ) from None
    if address.startswith("local:"):
        text = address.removeprefix("local:")
        number = whole(int(text) if text.isdecimal() else text, "local:N: N", least=1, most=1024)
        return _local(dask, number)
    try:
        return dask.Client(address, timeout=_PATIENCE)
    except ValueError as error:
        raise InputError(f"{address}: {error}; a cluster is tcp://host:port or local:N") from None
    except (OSError, TimeoutError):
        raise InputError(
            f"{address}: no scheduler answers; start one with 'dask scheduler'"
        ) from None


def _local(dask: Any, number: int) -> Any:
    """Processes on this machine, without the watching that takes some percent of their time.

    A terminal's Ctrl-C reaches all processes; only the one that asked shall hear it and tell them.
    """
    with import_module("dask.config").set(_UNWATCHED), _deaf_children():
        return dask.Client(
            dask.LocalCluster(
                n_workers=number,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        )


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes and threads that start meanwhile never hear Ctrl-C; here it waits for the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
