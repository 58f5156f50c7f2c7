"""stack.json is private, written as a whole, and never trusted about running processes."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from lily.embedded.state import FILE, PartState, RecordedProcess, StackState, load, save


def test_a_saved_state_is_loaded_again(tmp_path: Path) -> None:
    state = StackState(data_dir=tmp_path, ports={"kafka": 1}, passwords={"lily": "x"}, parts=[PartState(name="kafka")])
    save(state)
    assert load(tmp_path) == state


def test_only_its_owner_may_read_it_and_no_draft_is_left(tmp_path: Path) -> None:
    save(StackState(data_dir=tmp_path))
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("content", [b"", b"{", b'{"data_dir": 3}', b"\xff\xfe"])
def test_an_unreadable_state_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert load(tmp_path) == StackState(data_dir=tmp_path)


def test_a_copied_directory_keeps_the_passwords_but_not_the_processes_of_the_original(tmp_path: Path) -> None:
    original, copy = tmp_path / "a", tmp_path / "b"
    original.mkdir()
    copy.mkdir()
    save(
        StackState(
            data_dir=original, passwords={"lily": "x"}, ports={"kafka": 1}, supervisor=RecordedProcess.of(os.getpid())
        )
    )
    (copy / FILE).write_bytes((original / FILE).read_bytes())
    assert load(copy) == StackState(data_dir=copy, passwords={"lily": "x"})


def test_a_process_is_found_while_it_is_alive() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        recorded = RecordedProcess.of(sleeper.pid)
        found = recorded.process()
        sleeper.kill()
    assert found is not None
    assert recorded.process() is None


def test_another_process_with_the_recorded_pid_is_not_mistaken_for_it() -> None:
    mine = RecordedProcess.of(os.getpid())
    assert mine.process() is not None
    earlier = {"create_time": mine.create_time - 5, "started": mine.started and f"{mine.started}0"}
    assert mine.model_copy(update=earlier).process() is None


def test_a_process_is_found_by_its_time_of_day_where_nothing_else_was_recorded() -> None:
    mine = RecordedProcess.of(os.getpid()).model_copy(update={"started": ""})
    assert mine.process() is not None
    assert mine.model_copy(update={"create_time": mine.create_time - 5}).process() is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux computes the start from the time of day")
def test_a_process_is_found_after_the_clock_was_set() -> None:
    mine = RecordedProcess.of(os.getpid())
    assert mine.model_copy(update={"create_time": mine.create_time - 22}).process() is not None
