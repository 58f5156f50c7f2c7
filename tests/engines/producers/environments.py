"""Python environments of producers, which share no packages with Lily. Each is made once, in the user's cache."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from platformdirs import user_cache_path

from lily.embedded.lock import hold

DBT = ("dbt-core~=1.10.0", "dbt-duckdb~=1.10", "openlineage-dbt==1.54.0")
CLIENT = ("openlineage-python==1.54.0",)
INSTALL_SECONDS = 900
RUN_SECONDS = 300


def environment(requirements: Sequence[str]) -> Path:
    """The directory of its commands. One that was interrupted is made again; concurrent calls wait for each other."""
    pins = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:16]
    directory = user_cache_path("lily") / "engines" / pins
    directory.mkdir(parents=True, exist_ok=True)
    with hold(directory / "lock"):
        if not (directory / "complete").exists():
            shutil.rmtree(directory / "venv", ignore_errors=True)
            _run([sys.executable, "-m", "venv", str(directory / "venv")], INSTALL_SECONDS)
            python = directory / "venv" / "bin" / "python"
            _run([str(python), "-m", "pip", "install", "--quiet", *requirements], INSTALL_SECONDS)
            (directory / "complete").touch()
    return directory / "venv" / "bin"


def produce(command: Sequence[str | Path], place: Path, variables: Mapping[str, str]) -> str:
    """Runs a producer in a directory. Returns what it wrote; raises AssertionError with that if it fails."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "JAVA_HOME") if name in os.environ}
    return _run([str(word) for word in command], RUN_SECONDS, place, kept | dict(variables))


def _run(
    command: Sequence[str], seconds: float, place: Path | None = None, variables: Mapping[str, str] | None = None
) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, cwd=place, env=variables
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr
