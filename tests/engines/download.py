"""Downloads servers and jars with the Ivy that ships with PySpark, one file of `ivy/` each, into the user's cache.
Servers are unpacked there. What is downloaded has to be what `ivy/downloads.sha256` states."""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded.checksums import checksum_of
from lily.embedded.jars import _ivy_jar
from lily.embedded.java import find_java
from lily.embedded.lock import hold

IVY = Path(__file__).with_name("ivy")
KINDS = ("zip", "tar.gz")
JAR = ("jar",)
SECONDS = 1_800


def unpacked(name: str) -> Path:
    """The directory of a server. An interrupted download is begun again; concurrent calls wait for each other."""
    return _cached(name, name, partial(_fetch, name))


def jar(name: str) -> Path:
    """A jar. Downloaded as `unpacked` does it."""
    return _cached(name, f"{name}.jar", partial(_download, name, JAR))


def _cached(name: str, file: str, fetch: Callable[[Path], Path]) -> Path:
    """`fetch` gets a directory to work in, which is removed, and returns what to keep."""
    pins = hashlib.sha256((IVY / f"{name}.xml").read_bytes()).hexdigest()[:16]
    directory = user_cache_path("lily") / "engines" / pins
    directory.mkdir(parents=True, exist_ok=True)
    with hold(directory / "lock"):
        if not (directory / file).exists():
            for leftover in directory.glob("partial-*"):  # we hold the lock, so no process is writing there
                shutil.rmtree(leftover)
            place = Path(tempfile.mkdtemp(prefix="partial-", dir=directory))
            try:
                fetch(place).rename(directory / file)  # last: what is there is complete
            finally:
                shutil.rmtree(place, ignore_errors=True)
    return directory / file


def _fetch(name: str, place: Path) -> Path:
    _unpack(_download(name, KINDS, place), place / "unpacked")
    (home,) = (place / "unpacked").iterdir()
    return home


def _download(name: str, kinds: tuple[str, ...], place: Path) -> Path:
    cache = place / "ivy"  # removed with the archive: what is kept is the server or the jar
    command = [
        str(find_java()), "-Xmx512m", f"-Divy.default.ivy.user.dir={cache}", "-jar", str(_ivy_jar()),
        "-ivy", str(IVY / f"{name}.xml"), "-cache", str(cache), "-confs", name, "-types", *kinds,
        "-retrieve", f"{place}/[artifact].[ext]",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    found = [file for kind in kinds for file in place.glob(f"*.{kind}")]
    assert len(found) == 1, (done.stdout + done.stderr)[-2000:]
    downloaded = checksum_of(found[0])
    assert downloaded == _pinned()[name], f"{name} has another content than ivy/downloads.sha256 states: {downloaded}"
    return found[0]


def _pinned() -> dict[str, str]:
    lines = (IVY / "downloads.sha256").read_text().splitlines()
    return {name: checksum for checksum, name in (line.split() for line in lines)}


def _unpack(archive: Path, target: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(target)  # noqa: S202 - of a server that is run anyway
    else:
        with tarfile.open(archive) as tarred:
            tarred.extractall(target, filter="data")
