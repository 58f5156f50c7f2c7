"""What a test runs beside itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 60


@contextmanager
def in_thread(run: Callable[[], object], stop: Callable[[], object]) -> Iterator[None]:
    """Runs until the context ends and `stop` was called. Fails if it goes on all the same."""
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
