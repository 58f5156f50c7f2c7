"""The machine that the numbers belong to: what it can do, not whose it is."""

import os
import platform
import re
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.java import find_java, java_version


def describe() -> dict[str, str]:
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / (1 << 30):.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "java": str(java_version(find_java())),
    }


def busy() -> float:
    """Cores in use by others just now: a run on a busy machine should say so."""
    return round(float(psutil.cpu_percent(interval=2)) / 100 * (os.cpu_count() or 1), 2)


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.machine()
