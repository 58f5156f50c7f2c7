"""The commands of `lily`, in the order in which `lily --help` lists them. A new command is one line here."""

import sys
from typing import Annotated

import typer

from lily import __version__
from lily.cli import demo
from lily.cli.access import audit, enforce, keys, policy, protections, quota, tenants, users
from lily.cli.deployment import jars, plugins, services
from lily.cli.errors import reporting_errors
from lily.cli.metadata import cost, estate, incidents, ingest, notify, quality, recompute, refresh, webhooks
from lily.cli.options import Group, flag
from lily.cli.output import Format, print_json
from lily.cli.stack import doctor, down, kafka_client, status, up

RUN, ACCESS, DATA, DEPLOY = "Run a stack", "Tenants, users and policies", "Metadata and planning", "Deployment"

app = typer.Typer(
    name="lily",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(invoke_without_command=True)
def lily(
    *,
    version: Annotated[bool, flag("--version", "Print the version and exit.")] = False,
    output: Annotated[Format | None, typer.Option("--format", hidden=True)] = None,
) -> None:
    """Lily, a near-real-time metadata platform.

    Start with `lily up`. If something is missing on this machine, `lily doctor` reports what and how to get it.
    """
    if version:
        if output is Format.json:
            print_json({"version": __version__})
        else:
            print(f"lily {__version__}")
        raise typer.Exit
    if output is not None:
        raise typer.BadParameter("put --format after the command, for example: lily status --format json")


app.command(rich_help_panel=RUN)(up.up)
app.command(rich_help_panel=RUN)(down.down)
app.command(rich_help_panel=RUN)(status.status)
app.command(rich_help_panel=RUN)(doctor.doctor)
app.command(rich_help_panel=RUN)(kafka_client.kafka_client)
app.command(rich_help_panel=RUN)(demo.demo)
tenants.tenant.command("quota")(quota.quota)
app.add_typer(tenants.tenant, name="tenant", rich_help_panel=ACCESS)
app.add_typer(tenants.token, name="token", rich_help_panel=ACCESS)
app.add_typer(users.user, name="user", rich_help_panel=ACCESS)
app.add_typer(policy.policy, name="policy", rich_help_panel=ACCESS)
app.add_typer(keys.keys, name="keys", rich_help_panel=ACCESS)
app.add_typer(protections.protections, name="protections", rich_help_panel=ACCESS)
app.add_typer(audit.audit, name="audit", rich_help_panel=ACCESS)
app.add_typer(enforce.enforce, name="enforce", rich_help_panel=ACCESS)
app.command(rich_help_panel=DATA)(ingest.ingest)
app.add_typer(refresh.refresh, name="refresh", rich_help_panel=DATA)
app.add_typer(incidents.incidents, name="incidents", rich_help_panel=DATA)
app.add_typer(webhooks.webhooks, name="webhooks", rich_help_panel=DATA)
app.add_typer(notify.notify, name="notify", rich_help_panel=DATA)
app.add_typer(quality.quality, name="quality", rich_help_panel=DATA)
app.command(rich_help_panel=DATA)(estate.estate)
app.command(rich_help_panel=DATA)(recompute.recompute)
app.command(rich_help_panel=DATA)(cost.cost)
app.command(rich_help_panel=DEPLOY)(services.api)
app.command(rich_help_panel=DEPLOY)(services.pipeline)
app.command(rich_help_panel=DEPLOY)(services.worker)
app.command(rich_help_panel=DEPLOY)(jars.jars)
app.command(rich_help_panel=DEPLOY)(plugins.plugins)
app.command(hidden=True)(up.supervise)


def main() -> None:
    """Runs the command line. A LilyError becomes one message and a non-zero exit code."""
    with reporting_errors(sys.argv):
        app(prog_name="lily")
