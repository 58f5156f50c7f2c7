"""File locks. The kernel releases them when their holder dies in any way, so a lock is never stale."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from lily.model.errors import Terminal


class AlreadyRunning(Terminal):
    """Another supervisor holds the data directory."""


@contextmanager
def hold(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the lock at `path`, and waits as long as another process has it."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class DirectoryLock:
    """Makes one supervisor the owner of a data directory. Raises AlreadyRunning if it has one."""

    TIMEOUT = 1.0  # a supervisor that is about to exit may need a moment

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._path = data_dir / "lock"

    def __enter__(self) -> Self:
        self._file = self._path.open("a")
        os.fchmod(self._file.fileno(), 0o600)
        deadline = time.monotonic() + self.TIMEOUT
        while not self._acquire():
            if time.monotonic() > deadline:
                self._file.close()
                raise AlreadyRunning(
                    f"A stack is already running in {self._data_dir}. Check it with `lily status`, stop it with "
                    "`lily down`, or start another one with a different --data-dir and --port."
                )
            time.sleep(0.05)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def still_held(self) -> bool:
        """False once the directory was deleted: a new stack may then start at the same path."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _acquire(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
