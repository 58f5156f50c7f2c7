"""Ends processes that an earlier supervisor left running.

Parts die with their supervisor, but a part that hangs, or whose children outlive it, may remain. Only processes that
certainly belong to this data directory are ended: by the mark in their environment or, because PostgreSQL overwrites
the environment of its children, by their working directory in the database cluster.
"""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.process import MARK

GRACE = 10.0


def find_orphans(data_dir: Path) -> list[psutil.Process]:
    """Returns the running processes of the data directory. Call it only while holding the directory's lock."""
    cluster = (data_dir / "postgres").resolve()
    return [
        process for process in psutil.process_iter() if _is_marked(process, data_dir) or _works_in(process, cluster)
    ]


def end_orphans(data_dir: Path, grace: float = GRACE) -> int:
    """Stops them, kills those that remain, and returns how many there were."""
    found = find_orphans(data_dir)
    cluster = (data_dir / "postgres").resolve()
    for process in found:
        # On SIGTERM PostgreSQL would wait for its clients; SIGINT is its fast shutdown.
        _send(process, signal.SIGINT if _works_in(process, cluster) else signal.SIGTERM)
    _, alive = psutil.wait_procs(found, timeout=grace)
    for process in alive:
        _send(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=grace)
    return len(found)


def processes_in(directory: Path) -> Iterator[psutil.Process]:
    """Yields the PostgreSQL processes whose working directory is this database cluster."""
    return (process for process in psutil.process_iter() if _works_in(process, directory))


def _works_in(process: psutil.Process, directory: Path) -> bool:
    try:
        return bool(process.cwd() == str(directory) and process.name() == "postgres")
    except psutil.Error:
        return False


def _is_marked(process: psutil.Process, data_dir: Path) -> bool:
    try:
        return bool(process.environ().get(MARK) == str(data_dir))
    except (psutil.Error, OSError):
        return False


def _send(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.Error):
        process.send_signal(number)
