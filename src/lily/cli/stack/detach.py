"""Starts a supervisor in the background and follows it until the stack is ready."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lily.embedded.lock import DirectoryLock
from lily.embedded.process import rotate
from lily.embedded.stack import make_data_dir
from lily.embedded.state import StackState, load
from lily.model.errors import Terminal
from lily.settings import Settings

POLL_SECONDS = 0.1


class NotStarted(Terminal):
    """The supervisor ended before the stack was ready."""


def start_detached(
    settings: Settings, parts: str, show: Callable[[StackState], None], environment: Mapping[str, str] | None = None
) -> StackState:
    """Returns the state once everything is ready. Raises NotStarted with the reason; Ctrl-C stops the supervisor.
    `environment` has defaults of variables, which the user's own override."""
    make_data_dir(settings.data_dir)
    with DirectoryLock(settings.data_dir):
        pass  # raises at once if a stack already runs here
    log = settings.data_dir / "logs" / "supervisor.log"
    supervisor = _launch(settings, parts, log, {**(environment or {}), **os.environ})
    try:
        return _follow(supervisor, settings.data_dir, log, show)
    except BaseException:
        supervisor.terminate()
        supervisor.wait()
        raise


def _launch(settings: Settings, parts: str, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts it in a session of its own, without our file handles: a pipe that reads our output ends when we return."""
    rotate(log)
    command = [sys.executable, "-m", "lily", "supervise", "--data-dir", str(settings.data_dir)]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*command, "--port", str(settings.port), "--parts", parts],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, close_fds=True,
            env=environment,
        )  # fmt: skip


def _follow(
    supervisor: subprocess.Popen[bytes], data_dir: Path, log: Path, show: Callable[[StackState], None]
) -> StackState:
    log_start, recorded = log.stat().st_size, False
    while True:
        ended = supervisor.poll() is not None  # checked before the state is read, so that state is the last one
        state = load(data_dir)
        if state.supervisor.pid == supervisor.pid:
            recorded = True
            show(state)
            if state.phase == "ready":
                supervisor.returncode = 0  # from here on it is not our child to wait for
                return state
        if ended:
            raise NotStarted((state.error.get("description") if recorded else "") or _new_lines(log, log_start))
        time.sleep(POLL_SECONDS)


def _new_lines(log: Path, start: int) -> str:
    """The output of a supervisor that ended before it could record an error."""
    with log.open(errors="replace") as file:
        file.seek(start)
        printed = file.read().strip().removeprefix("✗ ")
    return printed or f"The supervisor ended without an error message. See {log}."
