"""One run of the benchmark: its sizes, the stack that the measurements share, and what the person watching sees."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from rich.progress import Progress, TaskID

from bench import stack as stacks
from bench.sizes import Sizes
from bench.stack import BenchStack


@dataclass
class Run:
    sizes: Sizes
    parts: str
    progress: Progress
    task: TaskID
    name: str = ""
    _stack: BenchStack | None = field(default=None, init=False)
    _round: str = field(default="", init=False)

    @property
    def stack(self) -> BenchStack:
        """The shared stack, started when first asked for."""
        return self._stack or self.restart()

    def restart(self, settings: Mapping[str, str] = MappingProxyType({})) -> BenchStack:
        """A fresh shared stack in place of the old one, with these settings (`LILY_…`)."""
        self.close()
        self.say("starting the stack")
        self._stack = stacks.start(self.parts, settings)
        return self._stack

    def filled(self, assets: int) -> BenchStack:
        """The shared stack with at least so many assets in its catalogue."""
        stack = self.stack
        self.say(f"{assets:,} assets through the log")
        stack.fill(assets)
        return stack

    def close(self) -> None:
        stack, self._stack = self._stack, None
        if stack is not None:
            self.say("stopping the stack")
            stacks.stop(stack)

    def begin(self, name: str) -> None:
        """A new measurement, for the progress display."""
        self.name, self._round = name, ""
        self.progress.update(self.task, total=None, completed=0)
        self.say("")

    def rounds(self, count: int | None = None) -> Iterator[int]:
        """1, 2, …, for the progress display as well."""
        count = count or self.sizes.rounds
        self.progress.update(self.task, total=count, completed=0)
        for number in range(1, count + 1):
            self._round = f"round {number} of {count}: "
            yield number
            self.progress.update(self.task, completed=number)
        self._round = ""

    def say(self, what: str) -> None:
        """What is being done now; a line of its own where nobody sees the display move."""
        self.progress.update(self.task, description=f"[bold]{self.name}[/] {self._round}{what}")
        if not self.progress.console.is_terminal:
            print(f"{time.strftime('%H:%M:%S')} {self.name} {self._round}{what}", flush=True)
