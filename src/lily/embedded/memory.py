"""How much memory a part uses, including the processes it started."""

import re
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.state import PartState, StackState


def part_rows(state: StackState) -> list[dict[str, object]]:
    """Returns the parts as `lily status` shows them. A part whose process has just died is not reported as healthy."""
    return [_row(part) for part in state.parts]


def tree_bytes(process: psutil.Process) -> int:
    """Returns the sum over the process and its descendants."""
    try:
        return sum(_bytes_of(member) for member in [process, *process.children(recursive=True)])
    except psutil.NoSuchProcess:
        return 0


def _row(part: PartState) -> dict[str, object]:
    process = part.running.process()
    died = process is None and part.state in ("healthy", "unhealthy")
    return {
        "name": part.name,
        "pid": process.pid if process else None,
        "state": "restarting" if died else part.state,
        "rss_bytes": tree_bytes(process) if process else 0,
    }


def _bytes_of(process: psutil.Process) -> int:
    """The proportional set size: PostgreSQL's processes share their buffers, which must count only once."""
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process.pid}/smaps_rollup").read_text(), re.MULTILINE)
        return int(found.group(1)) * 1024 if found else int(process.memory_info().rss)
    except OSError:
        return _resident(process)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it ended meanwhile
        return 0
