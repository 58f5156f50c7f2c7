"""`lily plugins`: what is plugged in, and what is wrong with the rest."""

# ruff: noqa: PLC0415 (the command imports the registry and every plug-in when it runs: `--help` need not pay for them)

from typing import TYPE_CHECKING

from lily.cli.answer import print_json, print_table, say
from lily.cli.options import AnswerFormat, DataDir, Format

if TYPE_CHECKING:
    from lily.plugins import Plugin

COLUMNS = ("group", "name", "origin", "version", "state", "problem")


def plugins(
    data_dir: DataDir = None,  # noqa: ARG001 - every command takes it
    answer: AnswerFormat = Format.text,
) -> None:
    """List the plug-ins that are installed, where each comes from, and why one is not in use."""
    from lily.plugins import installed

    found = installed().plugins()
    if answer is Format.json:
        print_json({"plugins": [plugin.as_dict() for plugin in found]})
    else:
        _describe(found)


def _describe(found: "list[Plugin]") -> None:
    print_table([plugin.as_dict() for plugin in found], COLUMNS)
    unused = [plugin for plugin in found if plugin.state != "ready"]
    if not any(plugin.state == "ready" for plugin in found):
        say("[yellow]![/] Not even the built-in plug-ins are registered: install Lily again (`make setup`).")
    elif unused:
        say(f"[yellow]![/] {len(unused)} not in use. Correct or uninstall them, and restart Lily.")
