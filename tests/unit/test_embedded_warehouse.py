"""Only the owner of an embedded stack reads the lake's files."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lily.embedded.warehouse import protect_warehouse
from lily.settings import Settings


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    previous = os.umask(0)
    yield
    os.umask(previous)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_warehouse_is_private(tmp_path: Path) -> None:
    protect_warehouse(Settings(data_dir=tmp_path))
    assert mode(tmp_path / "warehouse") == 0o700


def test_the_warehouse_of_an_earlier_version_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir(0o755)
    protect_warehouse(Settings(data_dir=tmp_path))
    assert mode(tmp_path / "warehouse") == 0o700


def test_executors_elsewhere_may_still_enter_the_warehouse(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir(0o755)
    protect_warehouse(Settings(data_dir=tmp_path, spark_master="spark://elsewhere:7077"))
    assert mode(tmp_path / "warehouse") == 0o755


def test_a_configured_warehouse_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(0o755)
    protect_warehouse(Settings(data_dir=tmp_path, warehouse=str(tmp_path / "mine")))
    assert mode(tmp_path / "mine") == 0o755
    assert not (tmp_path / "warehouse").exists()
