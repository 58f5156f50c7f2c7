"""Who may read what an embedded stack writes: its owner alone."""

import os
import stat
from pathlib import Path

from lily.settings import Settings
from lily.store.lake.catalog import warehouse

LOCAL = "local"  # the start of the master of a Spark that runs in the pipeline's own process
PRIVATE = 0o077  # the umask of files and directories that are their owner's alone


def protect_files(settings: Settings) -> int:
    """From now on this process and those that it starts create files for their owner alone. Returns the umask with
    which the pipeline has to be started.

    The pipeline keeps that of the user if it writes to a warehouse that others use: a configured one, or one whose
    files are written by executors elsewhere, which may run as another account.
    """
    users = os.umask(PRIVATE)
    if settings.warehouse or not settings.spark_master.startswith(LOCAL):
        return users
    _protect(Path(warehouse(settings)))
    return PRIVATE


def exposed_files(data_dir: Path) -> list[Path]:
    """What others on this machine can read or enter in a data directory. Nothing in a private directory counts."""
    if not (data_dir.is_dir() and os.access(data_dir, os.R_OK | os.X_OK)):
        return []
    return sorted(path for path in data_dir.iterdir() if not path.is_symlink() and _mode(path) & PRIVATE)


def _protect(directory: Path) -> None:
    """Also a directory of an earlier version, which protects the files that are in it already."""
    directory.mkdir(mode=0o700, exist_ok=True)
    directory.chmod(0o700)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
