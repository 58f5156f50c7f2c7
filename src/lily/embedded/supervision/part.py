"""The port of a supervised process."""

import signal
from typing import Protocol

from lily.embedded.process import Command


class Part(Protocol):
    """One process that the supervisor starts, watches and stops.

    If `prepare` or the process fails, the supervisor tries again with growing pauses. At the first start, a Terminal
    error of `prepare` or repeated failures end the start of the whole stack.
    """

    @property
    def name(self) -> str:
        """The name in `lily status`, and of the log file."""

    @property
    def stop_signal(self) -> signal.Signals:
        """The signal that requests an orderly stop."""

    @property
    def grace(self) -> float:
        """The seconds that an orderly stop may take before the process is killed."""

    def prepare(self) -> None:
        """Creates or repairs the part's files. Called before each start; must be idempotent."""

    def command(self) -> Command:
        """Returns the command that starts the process."""

    def healthy(self) -> bool:
        """Whether the process does its work now. Never raises, and returns within seconds."""
