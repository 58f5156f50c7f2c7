"""Waiting for the engines of an embedded stack, before anything connects to them. See `lily.embedded.gate`."""

import os
import threading
from pathlib import Path

VARIABLE = "STACK_GATE"  # the file that exists when the engines are prepared; without it there is nothing to wait for
PAUSE = 0.02


def wait_for_engines(stop: threading.Event | None = None) -> None:
    """Returns when the gate is open, or when `stop` is set."""
    gate, stop = os.environ.get(VARIABLE), stop or threading.Event()
    while gate and not Path(gate).exists() and not stop.wait(PAUSE):
        pass
