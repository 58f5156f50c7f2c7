"""Only the owner of an embedded stack reads its files."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lily.embedded.machine_checks import check_machine
from lily.embedded.private_files import PRIVATE, exposed_files, protect_files
from lily.embedded.process import Command, spawn
from lily.settings import Settings

GENEROUS = 0o002


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    previous = os.umask(GENEROUS)
    yield
    os.umask(previous)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_warehouse_is_private(tmp_path: Path) -> None:
    protect_files(Settings(data_dir=tmp_path))
    assert mode(tmp_path / "warehouse") == 0o700


def test_the_warehouse_of_an_earlier_version_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir(0o755)
    protect_files(Settings(data_dir=tmp_path))
    assert mode(tmp_path / "warehouse") == 0o700


def test_executors_elsewhere_may_still_enter_the_warehouse(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir(0o755)
    assert protect_files(Settings(data_dir=tmp_path, spark_master="spark://elsewhere:7077")) == GENEROUS
    assert mode(tmp_path / "warehouse") == 0o755


def test_a_configured_warehouse_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(0o755)
    assert protect_files(Settings(data_dir=tmp_path, warehouse=str(tmp_path / "mine"))) == GENEROUS
    assert mode(tmp_path / "mine") == 0o755
    assert not (tmp_path / "warehouse").exists()


def test_what_the_supervisor_and_its_processes_create_is_private(tmp_path: Path) -> None:
    assert protect_files(Settings(data_dir=tmp_path)) == PRIVATE
    (tmp_path / "file").touch()
    assert mode(tmp_path / "file") == 0o600
    touch = shutil.which("touch") or ""
    assert spawn(Command((touch, str(tmp_path / "child"))), tmp_path / "logs" / "touch.log").wait() == 0
    assert mode(tmp_path / "child") == 0o600
    shared = Command((touch, str(tmp_path / "shared")), umask=GENEROUS)
    assert spawn(shared, tmp_path / "logs" / "touch.log").wait() == 0
    assert mode(tmp_path / "shared") == 0o664


def test_the_doctor_finds_files_that_others_can_read(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(0o755)
    (data_dir / "kafka").mkdir(0o700)
    (data_dir / "kafka" / "log").touch()  # protected by its directory
    settings = Settings(data_dir=data_dir)
    assert exposed_files(data_dir) == []
    assert next(check for check in check_machine(settings) if check.name == "Files").good
    (data_dir / "admin.token").touch()
    found = next(check for check in check_machine(settings) if check.name == "Files")
    assert (found.good, found.ok) == (False, True)
    assert f"chmod go= {data_dir / 'admin.token'}" in found.remedy
