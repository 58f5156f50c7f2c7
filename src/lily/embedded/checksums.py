"""What each jar contains: `jars.sha256`, as `sha256sum` writes it, and `sha256sum -c` reads it."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from lily.model.errors import Terminal

CHECKSUMS = "jars.sha256"
SHOWN = 5


class UnexpectedJars(Terminal):
    """The jars are not those that this version of Lily was made with."""

    def __init__(self, problems: Sequence[str]) -> None:
        shown = "; ".join(problems[:SHOWN]) + (f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else "")
        super().__init__(
            f"The downloaded jars are not those that this version of Lily was made with, and are not used: {shown}. A "
            "proxy or mirror of Maven Central may have changed them: delete the directory `ivy` in Lily's cache "
            "(~/.cache/lily) and run `lily jars` through another network, or copy a complete directory from another "
            "machine and set LILY_JARS_DIR to it. If that does not help, report it as SECURITY.md describes."
        )


def pinned() -> dict[str, str]:
    """The SHA-256 of each jar, by class path and name."""
    lines = files("lily.embedded").joinpath(CHECKSUMS).read_text().splitlines()
    return {name: checksum for checksum, name in (line.split() for line in lines)}


def version() -> str:
    """Identifies what is pinned."""
    return hashlib.sha256(repr(sorted(pinned().items())).encode()).hexdigest()


def unexpected(directory: Path, class_path: str) -> list[str]:
    """What is wrong with the jars of a class path; empty if they are exactly the pinned ones."""
    expected = {name: checksum for name, checksum in pinned().items() if name.partition("/")[0] == class_path}
    present = {f"{class_path}/{jar.name}" for jar in (directory / class_path).glob("*.jar")}
    changed = (name for name in present & expected.keys() if checksum_of(directory / name) != expected[name])
    return [
        *(f"{name} is not one of them" for name in sorted(present - expected.keys())),
        *(f"{name} is missing" for name in sorted(expected.keys() - present)),
        *(f"{name} has another content" for name in sorted(changed)),
    ]


def checksum_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
