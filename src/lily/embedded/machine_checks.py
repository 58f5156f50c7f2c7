"""Checks whether this machine can run the stack. Each check reports what it found and, if needed, a remedy."""

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.api.http.server.tls import BadCertificate, identity
from lily.embedded.accounts import can_enter, unprivileged_account
from lily.embedded.jars import class_paths, is_complete, jars_dir
from lily.embedded.java import JavaMissing, find_java, java_version
from lily.embedded.ports import is_free
from lily.embedded.postgres.cluster import FALLBACK_DIR, DatabaseUnusable, installation
from lily.embedded.private_files import exposed_files
from lily.embedded.state import load
from lily.settings import Settings

GIB = 1 << 30
DISK_REQUIRED, DISK_RECOMMENDED = GIB, 5 * GIB  # jars, an empty database and a log; room to grow
RENEW_DAYS = 14  # before a certificate expires
MEMORY_REQUIRED, MEMORY_RECOMMENDED = 2 * GIB, 4 * GIB  # the whole stack uses about 1.5 GiB


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. `good`: nothing to do. `ok`: Lily runs, but not well."""

    name: str
    found: str
    good: bool = True
    ok: bool = True
    remedy: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def check_machine(settings: Settings) -> list[Check]:
    data_dir = settings.data_dir
    return [
        _java(),
        Check("Python", sys.version.split()[0]),  # an older version could not have run this file
        _memory(psutil.virtual_memory().available),
        _disk(_nearest_directory(data_dir)),
        _jars(settings),
        _postgres(data_dir),
        _writable(data_dir),
        _private(data_dir),
        *_tls(settings),
        _port(settings),
    ]


def _java() -> Check:
    try:
        java = find_java()
    except JavaMissing as error:
        return Check("Java", "no suitable version", good=False, ok=False, remedy=str(error))
    return Check("Java", f"{java_version(java)} ({java})")


def _memory(available: int) -> Check:
    found = f"{available / GIB:.1f} GiB available"
    if available >= MEMORY_RECOMMENDED:
        return Check("Memory", found)
    remedy = (
        f"Free some memory: {MEMORY_RECOMMENDED // GIB} GiB are recommended, {MEMORY_REQUIRED // GIB} GiB are required."
    )
    return Check("Memory", found, good=False, ok=available >= MEMORY_REQUIRED, remedy=remedy)


def _disk(directory: Path) -> Check:
    free = shutil.disk_usage(directory).free
    found = f"{free / GIB:.1f} GiB free at {directory}"
    if free >= DISK_RECOMMENDED:
        return Check("Disk", found)
    remedy = (
        f"Free some space or choose another --data-dir: {DISK_RECOMMENDED // GIB} GiB are recommended, "
        f"{DISK_REQUIRED // GIB} GiB is required."
    )
    return Check("Disk", found, good=False, ok=free >= DISK_REQUIRED, remedy=remedy)


def _jars(settings: Settings) -> Check:
    directory = jars_dir(settings.jars_dir)
    if is_complete(directory, class_paths(settings.warehouse)):
        return Check("Jars", f"complete in {directory}")
    remedy = "Download them with `lily jars`; `lily up` does it too."
    return Check("Jars", f"not yet in {directory}", good=False, remedy=remedy)


def _postgres(data_dir: Path) -> Check:
    account = unprivileged_account()
    try:
        programs = installation()
    except DatabaseUnusable as error:
        return Check("PostgreSQL", "not installed", good=False, ok=False, remedy=str(error))
    if account is None:
        return Check("PostgreSQL", f"runs as your user, from {programs}")
    reachable = can_enter(account, programs / "bin" / "postgres") and can_enter(account, _nearest_directory(data_dir))
    where = "" if reachable else f", in {FALLBACK_DIR}, because {account.name} cannot enter {data_dir} or {programs}"
    return Check("PostgreSQL", f"runs as {account.name}, because you are root{where}")


def _writable(data_dir: Path) -> Check:
    directory = _nearest_directory(data_dir)
    if os.access(directory, os.W_OK | os.X_OK):
        return Check("Data directory", f"{data_dir} is writable")
    remedy = f"Choose another with --data-dir, or get write permission for {directory}."
    return Check("Data directory", f"{directory} is not writable", good=False, ok=False, remedy=remedy)


def _private(data_dir: Path) -> Check:
    exposed = exposed_files(data_dir)
    if not exposed:
        return Check("Files", "only their owner can read the data" if data_dir.is_dir() else "none yet")
    names = ", ".join(path.name for path in exposed)
    remedy = f"Take the permissions away: `chmod go= {' '.join(map(str, exposed))}`."
    return Check("Files", f"others on this machine can read in {data_dir}: {names}", good=False, remedy=remedy)


def _tls(settings: Settings) -> list[Check]:
    """None if the API serves without TLS."""
    try:
        served = identity(settings.tls)
    except BadCertificate as error:
        return [Check("TLS", "not usable", good=False, ok=False, remedy=str(error))]
    if served is None:
        return []
    days = (served.expires - datetime.now(UTC)).days
    found = f"the certificate expires in {days} days"
    if days < RENEW_DAYS:
        return [Check("TLS", found, good=False, remedy="Renew it, and restart the API.")]
    return [Check("TLS", found)]


def _port(settings: Settings) -> Check:
    name = f"Port {settings.port}"
    if is_free(settings.port, settings.host):
        return Check(name, "free")
    if load(settings.data_dir).supervised():
        return Check(name, f"used by the stack in {settings.data_dir}")
    remedy = f"Start with another port: `lily up --port {settings.port + 1 if settings.port < 65_535 else 8585}`."
    return Check(name, "used by another program", good=False, remedy=remedy)


def _nearest_directory(path: Path) -> Path:
    """Returns the path, or its nearest parent that exists."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())
