"""Shows a stack starting: one line per part, live on a terminal and as plain lines elsewhere."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table

if TYPE_CHECKING:
    from lily.embedded.state import PartState, StackState


class StartupProgress:
    """Prints the state of the parts until the stack is ready; to standard error if standard output is for a program."""

    def __init__(self, *, to_stderr: bool) -> None:
        self._console = Console(stderr=to_stderr, highlight=False, soft_wrap=True)
        self._live = Live(console=self._console, refresh_per_second=8, transient=False)
        self._printed: dict[str, str] = {}

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        self._live.stop()

    def show(self, state: "StackState") -> None:
        if self._live.is_started:
            self._live.update(_table(state))
            return
        for part in state.parts:
            self._print_if_new(part.name, _description(part))
        self._print_if_new("", state.detail)

    def _print_if_new(self, name: str, line: str) -> None:
        if line and self._printed.get(name) != line:
            self._console.print(f"{name:<9} {line}" if name else line)
        self._printed[name] = line


def _table(state: "StackState") -> Table:
    table = Table.grid(padding=(0, 1))
    for part in state.parts:
        busy = part.state in ("starting", "restarting", "stopping")
        sign = Spinner("dots") if busy else "[green]✓[/]" if part.state == "healthy" else "[dim]·[/]"
        table.add_row(sign, part.name, f"[dim]{_description(part)}[/]")
    if state.detail:
        table.add_row(Spinner("dots"), "", f"[dim]{state.detail}[/]")
    return table


def _description(part: "PartState") -> str:
    if part.state == "healthy":
        return f"healthy after {part.start_seconds:.1f} s"
    reason = part.detail.partition("\n")[0]
    return "" if part.state == "waiting" else f"{part.state} ({reason})" if reason else part.state
