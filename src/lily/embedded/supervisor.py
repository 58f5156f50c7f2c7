"""Keeps a stack running: starts its parts stage by stage, restarts what fails, stops all in reverse order."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lily.embedded.lock import DirectoryLock
from lily.embedded.part import Part
from lily.embedded.process import last_lines
from lily.embedded.state import PartState, Phase, Running, StackState, save
from lily.embedded.supervised import HOPELESS, Supervised
from lily.model.errors import Terminal, Transient

TICK = 0.05  # seconds between two looks at the processes: a look is a system call a part
START_SECONDS = 180.0  # a cold Spark on a busy machine needs most of a minute


class StartFailed(Terminal):
    """The stack did not come up; nothing of it is left running."""


class DirectoryGone(Terminal):
    """Somebody deleted the data directory under a running stack."""


class _Stopped(Terminal):
    """Asked to stop: leaves whatever loop the supervisor is in."""


@dataclass(frozen=True)
class Stage:
    """Parts that start together, and what has to be done once they are healthy, before the next stage."""

    parts: tuple[Part, ...] = ()
    what: str = ""
    then: Callable[[], None] = lambda: None


class Supervisor:
    """Runs in the main thread, for the parts die with the thread that starts them. `watch` sees every change."""

    def __init__(
        self, state: StackState, lock: DirectoryLock, stages: Sequence[Stage], watch: Callable[[StackState], None]
    ) -> None:
        self._state, self._lock, self._stages, self._watch = state, lock, stages, watch
        self._logs = state.data_dir / "logs"
        self._parts: list[Supervised] = []
        self._stops_asked = 0
        self._written = ""

    def stop(self) -> None:
        """Asks for an orderly stop; asked again, for a quick one. Safe to call from a signal handler."""
        self._stops_asked += 1

    def run(self) -> None:
        """Returns when asked to stop; raises StartFailed or another LilyError if the stack cannot start."""
        self._state.supervisor = Running.of(os.getpid())
        with ThreadPoolExecutor(max_workers=8, thread_name_prefix="probe") as pool:
            self._begin(pool)
            try:
                self._start()
                self._keep()
            except _Stopped:
                pass
            except BaseException as error:
                self._state.error = {"code": type(error).__name__, "description": str(error), "entity": ""}
                raise
            finally:
                self._end()

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        parts = [part for stage in self._stages for part in stage.parts]
        records = [PartState(name=part.name) for part in parts]
        self._parts = [Supervised(part, record, self._logs, pool) for part, record in zip(parts, records, strict=True)]
        self._pool, self._state.parts, self._state.error = pool, records, {}
        self._enter("starting")

    def _start(self) -> None:
        for stage in self._stages:
            members = self._members(stage)
            for part in members:
                part.start(time.monotonic())
            self._wait_until_healthy(members)
            self._perform(stage)
        self._enter("ready")

    def _wait_until_healthy(self, members: Sequence[Supervised]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not all(part.healthy for part in members):
            self._tick()
            for part in members:
                if part.failures >= HOPELESS or (not part.healthy and time.monotonic() > deadline):
                    raise StartFailed(_why(part))

    def _perform(self, stage: Stage) -> None:
        """Runs the stage's work in the pool, again and again while it fails with Transient errors."""
        deadline = time.monotonic() + START_SECONDS
        self._state.detail = stage.what
        while True:
            work = self._pool.submit(stage.then)
            while not work.done():
                self._tick()
            try:
                work.result()
            except Transient:
                if time.monotonic() > deadline:
                    raise
            else:
                self._state.detail = ""
                return
            self._tick(pause=1.0)

    def _keep(self) -> None:
        while True:
            self._tick()
            if not self._lock.still_ours():
                raise DirectoryGone(
                    f"{self._state.data_dir} was deleted, so its stack stops. Run `lily down` before that."
                )

    def _end(self) -> None:
        self._enter("stopping")
        for stage in reversed(self._stages):
            members = self._members(stage)
            for part in members:
                part.stop(time.monotonic())
            while not all(part.stopped for part in members):
                self._hurry(members)
                self._step(members)
        self._state.supervisor = Running()
        self._enter("failed" if self._state.error else "stopped")

    def _hurry(self, members: Sequence[Supervised]) -> None:
        if self._stops_asked > 1:
            for part in members:
                part.stop(time.monotonic(), grace=0.0)

    def _members(self, stage: Stage) -> list[Supervised]:
        return [part for part in self._parts if part.part in stage.parts]

    def _enter(self, phase: Phase) -> None:
        self._state.phase = phase
        self._publish()

    def _tick(self, pause: float = TICK) -> None:
        if self._stops_asked:
            raise _Stopped("stopped")
        self._step(self._parts, pause)

    def _step(self, parts: Sequence[Supervised], pause: float = TICK) -> None:
        for part in parts:
            part.step(time.monotonic())
        self._publish()
        time.sleep(pause)

    def _publish(self) -> None:
        current = self._state.model_dump_json()
        if current == self._written:
            return
        self._watch(self._state)
        try:
            if self._lock.still_ours():
                save(self._state)
            self._written = current
        except OSError as error:  # a full disk must not end a stack that runs; the next tick tries again
            print(f"stack.json could not be written: {error}", file=sys.stderr)


def _why(part: Supervised) -> str:
    said = last_lines(part.log)
    return (
        f"{part.part.name} did not start ({part.record.detail or 'it does not answer'}). "
        f"The end of {part.log}:\n{said or '(empty)'}\n"
        "Remove the cause and run `lily up` again; `lily doctor` may know it."
    )
