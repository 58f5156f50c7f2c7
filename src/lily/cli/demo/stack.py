"""The stack of a demo: started for it, and stopped and removed afterwards whatever happens."""

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
from lily.cli.stack.detach import start_detached
from lily.cli.stack.startup_progress import StartupProgress
from lily.embedded.bootstrap import admin_token
from lily.embedded.kafka.users import stack_settings
from lily.embedded.ports import choose_ports
from lily.embedded.state import load
from lily.embedded.supervision.shutdown import stop_stack
from lily.settings import Settings

# What is changed by hand in a target should be back while someone is looking, and Slack is a receiver on this machine.
ENVIRONMENT = {
    "LILY_ENFORCEMENT__REFRESH_SECONDS": "2",
    "LILY_OUTBOUND__ALLOWED_NETWORKS": '["127.0.0.1/32"]',
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class DemoStack:
    """A running stack, and how long it took to start."""

    url: str
    token: str
    data_dir: Path
    start_seconds: float

    @property
    def certificate(self) -> str:
        """The file that the API serves with; empty if it serves without TLS."""
        return load(self.data_dir).certificate

    @property
    def database(self) -> str:
        """The libpq URI of the owner, who is a superuser."""
        return load(self.data_dir).database


@contextmanager
def data_directory(given: Path | None, *, keep: bool) -> Iterator[Path]:
    """Yields the given directory, or a temporary one that is removed afterwards unless `keep`."""
    if given is not None:
        yield given
        return
    temporary = Path(tempfile.mkdtemp(prefix="lily-demo-"))
    temporary.chmod(0o755)  # PostgreSQL may run as another user; secrets in it are 0600
    try:
        yield temporary
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if not keep:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def running_stack(settings: Settings, *, keep: bool, to_stderr: bool) -> Iterator[DemoStack]:
    """Starts a stack and stops it afterwards, also on Ctrl-C and SIGTERM. With `keep`, it stays if nothing failed."""
    with _interruptible():
        began = time.perf_counter()
        state, kept = None, False  # None if a stack already runs in the directory: that one is not ours to stop
        try:
            with StartupProgress(to_stderr=to_stderr) as progress:
                state = start_detached(settings, "", progress.show, environment=ENVIRONMENT)
            token = admin_token(settings.data_dir)
            yield DemoStack(state.url, token, settings.data_dir, time.perf_counter() - began)
            kept = keep
        finally:
            if state is not None and not kept:
                _stop(settings.data_dir)


def with_free_port(settings: Settings, port: int | None) -> Settings:
    """Returns settings with a free port unless one was given, so that the demo runs next to other stacks."""
    if port is not None:
        return settings
    return settings.model_copy(update={"port": choose_ports(["api"], {})["api"]})


def read_lag(data_dir: Path) -> dict[str, int] | None:
    """Returns, by topic, how many events cannot be read yet; None while an engine does not respond."""
    state = load(data_dir)
    try:
        return lag(stack_settings(Settings(), state))
    except (psycopg.Error, KafkaException):
        return None


def _stop(data_dir: Path) -> None:
    """Stops the stack. A second Ctrl-C meanwhile must not leave half of it running."""
    before = [signal.signal(number, signal.SIG_IGN) for number in SIGNALS]
    try:
        stop_stack(data_dir)
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise KeyboardInterrupt like Ctrl-C, so that the clean-up runs."""
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
