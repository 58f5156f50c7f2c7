"""`lily plugins`: lists the installed plug-ins, and what is wrong with those that are not used."""

# ruff: noqa: PLC0415 (the command imports the registry and every plug-in when it runs: `--help` need not pay for them)

from typing import TYPE_CHECKING

from lily.cli.options import DataDir, OutputFormat
from lily.cli.output import Format, print_json, print_table, print_text

if TYPE_CHECKING:
    from lily.plugins import Plugin

COLUMNS = {name: name for name in ("group", "name", "origin", "version", "state", "problem")}


def plugins(
    data_dir: DataDir = None,  # noqa: ARG001 - every command takes it
    output: OutputFormat = Format.text,
) -> None:
    """List the installed plug-ins: where each comes from, and why one is not used."""
    from lily.plugins import installed

    found = installed().plugins()
    if output is Format.json:
        print_json({"plugins": [plugin.as_dict() for plugin in found]})
    else:
        _print(found)


def _print(found: "list[Plugin]") -> None:
    print_table([plugin.as_dict() for plugin in found], COLUMNS)
    unused = [plugin for plugin in found if plugin.state != "ready"]
    if len(unused) == len(found):
        print_text("[yellow]![/] Not even the built-in plug-ins are registered. Install Lily again: make setup")
    elif unused:
        print_text(f"[yellow]![/] {len(unused)} not used. Correct or uninstall them, and restart Lily.")
