"""What many chunks of work have in common travels once to a process, and not with every chunk."""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
import weakref
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anonymatch.base.errors import StoppedError
from anonymatch.running.cancel import CancelToken
from anonymatch.running.codec import fingerprint, name_of

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

__all__ = ["Call", "Processes", "Remote", "Shared", "code", "pack", "run_packed"]

T = TypeVar("T")
Call = Callable[[], Any]

_REMEMBERED = 8  # values that a worker process keeps at hand


class Shared(Generic[T]):
    """A value by its recipe: a function or class at the top of a module, and plain arguments.

    Every process makes the value once, when it is asked for.

    Examples
    --------
    >>> from fractions import Fraction
    >>> half = Shared(Fraction, 2, 4)
    >>> half.get()
    Fraction(1, 2)
    >>> pickle.loads(pickle.dumps(half)).get()
    Fraction(1, 2)
    """

    def __init__(self, make: Callable[..., T], *arguments: Any, value: T | None = None) -> None:
        self._make, self._arguments, self._value = make, arguments, value

    @cached_property
    def digest(self) -> bytes:
        """What names the value: its recipe."""
        return fingerprint((name_of(self._make), self._arguments))

    def get(self) -> T:
        """The value; two threads may make it twice, with equal results."""
        if self._value is None:
            self._value = self._make(*self._arguments)
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.digest, self._make, self._arguments)


class _Arrivals:
    """Values that came to this process lately."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Shared[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: bytes, arrive: Callable[[], Shared[Any]]) -> Shared[Any]:
        with self._lock:
            if digest not in self._known:
                self._known[digest] = arrive()
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            self._known.move_to_end(digest)
            return self._known[digest]


_arrivals = _Arrivals()


def _arrived(digest: bytes, make: Callable[..., T], arguments: tuple[Any, ...]) -> Shared[T]:
    def arrive() -> Shared[T]:
        shared = Shared(make, *arguments)
        shared.__dict__["digest"] = digest
        return shared

    return _arrivals.get(digest, arrive)


# ---- calls that travel without what they share


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.met: dict[bytes, Shared[Any]] = {}

    def persistent_id(self, value: Any) -> bytes | None:
        if type(value) is not Shared:
            return None
        self.met[value.digest] = value
        return value.digest


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, find: Callable[[bytes], Shared[Any]]) -> None:
        super().__init__(file)
        self._find = find

    def persistent_load(self, digest: bytes) -> Shared[Any]:
        return self._find(digest)


def pack(calls: Sequence[Call]) -> tuple[bytes, list[Shared[Any]]]:
    """The calls as bytes, and the values that they share and that must be there before them."""
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(list(calls))
    return file.getvalue(), list(packer.met.values())


def run_packed(packed: bytes, sender: str, find: Callable[[bytes], Shared[Any]]) -> list[Any]:
    """Results of the calls, in a process that may run them: one with the same code."""
    if code() != sender:
        raise StoppedError(
            f"a worker has other code of anonymatch ({code()}) than this process ({sender}); "
            "install the same version everywhere"
        )
    calls: list[Call] = _Unpacker(io.BytesIO(packed), find).load()
    return CancelToken().run(calls)


@cache
def code() -> str:
    """The version, and a digest of every line of code: results of other code are not ours."""
    from importlib.metadata import version  # slow to import

    digest = hashlib.blake2b(digest_size=4)
    kernels = find_spec("anonymatch._kernels")
    assert kernels is not None
    assert kernels.origin is not None
    for path in (*sorted(Path(__file__).parents[1].rglob("*.py")), Path(kernels.origin)):
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return f"{version('anonymatch')}+{digest.hexdigest()}"


# ---- executors whose workers do not see this process's memory


class Remote(Executor, ABC):
    """An executor in other processes, to which shared values travel once each.

    Attributes
    ----------
    width : int
        Calls that run at the same time.
    task_seconds : float
        How much work is worth a message; chunks go there together until they take so long.
    pays_from : float
        Predicted seconds of work below which it is quicker to do it here.
    elsewhere : bool
        Whether workers may have machines of their own.
    """

    pays_from = 0.0
    elsewhere = False

    @property
    @abstractmethod
    def width(self) -> int: ...

    @property
    def task_seconds(self) -> float:
        return 0.1

    @abstractmethod
    def send(self, packed: bytes, shared: Iterable[Shared[Any]]) -> Future[list[Any]]:
        """The future results of packed calls."""


class Processes(Remote):
    """A pool of processes on this machine; shared values go there by a file."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    @property
    def width(self) -> int:
        return int(getattr(self._pool, "_max_workers", 1))

    def send(self, packed: bytes, shared: Iterable[Shared[Any]]) -> Future[list[Any]]:
        """The future results of packed calls."""
        return self._pool.submit(_in_process, packed, code(), _folder.put(shared))


def _in_process(packed: bytes, sender: str, folder: str) -> list[Any]:
    def find(digest: bytes) -> Shared[Any]:
        return _arrivals.get(digest, lambda: _load(Path(folder, digest.hex())))

    return run_packed(packed, sender, find)


class _Folder:
    """Where values lie for other processes, as long as they live: of this user's alone."""

    def __init__(self) -> None:
        self._directory: TemporaryDirectory[str] | None = None
        self._owners: Counter[bytes] = Counter()
        self._put: weakref.WeakSet[Shared[Any]] = weakref.WeakSet()
        self._lock = threading.RLock()  # values may die while another is put

    def put(self, values: Iterable[Shared[Any]]) -> str:
        """The folder, with files of these values in it."""
        with self._lock:
            if self._directory is None:
                from tempfile import TemporaryDirectory  # slow to import

                self._directory = TemporaryDirectory(prefix="anonymatch-")
            for value in values:
                if value not in self._put:
                    self._add(value)
            return self._directory.name

    def _add(self, value: Shared[Any]) -> None:
        assert self._directory is not None
        path = Path(self._directory.name, value.digest.hex())
        if not self._owners[value.digest]:
            path.write_bytes(pickle.dumps((value._make, value._arguments), pickle.HIGHEST_PROTOCOL))
        self._owners[value.digest] += 1
        self._put.add(value)
        weakref.finalize(value, self._drop, value.digest, path)

    def _drop(self, digest: bytes, path: Path) -> None:
        with self._lock:
            self._owners[digest] -= 1
            if not self._owners[digest]:
                del self._owners[digest]
                path.unlink(missing_ok=True)


_folder = _Folder()


def _load(path: Path) -> Shared[Any]:
    make, arguments = pickle.loads(path.read_bytes())
    return Shared(make, *arguments)
