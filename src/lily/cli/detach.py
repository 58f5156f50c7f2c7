"""Starts a supervisor that outlives the command, and follows it until it is ready."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lily.embedded.lock import DirectoryLock
from lily.embedded.process import rotate
from lily.embedded.stack import make_data_dir
from lily.embedded.state import StackState, load
from lily.model.errors import Terminal
from lily.settings import Settings

LOOK = 0.1


class NotStarted(Terminal):
    """The supervisor gave up."""


def start_detached(settings: Settings, parts: str, show: Callable[[StackState], None]) -> StackState:
    """Returns the state once all is ready. Raises NotStarted with the supervisor's reason; stops it on Ctrl-C."""
    make_data_dir(settings.data_dir)
    with DirectoryLock(settings.data_dir):
        pass  # says at once if a stack runs here
    log = settings.data_dir / "logs" / "supervisor.log"
    supervisor = _launch(settings, parts, log)
    try:
        return _follow(supervisor, settings.data_dir, log, show)
    except BaseException:
        supervisor.terminate()
        supervisor.wait()
        raise


def _launch(settings: Settings, parts: str, log: Path) -> subprocess.Popen[bytes]:
    """A session of its own and no handle of ours: whoever reads our output sees its end when we return."""
    rotate(log)
    command = [sys.executable, "-m", "lily", "supervise", "--data-dir", str(settings.data_dir)]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*command, "--port", str(settings.port), "--parts", parts],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, close_fds=True,
        )  # fmt: skip


def _follow(
    supervisor: subprocess.Popen[bytes], data_dir: Path, log: Path, show: Callable[[StackState], None]
) -> StackState:
    began, seen = log.stat().st_size, False
    while True:
        ended = supervisor.poll() is not None  # asked before the state is read, so the state read is the last one
        state = load(data_dir)
        if state.supervisor.pid == supervisor.pid:
            seen = True
            show(state)
            if state.phase == "ready":
                supervisor.returncode = 0  # it is not ours to wait for any more
                return state
        if ended:
            raise NotStarted((state.error.get("description") if seen else "") or _last_words(log, began))
        time.sleep(LOOK)


def _last_words(log: Path, began: int) -> str:
    """What a supervisor said that ended before it could record anything."""
    with log.open(errors="replace") as file:
        file.seek(began)
        said = file.read().strip().removeprefix("✗ ")
    return said or f"The supervisor ended without a word. See {log}."
