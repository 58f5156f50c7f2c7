"""How the demo looks: a line a step, a table at the end; plain lines where there is no terminal."""

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lily.cli.demo.scene import Step, Told

if TYPE_CHECKING:
    from lily.cli.demo.stage import Stage


class Telling:
    """On standard error if standard output is for a program."""

    def __init__(self, *, to_stderr: bool) -> None:
        self.console = Console(stderr=to_stderr, highlight=False, soft_wrap=True)

    def title(self, text: str) -> None:
        self.console.print(f"\n[bold]{text}[/]\n")

    def step(self, told: Told) -> None:
        self.console.print(f"  [green]✓[/] [cyan]{duration(told.seconds):>8}[/]  {told.sentence}")

    def failure(self, step: Step, reason: str) -> None:
        self.console.print(f"  [bold red]✗[/] {'':>8}  [bold]{step.name}:[/] {escape(reason)}")

    def summary(self, start_seconds: float, measured: Mapping[str, list[float]]) -> None:
        table = Table("measured", "median", "slowest", "times", box=None, header_style="dim", padding=(0, 2))
        for column in table.columns[1:]:
            column.justify = "right"
        table.add_row("the stack, started", duration(start_seconds), "", "1")
        for kind, seconds in measured.items():
            slowest = duration(max(seconds)) if len(seconds) > 1 else ""
            table.add_row(kind, duration(median(seconds)), slowest, str(len(seconds)))
        self.console.print()
        self.console.print(table)

    def farewell(self, running: "Stage", *, keep: bool) -> None:
        if not keep:
            left = f"; its files stay in {running.data_dir}" if running.data_dir.exists() else " and cleared away"
            self.say(f"\nEverything is stopped{left}. What to try next:")
            self.say("  [bold]lily up[/]            a stack that stays; it prints its addresses and a token")
            self.say("  [bold]lily demo --keep[/]   this one, left running with the estate in it")
            return
        self.say(f"\nStill running at [bold]{running.url}[/], with the estate in it. What to try next:")
        self.say(f"  {running.url}/docs  every call, to try out")
        self.say(f"  curl '{running.url}/metadata?tag=PII' -H 'Authorization: Bearer {running.token}'")
        self.say(f"Stop it with [bold]lily down --data-dir {running.data_dir}[/], then delete that directory.")

    def say(self, text: str) -> None:
        self.console.print(text)


def duration(seconds: float) -> str:
    """Three digits or so, in the unit that suits: `4.2 ms`, `461 ms`, `17.3 s`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"
