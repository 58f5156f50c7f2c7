"""Programs of a test: each leads a session of its own, and whatever is in that session ends with the test."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import psutil  # type: ignore[import-untyped]

from lily.embedded.process import Command, last_lines, spawn

GRACE_SECONDS = 20.0


@dataclass(frozen=True)
class Program:
    name: str
    process: Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def members(self) -> list[psutil.Process]:
        """Everything it has started, too: Spark's Python daemons leave their group, but not their session."""
        return [process for process in psutil.process_iter() if _lives_in(self.process.pid, process)]

    def kill(self) -> None:
        """As if the machine it runs on had lost its power."""
        for process in self.members():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        while self.members() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.kill()

    def last_words(self) -> str:
        return f"--- {self.name}\n{last_lines(self.log, 40)}"


@contextmanager
def running(name: str, argv: tuple[str, ...], environment: Mapping[str, str], logs: Path) -> Iterator[Program]:
    log = logs / f"{name}.log"
    program = Program(name, spawn(Command(argv, {**os.environ, **environment}, death_signal=signal.SIGTERM), log), log)
    try:
        yield program
    finally:
        program.stop()


def _lives_in(session: int, process: psutil.Process) -> bool:
    try:
        return os.getsid(process.pid) == session and bool(process.status() != psutil.STATUS_ZOMBIE)
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
