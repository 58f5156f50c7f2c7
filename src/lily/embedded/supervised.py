"""The life of one part: prepared, started, watched, restarted, stopped.

Nothing here blocks. The supervisor calls `step` many times a second from its main thread; preparing and probing happen
in a pool. Processes are started in the main thread only, since they die with the thread that started them.
"""

import signal
import subprocess
from concurrent.futures import Executor, Future
from pathlib import Path

from lily.embedded.part import Part
from lily.embedded.process import has_exited, reap, signal_group, spawn
from lily.embedded.state import PartState, Running
from lily.model.errors import LilyError, Terminal

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
CALM = 60.0  # after so long in health, an earlier failure says nothing about the next one
SICK = 60.0  # how long a process that was well may fail its probe before it is replaced
SLOW = 180.0  # how long one may take to be well at all: a cold Spark on a busy machine needs more than a minute
HOPELESS = 3  # a part that failed so often in a row at the first start will not get better by itself
EAGER, EASY = 0.1, 2.0  # seconds between probes while starting, and afterwards


class Supervised:
    """One part and its process. `record` is what the rest of the world sees of it."""

    def __init__(self, part: Part, record: PartState, logs: Path, pool: Executor) -> None:
        self.part, self.record = part, record
        self.log = logs / f"{part.name}.log"
        self.failures = 0  # in a row, without a minute of health between
        self._pool = pool
        self._process: subprocess.Popen[bytes] | None = None
        self._preparing: Future[None] | None = None
        self._probe: Future[bool] | None = None
        self._begun = self._well_since = self._last_well = self._next_probe = 0.0
        self._restart_at: float | None = None
        self._kill_at: float | None = None
        self._wanted = False

    def start(self, now: float) -> None:
        self._wanted, self._begun, self._restart_at = True, now, None
        self.record.state = "starting"
        self._preparing = self._pool.submit(self.part.prepare)

    def stop(self, now: float, grace: float | None = None) -> None:
        """Asks for an orderly end; `step` makes it a kill once the grace is over. A later call may shorten it."""
        self._wanted, self._restart_at = False, None
        self.record.state = "stopping" if self._process or self._preparing else "stopped"
        self._end_process(now, self.part.grace if grace is None else grace)

    @property
    def stopped(self) -> bool:
        return self.record.state == "stopped"

    @property
    def healthy(self) -> bool:
        return self.record.state == "healthy"

    def step(self, now: float) -> None:
        """Looks at the process once and does the next thing."""
        self._check_prepared(now)
        if self._process is not None:
            self._check_process(now)
        if self._restart_at is not None and now >= self._restart_at:
            self.record.restarts += 1
            self.start(now)

    def _check_prepared(self, now: float) -> None:
        if self._preparing is None or not self._preparing.done():
            return
        prepared, self._preparing = self._preparing, None
        if not self._wanted:
            self.record.state = "stopped"
            return
        try:
            prepared.result()
            self._launch(now)
        except Terminal as error:
            self.failures = max(self.failures, HOPELESS - 1)
            self._failed(now, str(error))
        except (LilyError, OSError, subprocess.SubprocessError) as error:
            self._failed(now, str(error))

    def _launch(self, now: float) -> None:
        self._process = spawn(self.part.command(), self.log)
        self.record.running = Running.of(self._process.pid)
        self._kill_at, self._next_probe, self._last_well, self._well_since = None, now, now, 0.0

    def _check_process(self, now: float) -> None:
        process = self._process
        if process is None:
            return
        if has_exited(process):
            self._gone(now, process)
        elif self._kill_at is not None:
            if now >= self._kill_at:
                signal_group(process, signal.SIGKILL)
        else:
            self._check_health(now)

    def _gone(self, now: float, process: subprocess.Popen[bytes]) -> None:
        code = reap(process)
        self._process, self._probe, self._kill_at = None, None, None
        self.record.running = Running()
        if self._wanted:
            self._failed(now, f"ended with code {code}")
        else:
            self.record.state = "stopped"

    def _failed(self, now: float, why: str) -> None:
        self.failures += 1
        self._restart_at = now + min(FIRST_PAUSE * 2 ** (self.failures - 1), LONGEST_PAUSE)
        self.record.state, self.record.detail = "restarting", why

    def _check_health(self, now: float) -> None:
        if self._probe is None and now >= self._next_probe:
            self._probe = self._pool.submit(self.part.healthy)
        if self._probe is None or not self._probe.done():
            return
        well, self._probe = self._probe.result(), None
        self._next_probe = now + (EASY if self.healthy and well else EAGER)
        if well:
            self._is_well(now)
        else:
            self._is_sick(now)

    def _is_well(self, now: float) -> None:
        if not self.healthy:
            self._well_since = now
            self.record.state, self.record.detail = "healthy", ""
            self.record.start_seconds = round(now - self._begun, 2)
        self._last_well = now
        if now - self._well_since > CALM:
            self.failures = 0

    def _is_sick(self, now: float) -> None:
        if self.healthy:
            self.record.state = "unhealthy"
        patience = SICK if self._well_since else SLOW
        if now - self._last_well > patience:
            self.record.detail = f"did not answer for {patience:.0f} seconds"
            self._end_process(now, self.part.grace)

    def _end_process(self, now: float, grace: float) -> None:
        if self._process is None:
            return
        if self._kill_at is None:
            signal_group(self._process, self.part.stop_signal)
        self._kill_at = min(now + grace, self._kill_at or float("inf"))
