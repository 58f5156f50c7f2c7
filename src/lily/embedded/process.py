"""Starts and signals processes. Every part leads a session of its own, so Ctrl-C reaches only the supervisor."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lily.embedded import launcher
from lily.embedded.accounts import Account

MARK = "LILY_STACK"  # an environment variable of every process of a stack: its data directory
LOG_BYTES = 20 << 20
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "JAVA_TOOL_OPTIONS")  # the variables that an engine gets


@dataclass(frozen=True, slots=True)
class Command:
    """A program, its arguments and the environment it runs in."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    account: Account | None = None
    death_signal: signal.Signals = signal.SIGTERM  # sent to it when the supervisor dies
    umask: int = -1  # of the files that it creates; -1: that of the supervisor

    def full_argv(self) -> list[str]:
        uid, gid = (self.account.uid, self.account.gid) if self.account else (-1, -1)
        numbers = (int(self.death_signal), os.getpid(), uid, gid)
        return [sys.executable, "-I", "-S", launcher.__file__, *map(str, numbers), *self.argv]


def engine_environment(data_dir: Path) -> dict[str, str]:
    """Returns a minimal environment with our mark. Other programs do not get the secrets in ours."""
    return {MARK: str(data_dir)} | {name: os.environ[name] for name in INHERITED if name in os.environ}


def spawn(command: Command, log: Path) -> subprocess.Popen[bytes]:
    """Starts the command with its output appended to the log.

    Call it from the main thread only: the death signal is sent when the *thread* that forked ends.
    """
    rotate(log)
    with log.open("ab") as output:
        return subprocess.Popen(
            command.full_argv(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env=command.env, cwd=command.cwd, umask=command.umask, start_new_session=True,
        )  # fmt: skip


def run_to_end(command: Command, feed: str = "", timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a short command. `stdout` of the result contains both output streams."""
    return subprocess.run(
        command.full_argv(), input=feed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=command.env, cwd=command.cwd, timeout=timeout, check=False, start_new_session=True,
    )  # fmt: skip


def rotate(log: Path) -> None:
    """Renames a log that is too large. One older log is kept."""
    log.parent.mkdir(mode=0o700, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended, without reaping it: until then no other process can get its pid or its group's."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signals the process and its children, unless it is reaped."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def reap(process: subprocess.Popen[bytes]) -> int:
    """Kills what an ended process left in its group, reaps it, and returns its exit code."""
    signal_group(process, signal.SIGKILL)
    return process.wait()


def last_lines(log: Path, count: int = 15) -> str:
    """Returns the end of a log, for an error message."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 16_384))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-count:])
