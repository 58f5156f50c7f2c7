"""`lily tenant quota`: what a tenant may send to each process of the API."""

# ruff: noqa: PLC0415 (the commands import the database driver when they run: `--help` need not pay for it)

from dataclasses import asdict, astuple
from typing import Annotated

from lily.cli.access.tenants import TenantName, operator, owner_database, require_tenant
from lily.cli.options import DataDir, OutputFormat, flag, option
from lily.cli.output import Format, print_json, print_table
from lily.model.errors import Terminal
from lily.model.quotas import TenantLimits

UNCHANGED = "unchanged"
NOTHING = TenantLimits()
SHOWN = {None: "as the settings say", 0: "no limit"}


def quota(
    name: TenantName,
    *,
    requests: Annotated[int | None, option("--requests", "N", "Requests per second.", UNCHANGED)] = None,
    decisions: Annotated[int | None, option("--decisions", "N", "Requests of engines per second.", UNCHANGED)] = None,
    events: Annotated[int | None, option("--events", "N", "Events per second.", UNCHANGED)] = None,
    octets: Annotated[int | None, option("--bytes", "N", "Bytes of events per second.", UNCHANGED)] = None,
    connections: Annotated[int | None, option("--connections", "N", "WebSocket connections.", UNCHANGED)] = None,
    reset: Annotated[bool, flag("--reset", "Let the settings of the API apply again.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Show or set what a tenant may send to each process of the API.

    0 is no limit. What is not set is as the settings LILY_QUOTAS__… and LILY_LIMITS__CONNECTIONS say.
    """
    from lily.store.postgres.access import quotas as store

    stated = TenantLimits(requests, decisions, events, octets, connections)
    _check(stated, reset=reset)
    with owner_database(data_dir) as owner_url:
        require_tenant(owner_url, name)
        if reset:
            store.set_limits(owner_url, name, NOTHING, operator())
        elif stated != NOTHING:
            store.set_limits(owner_url, name, stated.over(store.read_limits(owner_url, name)), operator())
        limits = asdict(store.read_limits(owner_url, name))
    if output is Format.json:
        print_json({"tenant": name, **limits})
        return
    rows = [{"quota": quota.replace("_", " "), "value": SHOWN.get(value, value)} for quota, value in limits.items()]
    print_table(rows, {"quota": "quota", "value": "value"})


def _check(stated: TenantLimits, *, reset: bool) -> None:
    if any(value is not None and value < 0 for value in astuple(stated)):
        raise Terminal("A quota cannot be negative. 0 is no limit, and --reset lets the settings of the API apply.")
    if reset and stated != NOTHING:
        raise Terminal("--reset lets the settings of the API apply. Use either --reset or quotas.")
