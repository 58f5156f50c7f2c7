"""Several processes that share the API's port, started and supervised by uvicorn.

The workers share a directory: the files in which prometheus_client adds up their metrics, the lock of the worker that
serves gRPC, and the error of a worker that could not start. Nothing here imports the framework, so that the parent
process stays small.
"""

import asyncio
import fcntl
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lily.api.http.server.listening import listen
from lily.model.errors import LilyError, Terminal, Transient
from lily.settings import Settings

TARGET = "lily.api.server:worker"
SETTINGS = "LILY_API_WORKER_SETTINGS"  # the settings of the parent process, its command line included
DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads this variable when it is imported


def serve_workers(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT, then lets running requests finish. A worker that dies is replaced. If a
    worker cannot start, all of them end and its error is raised."""
    with TemporaryDirectory(prefix="lily-api-") as directory:
        os.environ |= {SETTINGS: settings.model_dump_json(), DIRECTORY: directory}
        group = WorkerGroup(Path(directory))
        listen(TARGET, settings)
        group.raise_failure()


def worker_settings() -> Settings:
    """The settings of this worker; `lily.toml` and the environment are not read again."""
    return Settings.model_validate_json(os.environ[SETTINGS])


@dataclass(frozen=True)
class WorkerGroup:
    """The directory that the workers of one API share."""

    directory: Path

    @classmethod
    def joined(cls) -> "WorkerGroup":
        """The group that this worker belongs to."""
        return cls(Path(os.environ[DIRECTORY]))

    def report_failure(self, error: Exception) -> None:
        """Called by a worker that cannot start."""
        text = json.dumps({"transient": isinstance(error, Transient), "message": str(error) or repr(error)})
        unfinished = self.directory / f"failure.{os.getpid()}"
        unfinished.write_text(text)
        unfinished.rename(self._failure)  # atomic: several workers may fail at once

    def raise_failure(self) -> None:
        if self._failure.exists():
            failure = json.loads(self._failure.read_text())
            kind: type[LilyError] = Transient if failure["transient"] else Terminal
            raise kind(failure["message"])

    @contextmanager
    def try_lock(self, name: str) -> "Iterator[bool]":
        """Whether this worker got the lock. The lock ends with the process, even if the process is killed."""
        with (self.directory / f"{name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    @property
    def _failure(self) -> Path:
        return self.directory / "failure"


@contextmanager
def stopping_with_parent() -> Iterator[None]:
    """Stops this worker gracefully when its parent process is gone; otherwise it would keep the port."""
    parent, loop = multiprocessing.parent_process(), asyncio.get_running_loop()
    if parent is None:
        yield
        return

    def stop() -> None:
        loop.remove_reader(parent.sentinel)
        signal.raise_signal(signal.SIGTERM)

    loop.add_reader(parent.sentinel, stop)
    try:
        yield
    finally:
        loop.remove_reader(parent.sentinel)
