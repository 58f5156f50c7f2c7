"""Parts die with their supervisor, and only processes of the data directory are ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded import process
from lily.embedded.process import MARK, Command, last_lines, rotate, run_to_end
from lily.embedded.supervision.orphans import end_orphans, find_orphans

SUPERVISOR = """
import sys, time
from pathlib import Path
from lily.embedded.process import Command, spawn
part = spawn(Command(("/bin/sleep", "60")), Path(sys.argv[1]) / "logs" / "part.log")
print(part.pid, flush=True)
time.sleep(60)
"""


def _gone(found: psutil.Process, timeout: float = 10) -> bool:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if not found.is_running() or found.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_a_part_dies_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(tmp_path)], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        part = psutil.Process(int(supervisor.stdout.readline()))
        assert part.is_running()
        supervisor.kill()
    assert _gone(part)


def test_a_part_leads_a_session_of_its_own(tmp_path: Path) -> None:
    part = process.spawn(Command(("/bin/sleep", "60")), tmp_path / "logs" / "part.log")
    try:
        assert os.getsid(part.pid) == part.pid
    finally:
        part.kill()
        process.reap(part)


def test_a_command_starts_with_default_signal_handlers() -> None:
    done = run_to_end(Command(("/bin/sh", "-c", "grep SigIgn /proc/self/status")))
    ignored = int(done.stdout.split()[1], 16)
    assert [number for number in signal.valid_signals() if ignored >> (number - 1) & 1] == []


def test_orphans_are_recognised_by_their_mark_and_other_processes_are_left_alone(tmp_path: Path) -> None:
    ours = subprocess.Popen(["/bin/sleep", "60"], env=os.environ | {MARK: str(tmp_path)}, start_new_session=True)
    others = subprocess.Popen(["/bin/sleep", "60"], env=os.environ | {MARK: str(tmp_path / "other")})
    try:
        assert [orphan.pid for orphan in find_orphans(tmp_path)] == [ours.pid]
        assert end_orphans(tmp_path) == 1
        assert not psutil.pid_exists(ours.pid)
        assert others.poll() is None
        assert end_orphans(tmp_path) == 0
    finally:
        for started in (ours, others):
            started.kill()
            started.wait()


def test_an_orphan_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    stubborn = subprocess.Popen(
        ["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"],
        env=os.environ | {MARK: str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    with stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        assert end_orphans(tmp_path, grace=0.3) >= 1
        assert not psutil.pid_exists(stubborn.pid)


def test_a_large_log_is_rotated_and_a_small_one_is_continued(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "part.log"
    rotate(log)
    log.write_text("short")
    rotate(log)
    assert log.read_text() == "short"
    with log.open("ab") as file:
        file.truncate(process.LOG_BYTES + 1)
    rotate(log)
    assert not log.exists()
    assert log.with_name("part.log.1").stat().st_size == process.LOG_BYTES + 1


def test_the_last_lines_of_a_log_with_invalid_text_can_be_read(tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    log.write_bytes(b"old\n" * 10_000 + b"\xff broken\nlast\n")
    assert last_lines(log, 2).endswith("broken\nlast")
    assert last_lines(tmp_path / "none.log") == ""
