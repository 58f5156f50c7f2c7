"""Builds the distribution as a wheel, and installs it with pip into an empty virtual environment."""

import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Without the index's advice on newer versions of pip, which is of no use here.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@dataclass(frozen=True)
class Environment:
    directory: Path

    @property
    def python(self) -> Path:
        return self.directory / "bin" / "python"

    @property
    def packages(self) -> Path:
        return next(self.directory.glob("lib/python*/site-packages"))

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs with no other variables than these, so that nothing leads back to this one."""
        argv = [str(self.directory / "bin" / command[0]), *command[1:]]
        return subprocess.run(argv, env=dict(env or {}), capture_output=True, text=True, timeout=200, check=False)


def build_wheel(directory: Path) -> Path:
    # With the build back end that is installed here: a build environment of its own would be fetched first.
    subprocess.run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, ROOT], check=True)
    return next(directory.glob("*.whl"))


def install(requirement: str, directory: Path) -> Environment:
    """A new environment with this requirement in it; dependencies have the versions that are installed here."""
    venv.create(directory, symlinks=True)
    pins = directory / "pins.txt"
    here = (found for found in distributions() if found.name.partition("-")[0] != "lily")
    pins.write_text("".join(f"{found.name}=={found.version}\n" for found in here))
    environment = Environment(directory)
    subprocess.run([*PIP, "--python", environment.python, "install", "--constraint", pins, requirement], check=True)
    return environment
