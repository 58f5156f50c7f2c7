"""`lily demo`: starts a stack, runs the steps, and leaves nothing behind."""

# ruff: noqa: PLC0415 (the stack and the client are imported when it runs: `lily --help` need not pay for them)

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.deployment.jars import fetch_jars
from lily.cli.options import OutputFormat, flag, option, read_settings
from lily.cli.output import Format, print_json
from lily.model.errors import LilyError

if TYPE_CHECKING:
    from lily.cli.demo.output import DemoOutput
    from lily.cli.demo.stack import DemoStack
    from lily.cli.demo.step import DemoReport


def demo(
    *,
    keep: Annotated[bool, flag("--keep", "Leave the stack running and print how to stop it.")] = False,
    port: Annotated[int | None, option("--port", "PORT", "Port of the API.", "a free one")] = None,
    data_dir: Annotated[Path | None, option("--data-dir", "DIR", "Keep the files here.", "temporary")] = None,
    output: OutputFormat = Format.text,
) -> None:
    """Start a stack of its own, run the use cases against it with measured latencies, and stop it.

    The exit code is 1 if a step fails. Without --data-dir the files are temporary and removed at the end.
    """
    from lily.cli.demo import stack
    from lily.cli.demo.output import DemoOutput
    from lily.embedded.java import find_java

    to_stderr = output is Format.json
    printer = DemoOutput(to_stderr=to_stderr)
    with stack.data_directory(data_dir, keep=keep) as directory:
        settings = stack.with_free_port(read_settings(directory, port), port)
        find_java()
        fetch_jars(settings)
        printer.title("Starting Kafka, PostgreSQL, the Spark pipeline, the worker and the API")
        with stack.running_stack(settings, keep=keep, to_stderr=to_stderr) as running:
            report = _run_steps(running, printer)
            if output is Format.json:
                print_json(report.as_dict())
            if not report.ok:
                printer.print("\nThe demo failed. To keep its logs, run it with: lily demo --data-dir DIRECTORY")
                raise typer.Exit(1)
    printer.next_steps(running, keep=keep)


def _run_steps(running: "DemoStack", printer: "DemoOutput") -> "DemoReport":
    """Runs the steps in order. Stops at the first that fails, because the later ones depend on it."""
    from lily.cli.demo.attribute_rules import ATTRIBUTE_RULES
    from lily.cli.demo.catalogue import CATALOGUE
    from lily.cli.demo.enforcement import ENFORCEMENT
    from lily.cli.demo.incidents import INCIDENTS
    from lily.cli.demo.large_estate import LARGE_ESTATE
    from lily.cli.demo.propagation import PROPAGATION
    from lily.cli.demo.slack import slack_receiver
    from lily.cli.demo.stack import read_lag
    from lily.cli.demo.step import DemoContext, DemoReport
    from lily.client import Lily, Tls

    printer.title(f"Running the use cases against {running.url}")
    with Lily(running.url, running.token, tls=Tls(running.certificate or None)) as lily, slack_receiver() as slack:
        context = DemoContext(
            running, lily, slack, lambda: read_lag(running.data_dir), shows_progress=printer.console.is_terminal
        )
        report = DemoReport(running.start_seconds)
        for step in (*CATALOGUE, *LARGE_ESTATE, *PROPAGATION, *ATTRIBUTE_RULES, *ENFORCEMENT, *INCIDENTS):
            try:
                result = step.run(context)
            except LilyError as error:
                printer.failure(step, str(error))
                report.failed(step, str(error))
                return report
            printer.step(result)
            report.passed(step, result)
        printer.summary(running.start_seconds, context.measured)
    return report
