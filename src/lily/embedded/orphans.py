"""Ends what an earlier supervisor left running.

Parts die with their supervisor, but a part that hangs, or one whose children outlive it, may stay. Only processes that
are provably of this data directory are touched: by the mark in their environment, or, since PostgreSQL overwrites the
environment of its children, by working in the database's directory.
"""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.process import MARK

GRACE = 10.0


def find_orphans(data_dir: Path) -> list[psutil.Process]:
    """Every living process of that data directory's parts. Call it only while holding the directory's lock."""
    pgdata = (data_dir / "postgres").resolve()
    return [process for process in psutil.process_iter() if _is_marked(process, data_dir) or works_in(process, pgdata)]


def end_orphans(data_dir: Path, grace: float = GRACE) -> int:
    """Asks them to stop, then kills them; returns how many there were."""
    found = find_orphans(data_dir)
    pgdata = (data_dir / "postgres").resolve()
    for process in found:
        # PostgreSQL would wait for its clients on SIGTERM; SIGINT is its fast shutdown.
        _send(process, signal.SIGINT if works_in(process, pgdata) else signal.SIGTERM)
    _, alive = psutil.wait_procs(found, timeout=grace)
    for process in alive:
        _send(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=grace)
    return len(found)


def processes_in(directory: Path) -> Iterator[psutil.Process]:
    """The living processes that work in a directory, as all of PostgreSQL's do in theirs."""
    return (process for process in psutil.process_iter() if works_in(process, directory))


def works_in(process: psutil.Process, directory: Path) -> bool:
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
