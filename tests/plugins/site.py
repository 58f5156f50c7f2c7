"""A directory that pip installs plug-ins into, and Lily's command with that directory on its path."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "lily-sqlite"


class Site:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = f"{directory}:{os.environ.get('PYTHONPATH', '')}".rstrip(":")

    def install(self, package: Path) -> None:
        # With the build back end that is installed here: pip would fetch another one first.
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(self.directory), str(package)]
        subprocess.run(command, check=True, timeout=120)

    def run(self, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": self.path, **variables}
        return subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, timeout=120, check=False, env=environment
        )

    def plugins(self) -> list[dict[str, str]]:
        """What `lily plugins` says about foreign ones."""
        done = self.run("lily", "plugins", "--format", "json")
        assert done.returncode == 0, done.stderr
        listed: list[dict[str, Any]] = json.loads(done.stdout)["plugins"]
        return [plugin for plugin in listed if plugin["origin"] != "lily-metadata"]


def variant(directory: Path, name: str, changes: Mapping[str, str]) -> Path:
    """A copy of the example under another distribution's name, with some of its text replaced."""
    package = directory / name
    shutil.copytree(EXAMPLE, package, ignore=shutil.ignore_patterns("__pycache__", "test_*"))
    module = name.replace("-", "_")
    (package / "lily_sqlite.py").rename(package / f"{module}.py")
    renamed = {"lily-sqlite": name, "lily_sqlite": module}
    for file in (package / "pyproject.toml", package / f"{module}.py"):
        text = file.read_text()
        for old, new in {**renamed, **changes}.items():
            text = re.sub(re.escape(old), new.replace("\\", r"\\"), text)
        file.write_text(text)
    return package
