"""The event loop on which channels run: one thread that the worker keeps."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

Result = TypeVar("Result")


class EventLoop:
    """Started with its first call. Channels keep connections, which belong to the loop that opened them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs it on the loop and waits for it. Raises what it raises. It must bound its own waits."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._started()).result()

    def close(self) -> None:
        """Ends the thread, and what is still delayed. Nothing may be run afterwards."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = uvloop.new_event_loop()
                # A daemon: jobs in hand are finished before the worker ends, and nothing else runs here.
                self._thread = threading.Thread(target=self._loop.run_forever, name="channels", daemon=True)
                self._thread.start()
            return self._loop
