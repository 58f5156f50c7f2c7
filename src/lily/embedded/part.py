"""What the supervisor needs to know of a part."""

import signal
from typing import Protocol

from lily.embedded.process import Command


class Part(Protocol):
    """One supervised process."""

    @property
    def name(self) -> str:
        """What it is called in `lily status` and in the name of its log."""

    @property
    def stop_signal(self) -> signal.Signals:
        """What asks it for an orderly stop."""

    @property
    def grace(self) -> float:
        """How many seconds an orderly stop may take before it is killed."""

    def prepare(self) -> None:
        """Makes its files fit for a start, before each one. At the first start a Terminal failure is final."""

    def command(self) -> Command:
        """How it is started."""

    def healthy(self) -> bool:
        """Whether it does its work now. Never raises; answers within seconds."""
