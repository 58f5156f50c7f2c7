"""A directory has one supervisor; the lock of a killed one is released."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lily.embedded.lock import AlreadyRunning, DirectoryLock

HOLD = """
import sys, time
from pathlib import Path
from lily.embedded.lock import DirectoryLock
with DirectoryLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_rejected_until_the_first_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunning, match="lily down"), DirectoryLock(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with DirectoryLock(tmp_path) as lock:
        assert lock.still_held()


def test_a_holder_notices_that_its_directory_was_deleted(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    with DirectoryLock(place) as lock:
        shutil.rmtree(place)
        assert not lock.still_held()
        place.mkdir()
        with DirectoryLock(place) as newer:
            assert newer.still_held()
            assert not lock.still_held()
