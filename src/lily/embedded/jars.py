"""The jars of Kafka and Spark, fetched once through the Ivy inside PySpark and kept in the user's cache.

A directory of jars counts only with its manifest, which is written last: a download that was cut short is repaired by
the next call, and a complete one costs neither network nor Java.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded.java import find_java
from lily.embedded.lock import hold
from lily.model.errors import Transient

CLASS_PATHS = ("spark", "broker")
MANIFEST = "manifest.json"
ATTEMPTS = 3  # Ivy keeps what it has fetched, so a second attempt only asks for the rest

Progress = Callable[[str], None]


class DownloadFailed(Transient):
    """Ivy could not fetch every jar."""


def jars_dir(override: Path | None = None) -> Path:
    """The directory that holds `spark/` and `broker/`; named after what is pinned, so versions never mix."""
    return override.absolute() if override else user_cache_path("lily") / "jars" / _pins()[:16]


def is_complete(directory: Path) -> bool:
    """Whether every jar that the pinned list resolved to is there in full length."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text())
        return manifest["pins"] == _pins() and all(
            (directory / name).stat().st_size == size for name, size in manifest["jars"].items()
        )
    except (OSError, ValueError, KeyError):
        return False


def ensure_jars(override: Path | None = None, progress: Progress = lambda _: None) -> Path:
    """The complete directory of jars, fetching them if need be. Processes that come at once wait for one another."""
    directory = jars_dir(override)
    if is_complete(directory):
        return directory
    directory.mkdir(parents=True, exist_ok=True)
    with hold(directory / "lock", on_wait=lambda: progress("another process is fetching the jars")):
        if not is_complete(directory):
            _fetch_into(directory, progress)
    return directory


def _pins() -> str:
    return hashlib.sha256(files("lily.embedded").joinpath("ivy.xml").read_bytes()).hexdigest()


def _fetch_into(directory: Path, progress: Progress) -> None:
    for leftover in directory.glob("partial-*"):  # we hold the lock: nobody is writing there any more
        shutil.rmtree(leftover)
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=directory))
    try:
        _retrieve(partial, progress)
        for name in CLASS_PATHS:
            shutil.rmtree(directory / name, ignore_errors=True)
            (partial / name).rename(directory / name)
        _write_manifest(directory)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_manifest(directory: Path) -> None:
    jars = {str(jar.relative_to(directory)): jar.stat().st_size for jar in _jars(directory)}
    draft = directory / f"{MANIFEST}.new"
    draft.write_text(json.dumps({"pins": _pins(), "jars": jars}, indent=1, sort_keys=True))
    draft.replace(directory / MANIFEST)


def _jars(directory: Path) -> Iterator[Path]:
    return (jar for name in CLASS_PATHS for jar in sorted((directory / name).glob("*.jar")))


def _retrieve(target: Path, progress: Progress) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        complete, lines = _run_ivy(target, progress)
        if complete:
            return
        if attempt < ATTEMPTS:
            progress("the download was interrupted, trying again")
            time.sleep(2 * attempt)
    told = "\n".join(lines[-12:])
    raise DownloadFailed(
        f"The jars of Kafka and Spark could not be downloaded; Ivy's last words:\n{told}\n"
        "Check that this machine reaches the internet (behind a proxy: export "
        "JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT') and run `lily jars` again; "
        "or copy a complete directory from another machine and name it in LILY_JARS_DIR."
    )


def _run_ivy(target: Path, progress: Progress) -> tuple[bool, list[str]]:
    """Runs Ivy once: whether every class path has its jars, and what it said."""
    lines: list[str] = []
    found = fetched = 0
    with subprocess.Popen(
        _ivy_command(target), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as ivy:
        for line in ivy.stdout or ():
            lines.append(line.rstrip())
            found += line.startswith("\tfound ")
            fetched += "[SUCCESSFUL ]" in line
            progress(f"{found} modules found, {fetched} jars downloaded")
    complete = ivy.returncode == 0 and all(any((target / name).glob("*.jar")) for name in CLASS_PATHS)
    return complete, lines


def _ivy_command(target: Path) -> list[str]:
    cache = user_cache_path("lily") / "ivy"
    return [
        str(find_java()), "-Xmx512m", f"-Divy.default.ivy.user.dir={cache}", "-jar", str(_ivy_jar()),
        "-ivy", str(files("lily.embedded").joinpath("ivy.xml")),
        "-cache", str(cache),
        "-retrieve", f"{target}/[conf]/[artifact]-[revision](-[classifier]).[ext]",
        "-types", "jar", "bundle",  # OSGi bundles are jars too: scala-logging and snappy come as such
    ]  # fmt: skip


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")  # found, not imported: importing PySpark costs a second
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar")):
            return jar
    raise DownloadFailed("PySpark, whose Ivy fetches the jars, is not installed here. Run `make setup` and try again.")
