"""Jars are downloaded once, by one process at a time; an interrupted download is repaired. A script replaces Java."""

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lily.embedded import checksums, jars
from lily.embedded.checksums import UnexpectedJars
from lily.embedded.jars import DownloadFailed, class_paths, ensure_jars, is_complete
from lily.embedded.java import JavaMissing, parse_version
from lily.settings import Settings

JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2025-04-15' >&2; exit 0; fi
echo run >> "{home}/runs"
{action}
"""
FETCH = """
for word; do case "$word" in */\\[conf\\]*) target=${word%%/\\[conf\\]*};; esac; done
sleep 0.3
mkdir -p "$target/spark" "$target/broker"
echo spark > "$target/spark/a.jar"; echo broker > "$target/broker/b.jar"
"""
FETCH_S3 = """
for word; do case "$word" in */\\[conf\\]*) target=${word%%/\\[conf\\]*};; esac; done
mkdir -p "$target/s3"; echo s3 > "$target/s3/c.jar"
"""


# What the scripts write.
PINNED = {
    name: hashlib.sha256(f"{name.partition('/')[0]}\n".encode()).hexdigest()
    for name in ("spark/a.jar", "broker/b.jar", "s3/c.jar")
}


class Java:
    """A Java whose Ivy does what the test says."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "bin").mkdir(parents=True)
        self.does(FETCH)

    def does(self, action: str, version: str = "17.0.15") -> None:
        program = self.home / "bin" / "java"
        program.write_text(
            JAVA.replace("{version}", version).replace("{home}", str(self.home)).replace("{action}", action)
        )
        program.chmod(0o755)

    @property
    def runs(self) -> int:
        log = self.home / "runs"
        return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(checksums, "pinned", lambda: PINNED)
    return Java(tmp_path / "jdk")


def test_a_complete_directory_runs_no_java(java: Java, tmp_path: Path) -> None:
    directory = ensure_jars(tmp_path / "jars")
    assert is_complete(directory)
    assert (directory / "spark" / "a.jar").read_text() == "spark\n"
    assert ensure_jars(tmp_path / "jars") == directory
    assert java.runs == 1


def test_concurrent_calls_download_once(java: Java, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        directories = set(pool.map(lambda _: ensure_jars(tmp_path / "jars"), range(4)))
    assert directories == {tmp_path / "jars"}
    assert java.runs == 1


@pytest.mark.parametrize("damage", ["missing", "short", "unlisted"])
def test_a_damaged_directory_is_repaired(java: Java, tmp_path: Path, damage: str) -> None:
    directory = ensure_jars(tmp_path / "jars")
    if damage == "missing":
        (directory / "broker" / "b.jar").unlink()
    elif damage == "short":
        (directory / "broker" / "b.jar").write_text("br")
    else:
        (directory / jars.MANIFEST).unlink()
    ensure_jars(directory)
    assert is_complete(directory)
    assert (directory / "broker" / "b.jar").read_text() == "broker\n"
    assert java.runs == (1 if damage == "unlisted" else 2)


def test_the_rest_of_a_killed_download_is_removed_and_other_files_are_not(java: Java, tmp_path: Path) -> None:
    (tmp_path / "jars" / "partial-old" / "spark").mkdir(parents=True)
    (tmp_path / "jars" / "mine.txt").write_text("kept")
    directory = ensure_jars(tmp_path / "jars")
    assert not list(directory.glob("partial-*"))
    assert (directory / "mine.txt").read_text() == "kept"
    assert java.runs == 1


def test_jars_of_other_versions_are_downloaded_again(java: Java, tmp_path: Path) -> None:
    manifest = ensure_jars(tmp_path / "jars") / jars.MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"pins": "those of another version"}))
    (tmp_path / "jars" / "broker" / "b.jar").unlink()
    ensure_jars(tmp_path / "jars")
    assert java.runs == 2


def test_the_s3_jars_are_downloaded_only_if_needed_and_leave_the_others_untouched(java: Java, tmp_path: Path) -> None:
    directory = ensure_jars(tmp_path / "jars", wanted=class_paths("/srv/warehouse"))
    kept = (directory / "spark" / "a.jar").stat().st_ino
    wanted = class_paths("s3://bucket/warehouse")
    assert is_complete(directory)
    assert not is_complete(directory, wanted)
    java.does(FETCH_S3)
    ensure_jars(directory, wanted=wanted)
    assert is_complete(directory, wanted)
    assert (directory / "s3" / "c.jar").read_text() == "s3\n"
    assert (directory / "spark" / "a.jar").stat().st_ino == kept
    assert java.runs == 2


def test_a_failed_download_reports_the_output_of_ivy_and_leaves_nothing_valid(java: Java, tmp_path: Path) -> None:
    java.does("echo 'UNRESOLVED DEPENDENCIES'; exit 1")
    with pytest.raises(DownloadFailed, match=r"(?s)UNRESOLVED DEPENDENCIES.*lily jars"):
        ensure_jars(tmp_path / "jars")
    assert not is_complete(tmp_path / "jars")
    assert java.runs == jars.ATTEMPTS


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ('echo other > "$target/broker/b.jar"', "broker/b.jar has another content"),
        ('echo more > "$target/spark/z.jar"', "spark/z.jar is not one of them"),
        ('mv "$target/broker/b.jar" "$target/broker/c.jar"', "broker/b.jar is missing"),
    ],
)
def test_jars_that_are_not_the_pinned_ones_are_refused_with_the_remedy(
    java: Java, tmp_path: Path, action: str, problem: str
) -> None:
    java.does(FETCH + action)
    with pytest.raises(UnexpectedJars, match=rf"(?s){problem}.*LILY_JARS_DIR"):
        ensure_jars(tmp_path / "jars")
    assert not is_complete(tmp_path / "jars")
    assert not (tmp_path / "jars" / "broker").exists()
    assert java.runs == 1  # another attempt would get the same


def test_jars_that_an_earlier_version_downloaded_are_checked_and_kept(java: Java, tmp_path: Path) -> None:
    directory = ensure_jars(tmp_path / "jars")
    manifest = json.loads((directory / jars.MANIFEST).read_text())
    del manifest["checksums"]
    (directory / jars.MANIFEST).write_text(json.dumps(manifest))
    assert not is_complete(directory)
    assert is_complete(ensure_jars(directory))
    assert java.runs == 1


@pytest.mark.usefixtures("java")
def test_a_copied_directory_that_was_changed_is_replaced(tmp_path: Path) -> None:
    copied = shutil.copytree(ensure_jars(tmp_path / "jars"), tmp_path / "copied")
    (copied / jars.MANIFEST).unlink()
    (copied / "broker" / "b.jar").write_text("evil\n")
    ensure_jars(copied)
    assert (copied / "broker" / "b.jar").read_text() == "broker\n"


def test_every_jar_of_this_machine_is_pinned() -> None:
    directory = jars.jars_dir(Settings().jars_dir)
    if not directory.exists():
        pytest.skip("no jars were downloaded here")
    assert {name.partition("/")[0] for name in checksums.pinned()} == {*jars.CLASS_PATHS, jars.S3}
    for name in jars.CLASS_PATHS:
        assert checksums.unexpected(directory, name) == []


def test_an_ivy_run_without_jars_counts_as_failed(java: Java, tmp_path: Path) -> None:
    java.does("exit 0")
    with pytest.raises(DownloadFailed):
        ensure_jars(tmp_path / "jars")


def test_an_interrupted_download_is_retried(java: Java, tmp_path: Path) -> None:
    java.does(f'[ "$(wc -l < "{java.home}/runs")" = 1 ] && exit 1\n{FETCH}')
    assert is_complete(ensure_jars(tmp_path / "jars"))
    assert java.runs == 2


def test_an_old_java_is_rejected_with_the_remedy(java: Java, tmp_path: Path) -> None:
    java.does(FETCH, version="11.0.2")
    with pytest.raises(JavaMissing, match=r"Java 11.*Install"):
        ensure_jars(tmp_path / "jars")


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ('openjdk version "17.0.15" 2025', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025', 25),
        ("?", 0),
    ],
)
def test_the_release_is_parsed_from_the_output_of_java(text: str, release: int) -> None:
    assert parse_version(text) == release
