"""Finds a Java that can run Kafka and Spark."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from lily.model.errors import Terminal

OLDEST = 17  # required by Spark 4 and Kafka 4
REMEDY = (
    "Install a JDK or JRE 17 or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; Fedora: dnf install "
    "java-17-openjdk-headless; macOS: brew install openjdk@17) or set JAVA_HOME to one."
)


class JavaMissing(Terminal):
    """No usable Java on this machine."""


def find_java() -> Path:
    """Returns the Java of JAVA_HOME, or the one on the PATH. Raises JavaMissing with the remedy."""
    java = _executable()
    version = java_version(java)
    if version < OLDEST:
        raise JavaMissing(f"{java} is Java {version or '(unknown version)'}; Lily needs {OLDEST} or newer. {REMEDY}")
    return java


def java_version(java: Path) -> int:
    """Returns the feature release: 17 for `17.0.15`, 8 for `1.8.0_402`, 0 if it is not printed."""
    done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)
    return parse_version(done.stderr + done.stdout)


def parse_version(text: str) -> int:
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else 0


def _executable() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path is None:
        raise JavaMissing(f"No Java was found on this machine. {REMEDY}")
    return Path(on_path)
