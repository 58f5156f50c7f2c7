"""The embedded engines as a user runs them: `lily up`, `lily down`, `lily status`, and kill -9."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from lily.embedded.state import PartState, StackState, load
from lily.embedded.supervision.orphans import find_orphans

ENGINES = ("--parts", "kafka,postgres")


class Engines:
    """A stack of Kafka and PostgreSQL only, controlled by the command line."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir

    def lily(self, *words: str) -> subprocess.CompletedProcess[str]:
        # Reading the output to its end would hang here if a detached stack kept our handles open.
        return self.lily_text(*words, "--format", "json")

    def lily_text(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lily", *words, "--data-dir", str(self.data_dir)]
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)

    def up(self) -> dict[str, str]:
        done = self.lily("up", "--detach", *ENGINES)
        assert done.returncode == 0, done.stdout + done.stderr
        result: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
        return result

    def down(self) -> None:
        done = self.lily("down")
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def state(self) -> StackState:
        return load(self.data_dir)

    def part(self, name: str) -> PartState:
        return next(part for part in self.state.parts if part.name == name)

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.state.database, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def wait_until(reached: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="lily-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def engines(open_directory: Path) -> Iterator[Engines]:
    stack = Engines(open_directory / "data")
    yield stack
    stack.down()


@pytest.mark.campaign
def test_engines_survive_the_death_of_any_process(engines: Engines) -> None:
    """One stack through all of it, because each start costs seconds."""
    engines.up()
    engines.execute("create table kept as select 42 as answer")
    ports, kafka, postgres = engines.state.ports, engines.part("kafka").running, engines.part("postgres").running

    rejected = engines.lily("up", "--detach", *ENGINES)
    assert rejected.returncode == 1
    (error,) = json.loads(rejected.stdout)["errors"]
    assert error["code"] == "ALREADY_RUNNING"
    assert f"`lily down --data-dir {engines.data_dir}`" in error["description"]

    for killed in (kafka, postgres):
        os.kill(killed.pid, signal.SIGKILL)
    for name, killed in (("kafka", kafka), ("postgres", postgres)):
        wait_until(lambda name=name, killed=killed: engines.part(name).running.pid not in (0, killed.pid))  # type: ignore[misc]
        wait_until(lambda name=name: engines.part(name).state == "healthy")  # type: ignore[misc]
        assert engines.part(name).restarts == 1
    assert engines.execute("select answer from kept") == [(42,)]

    os.kill(engines.state.supervisor.pid, signal.SIGKILL)
    assert engines.lily("status").returncode == 1
    wait_until(lambda: not find_orphans(engines.data_dir))  # they die with their supervisor

    engines.up()
    assert engines.state.ports == ports
    assert engines.execute("select answer from kept") == [(42,)]
    ours = [psutil.Process(part.running.pid) for part in engines.state.parts]
    ours += [child for process in ours for child in process.children(recursive=True)]
    engines.down()
    assert not [process for process in ours if process.is_running()]
    assert not find_orphans(engines.data_dir)


@pytest.mark.campaign
def test_status_shows_the_parts_and_the_addresses_without_the_password(engines: Engines) -> None:
    started = engines.up()
    password = engines.state.passwords["lily"]
    assert password in started["database"]

    report = json.loads(engines.lily("status").stdout)
    assert [set(part) for part in report["parts"]] == [{"name", "pid", "state", "rss_bytes"}] * 2
    assert (report["lag"], report["ready"]) == ({}, True)
    assert {name: report[name] for name in ("url", "grpc", "kafka", "data_dir")} == {
        name: started[name] for name in ("url", "grpc", "kafka", "data_dir")
    }
    assert report["database"] == started["database"].replace(f":{password}", "")

    printed = engines.lily_text("status").stdout
    assert printed.splitlines()[0].split() == ["PART", "PID", "STATE", "MEMORY", "RESTARTS"]
    assert all(report[name] in printed for name in ("url", "grpc", "kafka", "database"))
    assert password not in printed


@pytest.mark.campaign
def test_two_stacks_run_side_by_side_and_unusable_files_are_named(open_directory: Path) -> None:
    """The second one starts from the remains of crashes and a lost stack.json, in a directory closed to others."""
    first, second = Engines(open_directory / "first"), Engines(open_directory / "closed" / "second")
    second.data_dir.parent.mkdir(mode=0o700)
    try:
        first.up()
        _leave_half_formatted(second.data_dir)
        second.up()
        second.execute("create table kept as select 42 as answer")
        assert set(first.state.ports.values()).isdisjoint(
            port for name, port in second.state.ports.items() if name != "api"
        )
        assert json.loads(first.lily("status").stdout)["ready"] is True
        second.down()
        assert json.loads(first.lily("status").stdout)["ready"] is True

        (second.data_dir / "stack.json").unlink()  # and the password with it
        pid_of_another = str(os.getpid())
        (second.data_dir / "postgres" / "postmaster.pid").write_text(f"{pid_of_another}\n/nowhere\n1\n1\n\n127.0.0.1\n")
        second.up()
        assert second.execute("select answer from kept") == [(42,)]
        second.down()

        (second.data_dir / "kafka" / "data" / "meta.properties").unlink()
        (second.data_dir / "kafka" / "data" / "events-0").mkdir()
        done = second.lily("up", "--detach", *ENGINES)
        assert done.returncode == 1
        assert "meta.properties" in done.stdout
        assert not find_orphans(second.data_dir)
    finally:
        for stack in (first, second):
            stack.down()
        _remove_fallback_dir(second.data_dir)


def _leave_half_formatted(data_dir: Path) -> None:
    """Creates what a killed Kafka format and a killed initdb could leave."""
    (data_dir / "kafka" / "data" / "__cluster_metadata-0").mkdir(parents=True)
    (data_dir / "kafka" / "data.new").mkdir()
    (data_dir / "kafka" / "data.new" / "bootstrap.checkpoint").write_bytes(b"\0" * 10)
    (data_dir / "postgres.new" / "base").mkdir(parents=True)


def _remove_fallback_dir(data_dir: Path) -> None:
    """As root, the database is outside the closed directory."""
    link = data_dir / "postgres"
    if link.is_symlink():
        shutil.rmtree(link.readlink().parent)
