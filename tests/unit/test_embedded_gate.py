"""Services start beside the engines, and connect to nothing before these are prepared."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from lily.embedded.gate import VARIABLE, close_gate, gate_of, open_gate
from lily.embedded.lock import DirectoryLock
from lily.embedded.process import Command
from lily.embedded.state import StackState
from lily.embedded.supervision.supervisor import Stage, Supervisor
from lily.gate import wait_for_engines
from tests.unit.test_embedded_supervised_part import Shell


def waiting(stop: threading.Event | None = None) -> threading.Thread:
    thread = threading.Thread(target=wait_for_engines, args=[stop], daemon=True)
    thread.start()
    return thread


def test_a_service_waits_until_the_gate_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(gate_of(tmp_path)))
    open_gate(tmp_path)
    close_gate(tmp_path)
    thread = waiting()
    thread.join(0.1)
    assert thread.is_alive()
    open_gate(tmp_path)
    thread.join(5)
    assert not thread.is_alive()


def test_a_service_that_is_stopped_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(gate_of(tmp_path)))
    stop = threading.Event()
    thread = waiting(stop)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()


def test_a_process_without_a_stack_does_not_wait() -> None:
    assert VARIABLE not in os.environ
    wait_for_engines()


@dataclass
class Named(Shell):
    awaited: Path | None = None

    def command(self) -> Command:
        return Command(("/bin/sh", "-c", "exec sleep 60"))

    def healthy(self) -> bool:
        return self.awaited is None or self.awaited.exists()


def test_parts_of_a_later_stage_start_ahead_and_are_awaited_in_their_stage(tmp_path: Path) -> None:
    engine = Named("", name="engine")
    service = Named("", name="service", awaited=gate_of(tmp_path))
    state = StackState(data_dir=tmp_path, ports={}, passwords={}, url="", grpc="", kafka="", database="")
    seen: list[tuple[str, str]] = []

    def prepare() -> None:
        seen.append(("preparing", {part.name: part.state for part in state.parts}["service"]))
        open_gate(tmp_path)

    def on_change(changed: StackState) -> None:
        if changed.phase == "ready":
            seen.append(("ready", {part.name: part.state for part in changed.parts}["service"]))
            supervisor.stop()

    stages = [Stage((engine,), (service,), "preparing", prepare), Stage((service,))]
    with DirectoryLock(tmp_path) as lock:
        supervisor = Supervisor(state, lock, stages, on_change)
        supervisor.run()
    assert seen == [("preparing", "starting"), ("ready", "healthy")]
    assert service.prepared == [True]
    assert {part.state for part in state.parts} == {"stopped"}
