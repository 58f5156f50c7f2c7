"""Stops a stack from another process."""

import time
from pathlib import Path

from lily.embedded.lock import DirectoryLock
from lily.embedded.state import RecordedProcess, load
from lily.embedded.supervision.orphans import end_orphans

TIMEOUT = 90.0  # longer than the grace periods of all parts together


def stop_stack(data_dir: Path) -> bool:
    """Stops the supervisor, waits for it, ends what is left, and returns whether anything was running."""
    if not data_dir.is_dir():
        return False
    stopped = _stop_supervisor(load(data_dir).supervisor)
    with DirectoryLock(data_dir):  # no new stack can start while we look for orphans
        return end_orphans(data_dir) > 0 or stopped


def _stop_supervisor(supervisor: RecordedProcess) -> bool:
    process = supervisor.process()
    if process is None:
        return False
    process.terminate()
    deadline = time.monotonic() + TIMEOUT
    while supervisor.process() is not None:
        if time.monotonic() > deadline:
            process.kill()  # its parts die with it, and the rest are ended as orphans
        time.sleep(0.05)
    return True
