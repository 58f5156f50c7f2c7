"""`python -m bench [names…] [--quick] [--rounds N] [--size NAME=N] [--list]`."""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace

import httpx
import psutil  # type: ignore[import-untyped]
import psycopg
from confluent_kafka import KafkaException
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench import machine, page
from bench.findings import BenchError
from bench.measurements import MEASUREMENTS, Measurement
from bench.results import Measured, RunResults, kept_results, new_results
from bench.run import Run
from bench.sizes import FULL, QUICK, Sizes
from lily.model.errors import LilyError

FAILURES = (BenchError, LilyError, psycopg.Error, KafkaException, httpx.HTTPError, psutil.Error, OSError)
COLOURS = {"met": "green", "missed": "bold red", "reported": "dim"}

SIZE_NAMES = {field.name for field in fields(Sizes)}

console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def main() -> int:
    options = _options()
    if options.list:
        for measurement in MEASUREMENTS:
            console.print(f"{measurement.name:<13} {measurement.about}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the stack is stopped on the way out
    chosen = chosen_from(options.names)
    sizes = QUICK if options.quick else FULL
    if options.rounds:
        sizes = replace(sizes, **dict.fromkeys(("rounds", "lake_rounds", "flood_rounds"), options.rounds))
    sizes = replace(sizes, **dict(options.size))
    results = new_results(quick=options.quick, machine=machine.describe(), busy=machine.busy())
    with _progress() as progress:
        run = Run(sizes, options.parts, progress, progress.add_task(""))
        try:
            _measure(run, chosen, results)
        finally:
            run.close()
    _report(results)
    return 1 if results.failed else 0


def _measure(run: Run, chosen: Sequence[Measurement], results: RunResults) -> None:
    for measurement in chosen:
        run.begin(measurement.name)
        began = time.monotonic()
        try:
            outcome = measurement.measure(run)
        except (*FAILURES, subprocess.SubprocessError) as error:
            results.failed[measurement.name] = f"{type(error).__name__}: {error}"
            run.progress.console.print(f"[bold red]✗[/] {measurement.name}", end=" ")
            run.progress.console.print(str(error)[:500], markup=False)
            continue
        measured = Measured.of(outcome, time.monotonic() - began)
        results.measurements[measurement.name] = measured
        verdicts = [finding.verdict for finding in measured.findings if finding.goal]
        missed = f", [bold red]{verdicts.count('missed')} missed[/]" if "missed" in verdicts else ""
        run.progress.console.print(
            f"[green]✓[/] {measurement.name} in {measured.seconds:.0f} s: {verdicts.count('met')} goals met{missed}"
        )


def _report(results: RunResults) -> None:
    table = Table("", "what", "against", "goal", "median (spread)", "verdict", header_style="dim")
    for name, measured in results.measurements.items():
        for finding in measured.findings:
            verdict = f"[{COLOURS[finding.verdict]}]{finding.trend or finding.verdict}[/]"
            table.add_row(name, finding.what, finding.against, finding.shown_goal(), finding.shown_value(), verdict)
    for name, why in results.failed.items():
        table.add_row(name, why.splitlines()[0][:200].replace("[", r"\["), "", "", "", "[bold red]not measured[/]")
    console.print(table)
    if not results.measurements:
        return
    console.print(f"Every round's numbers: {_shown(results.save())}")
    if not results.quick:
        console.print(f"The table: {_shown(page.write(kept_results()))}")


def _shown(path: object) -> str:
    return str(path).removeprefix(f"{page.PAGE.parents[1]}/")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Lily's benchmark: ratios, their spread, and the goals.")
    parser.add_argument("names", nargs="*", choices=[[], *_names()], metavar="name", help="default: all but soak")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that everything runs, proves nothing")
    parser.add_argument("--rounds", type=int, help="how often each side is measured")
    parser.add_argument(
        "--size", action="append", default=[], type=_size, metavar="NAME=N", help="one size of sizes.py"
    )
    parser.add_argument("--list", action="store_true", help="what can be measured")
    parser.add_argument("--parts", default="", help=argparse.SUPPRESS)  # of the stack, as `lily up` takes them
    return parser.parse_args()


def _size(given: str) -> tuple[str, int]:
    name, _, number = given.partition("=")
    if name not in SIZE_NAMES or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{given!r} must be NAME=N with a name of bench/sizes.py and a whole number")
    return name, int(number)


def chosen_from(names: Sequence[str]) -> list[Measurement]:
    """The named ones in their order, or all but those that have to be named."""
    return [one for one in MEASUREMENTS if one.name in names or (not names and not one.by_name_only)]


def _names() -> list[str]:
    return [measurement.name for measurement in MEASUREMENTS]


def _progress() -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


if __name__ == "__main__":
    sys.exit(main())
