"""A stack for the time of the demo: started, and whatever happens, stopped and cleared away."""

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psycopg
from confluent_kafka import KafkaException

from lily.app import lag
from lily.cli.detach import start_detached
from lily.cli.progress import Progress
from lily.embedded.bootstrap import admin_token
from lily.embedded.ports import choose_ports
from lily.embedded.shutdown import stop_stack
from lily.embedded.state import load
from lily.settings import Settings

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Stage:
    url: str
    token: str
    data_dir: Path
    start_seconds: float


@contextmanager
def data_dir(given: Path | None, *, keep: bool) -> Iterator[Path]:
    """The directory given, else one of the demo's own that is gone afterwards."""
    if given is not None:
        yield given
        return
    own = Path(tempfile.mkdtemp(prefix="lily-demo-"))
    own.chmod(0o755)  # PostgreSQL may run as another user; secrets in it are 0600
    try:
        yield own
    except BaseException:
        shutil.rmtree(own, ignore_errors=True)
        raise
    if not keep:
        shutil.rmtree(own, ignore_errors=True)


@contextmanager
def stack(settings: Settings, *, keep: bool, to_stderr: bool) -> Iterator[Stage]:
    """Runs meanwhile. Kept afterwards only if asked for and nothing failed; stopped also on Ctrl-C and SIGTERM."""
    with _interruptible():
        began = time.perf_counter()
        state, kept = None, False  # a stack that ran before us, and so kept us from starting, is not ours to stop
        try:
            with Progress(to_stderr=to_stderr) as progress:
                state = start_detached(settings, "", progress.show)
            token = admin_token(settings.data_dir)
            yield Stage(state.url, token, settings.data_dir, time.perf_counter() - began)
            kept = keep
        finally:
            if state is not None and not kept:
                _stop(settings.data_dir)


def settings_for(settings: Settings, port: int | None) -> Settings:
    """On a free port unless one was asked for, so that the demo runs beside whatever else does."""
    if port is not None:
        return settings
    return settings.model_copy(update={"port": choose_ports(["api"], {})["api"]})


def lag_of(data_dir: Path) -> dict[str, int] | None:
    """By topic, how many events cannot be read yet; None while an engine does not answer."""
    state = load(data_dir)
    try:
        return lag(Settings(kafka_bootstrap=state.kafka, database_url=state.database))
    except (psycopg.Error, KafkaException):
        return None


def _stop(data_dir: Path) -> None:
    """An impatient second Ctrl-C must not leave half of it running."""
    before = [signal.signal(number, signal.SIG_IGN) for number in SIGNALS]
    try:
        stop_stack(data_dir)
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP unwind like Ctrl-C does, so that nothing is left behind."""
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
