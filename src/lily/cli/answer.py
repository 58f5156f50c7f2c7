"""What commands print. Answers go to standard output, complaints to standard error."""

import json
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_json(answer: object) -> None:
    """One line, so that the last line of the output is the whole answer."""
    print(json.dumps(answer, ensure_ascii=False, default=str), flush=True)


def say(text: str) -> None:
    """A line for a person; markup allowed."""
    Console(highlight=False, soft_wrap=True).print(text)


def complain(message: str) -> None:
    """An error for a person: its first line stands out, the rest explains."""
    first, _, rest = message.partition("\n")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold red]✗ {escape(first)}[/]")
    if rest:
        console.print(escape(rest))


def print_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """A table on a terminal; words with tabs between them where another program reads."""
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(_cell(row[column]) for column in columns))
        return
    table = Table(*columns, box=None, header_style="dim")
    for row in rows:
        table.add_row(*(escape(_cell(row[column])) for column in columns))
    Console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "" if value is None else str(value)
