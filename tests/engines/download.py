"""Downloads the servers of ivy.xml with the Ivy that ships with PySpark, and unpacks them into the user's cache."""

import hashlib
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded.jars import _ivy_jar
from lily.embedded.java import find_java
from lily.embedded.lock import hold

IVY = Path(__file__).with_name("ivy.xml")
SECONDS = 900


def unpacked(name: str) -> Path:
    """The directory of a server. An interrupted download is begun again; concurrent calls wait for each other."""
    directory = user_cache_path("lily") / "engines" / hashlib.sha256(IVY.read_bytes()).hexdigest()[:16]
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
        cache = user_cache_path("lily") / "ivy"
        command = [
            str(find_java()), "-Xmx512m", f"-Divy.default.ivy.user.dir={cache}", "-jar", str(_ivy_jar()),
            "-ivy", str(IVY), "-cache", str(cache), "-confs", name, "-types", "zip",
            "-retrieve", f"{partial}/[artifact].[ext]",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        archives = list(partial.glob("*.zip"))
        assert len(archives) == 1, (done.stdout + done.stderr)[-2000:]
        with zipfile.ZipFile(archives[0]) as zipped:
            zipped.extractall(partial / "unpacked")
        (home,) = (partial / "unpacked").iterdir()
        home.rename(directory / name)  # last: what is there is complete
    finally:
        shutil.rmtree(partial, ignore_errors=True)
