"""Downloads servers with the Ivy that ships with PySpark, one file of `ivy/` each, and unpacks them into the user's
cache."""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded.jars import _ivy_jar
from lily.embedded.java import find_java
from lily.embedded.lock import hold

IVY = Path(__file__).with_name("ivy")
KINDS = ("zip", "tar.gz")
SECONDS = 1_800


def unpacked(name: str) -> Path:
    """The directory of a server. An interrupted download is begun again; concurrent calls wait for each other."""
    pins = hashlib.sha256((IVY / f"{name}.xml").read_bytes()).hexdigest()[:16]
    directory = user_cache_path("lily") / "engines" / pins
    directory.mkdir(parents=True, exist_ok=True)
    with hold(directory / "lock"):
        if not (directory / name).exists():
            _fetch(directory, name)
    return directory / name


def _fetch(directory: Path, name: str) -> None:
    for leftover in directory.glob("partial-*"):  # we hold the lock, so no process is writing there
        shutil.rmtree(leftover)
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=directory))
    try:
        cache = partial / "ivy"  # removed with the archive: what is kept is the unpacked server
        command = [
            str(find_java()), "-Xmx512m", f"-Divy.default.ivy.user.dir={cache}", "-jar", str(_ivy_jar()),
            "-ivy", str(IVY / f"{name}.xml"), "-cache", str(cache), "-confs", name, "-types", *KINDS,
            "-retrieve", f"{partial}/[artifact].[ext]",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        archives = [archive for kind in KINDS for archive in partial.glob(f"*.{kind}")]
        assert len(archives) == 1, (done.stdout + done.stderr)[-2000:]
        _unpack(archives[0], partial / "unpacked")
        (home,) = (partial / "unpacked").iterdir()
        home.rename(directory / name)  # last: what is there is complete
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _unpack(archive: Path, target: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(target)  # noqa: S202 - of a server that is run anyway
    else:
        with tarfile.open(archive) as tarred:
            tarred.extractall(target, filter="data")
