"""Prints the demo: one line per step and a table at the end; plain lines where there is no terminal."""

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lily.cli.demo.step import Step, StepResult
from lily.cli.hints import command

if TYPE_CHECKING:
    from lily.cli.demo.stack import DemoStack


class DemoOutput:
    """Prints to standard error if standard output is for a program."""

    def __init__(self, *, to_stderr: bool) -> None:
        self.console = Console(stderr=to_stderr, highlight=False, soft_wrap=True)

    def title(self, text: str) -> None:
        self.console.print(f"\n[bold]{text}[/]\n")

    def step(self, result: StepResult) -> None:
        self.console.print(f"  [green]✓[/] [cyan]{duration(result.seconds):>8}[/]  {result.text}")

    def failure(self, step: Step, reason: str) -> None:
        self.console.print(f"  [bold red]✗[/] {'':>8}  [bold]{step.name}:[/] {escape(reason)}")

    def summary(self, start_seconds: float, measured: Mapping[str, list[float]]) -> None:
        table = Table("measured", "median", "slowest", "times", box=None, header_style="dim", padding=(0, 2))
        for column in table.columns[1:]:
            column.justify = "right"
        table.add_row("start of the stack", duration(start_seconds), "", "1")
        for kind, seconds in measured.items():
            slowest = duration(max(seconds)) if len(seconds) > 1 else ""
            table.add_row(kind, duration(median(seconds)), slowest, str(len(seconds)))
        self.console.print()
        self.console.print(table)

    def next_steps(self, stack: "DemoStack", *, keep: bool) -> None:
        if not keep:
            files = f"its files are in {stack.data_dir}" if stack.data_dir.exists() else "its files are removed"
            self.print(f"\nThe stack is stopped; {files}. Try next:")
            self.print("  [bold]lily up[/]            start a stack; it prints its addresses and a token")
            self.print("  [bold]lily demo --keep[/]   run the demo again and leave its stack running")
            return
        self.print(f"\nThe stack is still running at [bold]{stack.url}[/]. Try next:")
        self.print(f"  {stack.url}/docs  the API reference")
        trust = f"--cacert {stack.certificate} " if stack.certificate else ""
        self.print(f"  curl {trust}'{stack.url}/metadata?tag=PII' -H 'Authorization: Bearer {stack.token}'")
        stop = command("down", stack.data_dir)
        self.print(f"Stop it with [bold]{stop}[/], then delete that directory.")

    def print(self, text: str) -> None:
        self.console.print(text)


def duration(seconds: float) -> str:
    """Formats about three digits in a suitable unit: `4.2 ms`, `461 ms`, `17.3 s`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"
