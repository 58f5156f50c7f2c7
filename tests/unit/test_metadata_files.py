"""Which metadata file of a table is the newest. `tests/stream/test_restored_stores.py` has real ones."""

from pathlib import Path

import pytest

from lily.store.lake import metadata_files
from lily.store.lake.metadata_files import newest_metadata

OLD, NEW = "00009-0a1b.metadata.json", "00010-2c3d.metadata.json"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in (OLD, NEW, "snap-99999-1-4e5f.avro", "version-hint.text"):
        (tmp_path / name).write_text("{}")
    return tmp_path


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_the_greatest_version_is_the_newest_and_keeps_the_form_of_the_address(
    directory: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata_files, "_is_complete", lambda *_: True)
    newest = f"{prefix}{directory}/{NEW}"
    for named in (OLD, NEW, "00031-dead.metadata.json"):
        assert newest_metadata(f"{prefix}{directory}/{named}", {}) == newest


def test_what_is_not_complete_is_not_adopted(directory: Path) -> None:
    assert newest_metadata(f"{directory}/{OLD}", {}) == f"{directory}/{OLD}"
    with pytest.raises(FileNotFoundError):
        newest_metadata(f"{directory}/00031-dead.metadata.json", {})
