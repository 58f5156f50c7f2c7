"""Commands that remove one thing of a running Lily by its name."""

from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, OutputFormat
from lily.cli.output import Format, print_result
from lily.cli.running import running_lily

if TYPE_CHECKING:
    from collections.abc import Callable

    from lily.client import Lily


def add_removal(
    group: typer.Typer, name: str, description: str, argument: Any, remove: "Callable[[Lily, str], dict[str, Any]]"
) -> None:
    """Adds the command `name` to a group. `argument` is the annotated type of what it names."""

    def run(named: argument, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
        with running_lily(data_dir) as lily:
            found = remove(lily, named)
        print_result(output, found, f"{escape(named)} is removed.")

    group.command(name, help=description)(run)
