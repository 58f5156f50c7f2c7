"""Stops a stack from outside."""

import time
from pathlib import Path

from lily.embedded.lock import DirectoryLock
from lily.embedded.orphans import end_orphans
from lily.embedded.state import Running, load

PATIENCE = 90.0  # longer than every grace of an orderly stop together


def stop_stack(data_dir: Path) -> bool:
    """Asks the supervisor to stop, waits for it, and ends what is left; says whether anything ran."""
    if not data_dir.is_dir():
        return False
    ran = _stop_supervisor(load(data_dir).supervisor)
    with DirectoryLock(data_dir):  # nobody starts a new one while we look for what is left
        return end_orphans(data_dir) > 0 or ran


def _stop_supervisor(supervisor: Running) -> bool:
    process = supervisor.process()
    if process is None:
        return False
    process.terminate()
    deadline = time.monotonic() + PATIENCE
    while supervisor.process() is not None:
        if time.monotonic() > deadline:
            process.kill()  # its parts die with it, and what does not is ended as an orphan
        time.sleep(0.05)
    return True
