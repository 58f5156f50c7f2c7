"""Ends calls that take too long as a whole."""

import heapq
import itertools
import socket
import threading
import time
from typing import Protocol, Self


class Connected(Protocol):
    """Anything with a socket: a connection of HTTP or SMTP."""

    sock: socket.socket | None


class Deadline:
    """Ends a call after a time as a whole: the socket's own timeout begins anew with every byte that arrives."""

    def __init__(self, connection: Connected, seconds: float) -> None:
        self._connection: Connected | None = connection
        self._at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self.is_over = False

    def __enter__(self) -> Self:
        _WATCH.add(self._at, self)
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection = None

    def end(self) -> None:
        with self._lock:
            if self._connection is None:
                return  # the call has ended
            self.is_over = True
            if (current := self._connection.sock) is not None:
                try:
                    current.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # it is closed already


class _Watch:
    """One thread for all deadlines of the process: one for each would cost more than the call that it watches."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Deadline]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, at: float, deadline: Deadline) -> None:
        with self._changed:
            heapq.heappush(self._due, (at, next(self._numbers), deadline))
            if self._thread is None or not self._thread.is_alive():  # not yet, or lost by a fork
                self._thread = threading.Thread(target=self._run, name="outbound-deadlines", daemon=True)
                self._thread.start()
            if self._due[0][2] is deadline:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            self._next().end()

    def _next(self) -> Deadline:
        with self._changed:
            while not self._due or self._due[0][0] > time.monotonic():
                self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
            return heapq.heappop(self._due)[2]


_WATCH = _Watch()
