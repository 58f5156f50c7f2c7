"""The life of one part: prepared, started, probed, restarted, stopped.

Nothing here blocks. The supervisor calls `step` many times a second in its main thread; preparation and probes run in
a pool. Processes are started in the main thread only, because they die with the thread that started them.
"""

import signal
import subprocess
from concurrent.futures import Executor, Future
from pathlib import Path

from lily.embedded.process import has_exited, reap, signal_group, spawn
from lily.embedded.state import PartState, RecordedProcess
from lily.embedded.supervision.part import Part
from lily.model.errors import LilyError, Terminal

# All in seconds.
FIRST_BACKOFF, LONGEST_BACKOFF = 0.5, 15.0
FORGET_FAILURES_AFTER = 60.0  # after this much health, earlier failures no longer lengthen the backoff
UNHEALTHY_TIMEOUT = 60.0  # a process that was healthy may fail its probes this long before it is replaced
START_TIMEOUT = 180.0  # until it is healthy for the first time: a cold Spark on a busy machine needs over a minute
START_PROBE_INTERVAL, PROBE_INTERVAL = 0.1, 2.0

MAX_START_FAILURES = 3  # a part that fails this often in a row at the first start will not recover by itself


class SupervisedPart:
    """One part and its process. `record` is its published state."""

    def __init__(self, part: Part, record: PartState, logs: Path, pool: Executor) -> None:
        self.part, self.record = part, record
        self.log = logs / f"{part.name}.log"
        self.failures = 0  # in a row, without a minute of health between them
        self._pool = pool
        self._process: subprocess.Popen[bytes] | None = None
        self._preparation: Future[None] | None = None
        self._probe: Future[bool] | None = None
        self._started_at = self._healthy_since = self._last_healthy = self._next_probe = 0.0
        self._restart_at: float | None = None
        self._kill_at: float | None = None
        self._wanted = False

    def start(self, now: float) -> None:
        self._wanted, self._started_at, self._restart_at = True, now, None
        self.record.state = "starting"
        self._preparation = self._pool.submit(self.part.prepare)

    def stop(self, now: float, grace: float | None = None) -> None:
        """Requests an orderly stop. `step` kills the process after the grace period; a later call may shorten it."""
        self._wanted, self._restart_at = False, None
        self.record.state = "stopping" if self._process or self._preparation else "stopped"
        self._end_process(now, self.part.grace if grace is None else grace)

    @property
    def started(self) -> bool:
        """Whether it is to run: it may still be starting, or be about to start again."""
        return self._wanted

    @property
    def stopped(self) -> bool:
        return self.record.state == "stopped"

    @property
    def healthy(self) -> bool:
        return self.record.state == "healthy"

    def step(self, now: float) -> None:
        """Checks the process once and does what is due."""
        self._check_preparation(now)
        if self._process is not None:
            self._check_process(now)
        if self._restart_at is not None and now >= self._restart_at:
            self.record.restarts += 1
            self.start(now)

    def _check_preparation(self, now: float) -> None:
        if self._preparation is None or not self._preparation.done():
            return
        preparation, self._preparation = self._preparation, None
        if not self._wanted:
            self.record.state = "stopped"
            return
        try:
            preparation.result()
            self._launch(now)
        except Terminal as error:
            self.failures = max(self.failures, MAX_START_FAILURES - 1)
            self._on_failure(now, str(error))
        except (LilyError, OSError, subprocess.SubprocessError) as error:
            self._on_failure(now, str(error))

    def _launch(self, now: float) -> None:
        self._process = spawn(self.part.command(), self.log)
        self.record.running = RecordedProcess.of(self._process.pid)
        self._kill_at, self._next_probe, self._last_healthy, self._healthy_since = None, now, now, 0.0

    def _check_process(self, now: float) -> None:
        process = self._process
        if process is None:
            return
        if has_exited(process):
            self._on_exit(now, process)
        elif self._kill_at is not None:
            if now >= self._kill_at:
                signal_group(process, signal.SIGKILL)
        else:
            self._check_health(now)

    def _on_exit(self, now: float, process: subprocess.Popen[bytes]) -> None:
        code = reap(process)
        self._process, self._probe, self._kill_at = None, None, None
        self.record.running = RecordedProcess()
        if self._wanted:
            self._on_failure(now, f"exited with code {code}")
        else:
            self.record.state = "stopped"

    def _on_failure(self, now: float, reason: str) -> None:
        self.failures += 1
        self._restart_at = now + min(FIRST_BACKOFF * 2 ** (self.failures - 1), LONGEST_BACKOFF)
        self.record.state, self.record.detail = "restarting", reason

    def _check_health(self, now: float) -> None:
        if self._probe is None and now >= self._next_probe:
            self._probe = self._pool.submit(self.part.healthy)
        if self._probe is None or not self._probe.done():
            return
        healthy, self._probe = self._probe.result(), None
        self._next_probe = now + (PROBE_INTERVAL if self.healthy and healthy else START_PROBE_INTERVAL)
        if healthy:
            self._on_healthy(now)
        else:
            self._on_unhealthy(now)

    def _on_healthy(self, now: float) -> None:
        if not self.healthy:
            self._healthy_since = now
            self.record.state, self.record.detail = "healthy", ""
            self.record.start_seconds = round(now - self._started_at, 2)
        self._last_healthy = now
        if now - self._healthy_since > FORGET_FAILURES_AFTER:
            self.failures = 0

    def _on_unhealthy(self, now: float) -> None:
        if self.healthy:
            self.record.state = "unhealthy"
        timeout = UNHEALTHY_TIMEOUT if self._healthy_since else START_TIMEOUT
        if now - self._last_healthy > timeout:
            self.record.detail = f"failed its health probe for {timeout:.0f} seconds"
            self._end_process(now, self.part.grace)

    def _end_process(self, now: float, grace: float) -> None:
        if self._process is None:
            return
        if self._kill_at is None:
            signal_group(self._process, self.part.stop_signal)
        self._kill_at = min(now + grace, self._kill_at or float("inf"))
