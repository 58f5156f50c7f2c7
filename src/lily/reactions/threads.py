"""Threads that run together: when one fails, all are asked to stop, and the failure is raised."""

import ctypes
import sys
import threading
from collections.abc import Callable

import structlog

PR_SET_NAME = 15
_log = structlog.get_logger()


class ThreadGroup:
    """Every thread ends by itself once `stop` is set. One that ends before that sets it."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._threads: list[threading.Thread] = []
        self._failure: BaseException | None = None

    def start(self, name: str, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._run, args=[name, run], name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Waits for the threads, at most so long for each. Raises what ended one of them."""
        for thread in self._threads:
            thread.join(seconds)
        if self._failure is not None:
            raise self._failure

    def _run(self, name: str, run: Callable[[], None]) -> None:
        _show_name(name)
        try:
            run()
        except BaseException as error:
            _log.exception("thread failed", thread=name)
            self._failure = error
            raise
        finally:
            self._stop.set()


def _show_name(name: str) -> None:
    """Python 3.11 keeps the names of threads to itself; `top -H` and `ps -L` show this one, up to 15 characters."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode())
