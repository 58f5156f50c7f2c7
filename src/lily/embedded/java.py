"""Finds a Java that Kafka and Spark can run on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from lily.model.errors import Terminal

OLDEST = 17  # Spark 4 and Kafka 4 both ask for it
REMEDY = (
    "Install a JDK or JRE 17 or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; Fedora: dnf install "
    "java-17-openjdk-headless; macOS: brew install openjdk@17) or point JAVA_HOME at one."
)


class JavaMissing(Terminal):
    """No usable Java on this machine."""


def find_java() -> Path:
    """The Java that JAVA_HOME names, else the one on the path; raises JavaMissing with the remedy."""
    java = _executable()
    version = java_version(java)
    if version < OLDEST:
        raise JavaMissing(
            f"{java} is Java {version or 'of an unknown version'}, Lily needs {OLDEST} or newer. {REMEDY}"
        )
    return java


def java_version(java: Path) -> int:
    """The feature release: 17 of `17.0.15`, 8 of `1.8.0_402`; 0 if it does not say."""
    answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)
    return parse_version(answer.stderr + answer.stdout)


def parse_version(text: str) -> int:
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else 0


def _executable() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path is None:
        raise JavaMissing(f"There is no Java on this machine. {REMEDY}")
    return Path(on_path)
