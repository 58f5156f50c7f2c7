"""What this machine needs to run the stack. Each check says what it found and, where that will not do, the remedy."""

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.jars import class_paths, is_complete, jars_dir
from lily.embedded.java import JavaMissing, find_java, java_version
from lily.embedded.pgdata import SHELTER, DatabaseUnusable, installation
from lily.embedded.ports import is_free
from lily.embedded.privilege import may_enter, unprivileged
from lily.embedded.state import load
from lily.settings import Settings

DISK_NEEDED, DISK_WANTED = 1 << 30, 5 << 30  # the jars, an empty database and a log; room to grow
MEMORY_NEEDED, MEMORY_WANTED = 2 << 30, 4 << 30  # the whole stack takes about 1.5 GiB


@dataclass(frozen=True, slots=True)
class Finding:
    """`good`: nothing to do. `ok`: Lily runs, if not well."""

    name: str
    found: str
    good: bool = True
    ok: bool = True
    remedy: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def examine(settings: Settings) -> list[Finding]:
    data_dir = settings.data_dir
    return [
        _java(),
        _python(),
        _memory(psutil.virtual_memory().available),
        *_disk(_existing(data_dir)),
        _jars(settings),
        _postgres(data_dir),
        _writable(data_dir),
        _port(settings),
    ]


def _java() -> Finding:
    try:
        java = find_java()
    except JavaMissing as error:
        return Finding("Java", "none that will do", good=False, ok=False, remedy=str(error))
    return Finding("Java", f"{java_version(java)} ({java})")


def _python() -> Finding:
    version = sys.version.split()[0]
    return Finding("Python", version)  # an older one could not have read this line


def _memory(available: int) -> Finding:
    found = f"{available / (1 << 30):.1f} GiB available"
    if available >= MEMORY_WANTED:
        return Finding("Memory", found)
    remedy = (
        f"Free some: the stack wants {MEMORY_WANTED >> 30} GiB and does not start well below {MEMORY_NEEDED >> 30}."
    )
    return Finding("Memory", found, good=False, ok=available >= MEMORY_NEEDED, remedy=remedy)


def _disk(place: Path) -> Iterable[Finding]:
    free = shutil.disk_usage(place).free
    found = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free >= DISK_WANTED:
        return [Finding("Disk", found)]
    remedy = f"Free some, or choose another --data-dir: {DISK_WANTED >> 30} GiB are a good start."
    return [Finding("Disk", found, good=False, ok=free >= DISK_NEEDED, remedy=remedy)]


def _jars(settings: Settings) -> Finding:
    directory = jars_dir(settings.jars_dir)
    if is_complete(directory, class_paths(settings.warehouse)):
        return Finding("Jars", f"complete in {directory}")
    return Finding("Jars", f"not yet in {directory}", good=False, remedy="Run `lily jars`; `lily up` would do it too.")


def _postgres(data_dir: Path) -> Finding:
    account = unprivileged()
    try:
        programs = installation()
    except DatabaseUnusable as error:
        return Finding("PostgreSQL", "not installed", good=False, ok=False, remedy=str(error))
    if account is None:
        return Finding("PostgreSQL", f"runs as you, from {programs}")
    reachable = may_enter(account, programs / "bin" / "postgres") and may_enter(account, _existing(data_dir))
    where = "" if reachable else f", and from {SHELTER}, since it cannot enter {data_dir} or the programs"
    return Finding("PostgreSQL", f"runs as {account.name}, because you are root{where}")


def _writable(data_dir: Path) -> Finding:
    place = _existing(data_dir)
    if os.access(place, os.W_OK | os.X_OK):
        return Finding("Data directory", f"{data_dir} can be written")
    remedy = "Choose another with --data-dir, or become its owner."
    return Finding("Data directory", f"{place} cannot be written", good=False, ok=False, remedy=remedy)


def _port(settings: Settings) -> Finding:
    name = f"Port {settings.port}"
    if is_free(settings.port, settings.host):
        return Finding(name, "free")
    if load(settings.data_dir).supervised():
        return Finding(name, f"in use by the stack in {settings.data_dir}")
    return Finding(name, "taken by another program", good=False, remedy="Start with another: `lily up --port 8586`.")


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there already."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())
