"""The jars of Kafka and Spark, downloaded once by the Ivy that ships with PySpark, and kept in the user's cache.

`ivy.xml` pins the versions, `jars.sha256` what each jar contains: Ivy also fetches what the pinned modules depend on,
and believes the server. A directory of jars is only valid with its manifest, which is written last: the next call
repairs an interrupted download, and a complete one needs neither network nor Java.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded import checksums
from lily.embedded.java import find_java
from lily.embedded.lock import hold
from lily.model.errors import Transient
from lily.store.lake.catalog import is_s3

CLASS_PATHS = ("spark", "broker")
S3 = "s3"  # 69 MB, needed only for a warehouse in an object store
MANIFEST = "manifest.json"
ATTEMPTS = 3  # Ivy keeps finished downloads, so another attempt only downloads the rest

Progress = Callable[[str], None]


class DownloadFailed(Transient):
    """Ivy could not download every jar."""


def jars_dir(override: Path | None = None) -> Path:
    """Returns the directory with one folder per class path. Its name is a hash of the pins, so versions never mix."""
    return override.absolute() if override else user_cache_path("lily") / "jars" / _pins()[:16]


def class_paths(warehouse: str) -> tuple[str, ...]:
    """Returns the class paths that a stack with this warehouse needs."""
    return (*CLASS_PATHS, S3) if is_s3(warehouse) else CLASS_PATHS


def is_complete(directory: Path, wanted: Collection[str] = CLASS_PATHS) -> bool:
    """Whether every jar of the manifest is present with its full size."""
    return not _missing(directory, wanted)


def ensure_jars(
    override: Path | None = None, progress: Progress = lambda _: None, wanted: Collection[str] = CLASS_PATHS
) -> Path:
    """Returns the complete directory of jars and downloads what is missing. Concurrent calls wait for each other."""
    directory = jars_dir(override)
    if is_complete(directory, wanted):
        return directory
    directory.mkdir(parents=True, exist_ok=True)
    with hold(directory / "lock", on_wait=lambda: progress("another process is downloading the jars")):
        # Complete class paths stay untouched: a running stack may be using them.
        for name in _missing(directory, wanted):  # those of an earlier version of Lily, or a copy, need no download
            if not checksums.unexpected(directory, name):
                _record(directory, [name])
        if missing := _missing(directory, wanted):
            _fetch_into(directory, missing, progress)
    return directory


def _pins() -> str:
    return hashlib.sha256(files("lily.embedded").joinpath("ivy.xml").read_bytes()).hexdigest()


def _missing(directory: Path, wanted: Collection[str]) -> list[str]:
    listed = _listed(directory)
    return [name for name in wanted if not _is_intact(directory, name, listed)]


def _is_intact(directory: Path, class_path: str, listed: Mapping[str, int]) -> bool:
    jars = {jar: size for jar, size in listed.items() if jar.partition("/")[0] == class_path}
    try:
        return bool(jars) and all((directory / jar).stat().st_size == size for jar, size in jars.items())
    except OSError:
        return False


def _listed(directory: Path) -> dict[str, int]:
    """Returns the jars and their sizes from the manifest, if it is for the pinned versions and contents."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text())
        is_pinned = (manifest["pins"], manifest["checksums"]) == (_pins(), checksums.version())
        return dict(manifest["jars"]) if is_pinned else {}
    except (OSError, ValueError, KeyError):
        return {}


def _fetch_into(directory: Path, missing: Collection[str], progress: Progress) -> None:
    for leftover in directory.glob("partial-*"):  # we hold the lock, so no process is writing there
        shutil.rmtree(leftover)
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=directory))
    try:
        _retrieve(partial, missing, progress)
        progress("checking what was downloaded")
        if problems := [problem for name in missing for problem in checksums.unexpected(partial, name)]:
            raise checksums.UnexpectedJars(problems)
        for name in missing:
            shutil.rmtree(directory / name, ignore_errors=True)
            (partial / name).rename(directory / name)
        _record(directory, missing)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _record(directory: Path, class_paths: Collection[str]) -> None:
    """Adds class paths whose jars are the pinned ones to the manifest."""
    listed = {jar: size for jar, size in _listed(directory).items() if jar.partition("/")[0] not in class_paths}
    for name in class_paths:
        listed |= {f"{name}/{jar.name}": jar.stat().st_size for jar in (directory / name).glob("*.jar")}
    draft = directory / f"{MANIFEST}.new"
    manifest = {"pins": _pins(), "checksums": checksums.version(), "jars": listed}
    draft.write_text(json.dumps(manifest, indent=1, sort_keys=True))
    draft.replace(directory / MANIFEST)


def _retrieve(target: Path, wanted: Collection[str], progress: Progress) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        complete, lines = _run_ivy(target, wanted, progress)
        if complete:
            return
        if attempt < ATTEMPTS:
            progress("the download was interrupted, trying again")
            time.sleep(2 * attempt)
    output = "\n".join(lines[-12:])
    raise DownloadFailed(
        f"The jars of Kafka and Spark could not be downloaded. The end of Ivy's output:\n{output}\n"
        "Check that this machine can reach the internet (behind a proxy: export "
        "JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT') and run `lily jars` again; "
        "or copy a complete directory from another machine and set LILY_JARS_DIR to it."
    )


def _run_ivy(target: Path, wanted: Collection[str], progress: Progress) -> tuple[bool, list[str]]:
    """Runs Ivy once. Returns whether every class path has its jars, and Ivy's output."""
    lines: list[str] = []
    found = fetched = 0
    with subprocess.Popen(
        _ivy_command(target, wanted),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as ivy:
        for line in ivy.stdout or ():
            lines.append(line.rstrip())
            found += line.startswith("\tfound ")
            fetched += "[SUCCESSFUL ]" in line
            progress(f"{found} modules found, {fetched} jars downloaded")
    complete = ivy.returncode == 0 and all(any((target / name).glob("*.jar")) for name in wanted)
    return complete, lines


def _ivy_command(target: Path, wanted: Collection[str]) -> list[str]:
    cache = user_cache_path("lily") / "ivy"
    return [
        str(find_java()), "-Xmx512m", f"-Divy.default.ivy.user.dir={cache}", "-jar", str(_ivy_jar()),
        "-ivy", str(files("lily.embedded").joinpath("ivy.xml")),
        "-cache", str(cache),
        "-confs", *wanted,
        "-retrieve", f"{target}/[conf]/[artifact]-[revision](-[classifier]).[ext]",
        "-types", "jar", "bundle",  # OSGi bundles are jars too: scala-logging and snappy come as such
    ]  # fmt: skip


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")  # found, not imported: importing PySpark costs a second
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar")):
            return jar
    raise DownloadFailed("PySpark, whose Ivy downloads the jars, is not installed. Run `make setup` and try again.")
