"""The `lily` command. One file a group of commands; adding one is a line below.

`lily --help` has to appear at once, so nothing heavy is imported up here: a command imports what it needs when it runs.
"""

import sys

import typer

from lily.cli import access, cost, demo, doctor, estate, ingest, jars, lifecycle, plugins, recompute, services, up
from lily.cli.errors import reporting_errors

app = typer.Typer(
    name="lily",
    help="A near-real-time metadata platform. Start with `lily up`; if something is missing, `lily doctor` says what.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(up.up)
app.command()(lifecycle.down)
app.command()(lifecycle.status)
app.command()(doctor.doctor)
app.command()(demo.demo)
app.command()(estate.estate)
app.command()(ingest.ingest)
app.command()(plugins.plugins)
app.command()(jars.jars)
app.command()(cost.cost)
app.command()(recompute.recompute)
app.add_typer(access.token, name="token")
app.add_typer(access.tenant, name="tenant")
app.command()(services.api)
app.command()(services.pipeline)
app.command()(services.worker)
app.command(hidden=True)(up.supervise)


def main() -> None:
    """Runs the command line; a LilyError becomes one clear message and a non-zero exit code."""
    with reporting_errors(sys.argv):
        app()
