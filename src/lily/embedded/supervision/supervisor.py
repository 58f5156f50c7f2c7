"""Runs a stack: starts its parts stage by stage, restarts what fails, and stops everything in reverse order."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lily.embedded.lock import DirectoryLock
from lily.embedded.process import last_lines
from lily.embedded.state import PartState, Phase, RecordedProcess, StackState, save
from lily.embedded.supervision.part import Part
from lily.embedded.supervision.supervised_part import MAX_START_FAILURES, SupervisedPart
from lily.model.errors import Terminal, Transient

TICK_SECONDS = 0.05  # between two checks of the processes: a check is one system call per part
STAGE_TIMEOUT = 180.0  # a cold Spark on a busy machine needs most of a minute
RETRY_SECONDS = 1.0


class StartFailed(Terminal):
    """The stack did not start. None of its processes is left running."""


class DirectoryGone(Terminal):
    """The data directory was deleted while its stack was running."""


class _StopRequested(Terminal):
    """Ends whichever loop the supervisor is in."""


@dataclass(frozen=True)
class Stage:
    """Parts that start together, and a task to run once they are healthy, before the next stage. Parts of later stages
    can start ahead, if they wait by themselves for what they need."""

    parts: tuple[Part, ...] = ()
    ahead: tuple[Part, ...] = ()
    task_name: str = ""
    task: Callable[[], None] = lambda: None


class Supervisor:
    """Runs in the main thread, because the parts die with the thread that starts them. Every change of the state is
    passed to `on_change`."""

    def __init__(
        self, state: StackState, lock: DirectoryLock, stages: Sequence[Stage], on_change: Callable[[StackState], None]
    ) -> None:
        self._state, self._lock, self._stages, self._on_change = state, lock, stages, on_change
        self._logs = state.data_dir / "logs"
        self._parts: list[SupervisedPart] = []
        self._stop_requests = 0
        self._published = ""

    def stop(self) -> None:
        """Requests an orderly stop; a second call, a quick one. Can be called from a signal handler."""
        self._stop_requests += 1

    def run(self) -> None:
        """Returns after a requested stop. Raises StartFailed or another LilyError if the stack cannot start."""
        self._state.supervisor = RecordedProcess.of(os.getpid())
        with ThreadPoolExecutor(max_workers=8, thread_name_prefix="probe") as pool:
            self._begin(pool)
            try:
                self._start()
                self._watch()
            except _StopRequested:
                pass
            except BaseException as error:
                self._state.error = {"code": type(error).__name__, "description": str(error), "entity": ""}
                raise
            finally:
                self._stop_all()

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        parts = [part for stage in self._stages for part in stage.parts]
        records = [PartState(name=part.name) for part in parts]
        self._parts = [
            SupervisedPart(part, record, self._logs, pool) for part, record in zip(parts, records, strict=True)
        ]
        self._pool, self._state.parts, self._state.error = pool, records, {}
        self._enter("starting")

    def _start(self) -> None:
        for stage in self._stages:
            members = self._members(stage)
            for part in [*members, *(part for part in self._parts if part.part in stage.ahead)]:
                if not part.started:
                    part.start(time.monotonic())
            self._wait_until_healthy(members)
            self._run_task(stage)
        self._enter("ready")

    def _wait_until_healthy(self, members: Sequence[SupervisedPart]) -> None:
        deadline = time.monotonic() + STAGE_TIMEOUT
        while not all(part.healthy for part in members):
            self._tick()
            for part in members:
                if part.failures >= MAX_START_FAILURES or (not part.healthy and time.monotonic() > deadline):
                    raise StartFailed(_start_failure(part))

    def _run_task(self, stage: Stage) -> None:
        """Runs the stage's task in the pool, and repeats it while it raises Transient errors."""
        deadline = time.monotonic() + STAGE_TIMEOUT
        self._state.detail = stage.task_name
        while True:
            task = self._pool.submit(stage.task)
            while not task.done():
                self._tick()
            try:
                task.result()
            except Transient:
                if time.monotonic() > deadline:
                    raise
            else:
                self._state.detail = ""
                return
            self._tick(pause=RETRY_SECONDS)

    def _watch(self) -> None:
        while True:
            self._tick()
            if not self._lock.still_held():
                raise DirectoryGone(
                    f"{self._state.data_dir} was deleted, so its stack stops. Run `lily down` before you delete it."
                )

    def _stop_all(self) -> None:
        self._enter("stopping")
        for stage in reversed(self._stages):
            members = self._members(stage)
            for part in members:
                part.stop(time.monotonic())
            while not all(part.stopped for part in members):
                self._kill_if_impatient(members)
                self._step(members)
        self._state.supervisor = RecordedProcess()
        self._enter("failed" if self._state.error else "stopped")

    def _kill_if_impatient(self, members: Sequence[SupervisedPart]) -> None:
        if self._stop_requests > 1:
            for part in members:
                part.stop(time.monotonic(), grace=0.0)

    def _members(self, stage: Stage) -> list[SupervisedPart]:
        return [part for part in self._parts if part.part in stage.parts]

    def _enter(self, phase: Phase) -> None:
        self._state.phase = phase
        self._publish()

    def _tick(self, pause: float = TICK_SECONDS) -> None:
        if self._stop_requests:
            raise _StopRequested("stopped")
        self._step(self._parts, pause)

    def _step(self, parts: Sequence[SupervisedPart], pause: float = TICK_SECONDS) -> None:
        for part in parts:
            part.step(time.monotonic())
        self._publish()
        time.sleep(pause)

    def _publish(self) -> None:
        """Saves the state and calls `on_change`, if the state has changed."""
        current = self._state.model_dump_json()
        if current == self._published:
            return
        self._on_change(self._state)
        try:
            if self._lock.still_held():
                save(self._state)
            self._published = current
        except OSError as error:  # a full disk must not end a running stack; the next tick tries again
            print(f"stack.json could not be written: {error}", file=sys.stderr)


def _start_failure(part: SupervisedPart) -> str:
    reason = part.record.detail or f"not healthy within {STAGE_TIMEOUT:.0f} seconds"
    return (
        f"{part.part.name} did not start ({reason}). The end of {part.log}:\n{last_lines(part.log) or '(empty)'}\n"
        "Fix the cause and run `lily up` again; `lily doctor` checks this machine."
    )
