"""Prints results to standard output and errors to standard error."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum

from rich.console import Console
from rich.markup import escape

# The control characters (ESC, and CSI at U+009B, begin commands to the terminal), and those that reorder text.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Progress = Callable[[str], None]  # takes a description of the current step


class Format(StrEnum):
    """The output of a command: text for people or JSON for programs."""

    text = "text"
    json = "json"


def visible(text: str, keep: str = "") -> str:
    """The text with its control characters written as `\\u001b`: a name could otherwise rewrite the terminal."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


def print_json(result: object) -> None:
    """Prints one line, so that the last line of the output is the complete result."""
    print(visible(json.dumps(result, ensure_ascii=False, default=str)), flush=True)


def print_result(output: Format, result: object, text: str) -> None:
    """Prints the result as JSON, or the text, which may contain rich markup."""
    if output is Format.json:
        print_json(result)
    else:
        print_text(text)


def print_text(text: str) -> None:
    """Prints text that may contain rich markup."""
    Console(highlight=False, soft_wrap=True).print(visible(text, keep="\n\t"))


def counted(number: int, noun: str) -> str:
    """`1 edge`, `2,000 edges`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_error(message: str) -> None:
    """Prints an error: the first line stands out, the rest explains it."""
    first, _, rest = visible(message, keep="\n\t").partition("\n")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold red]✗ {escape(first)}[/]")
    if rest:
        console.print(escape(rest))


def print_table(rows: Sequence[Mapping[str, object]], columns: Mapping[str, str]) -> None:
    """Prints aligned columns below a header. `columns` maps the key of a row to the column's title."""
    header = [title.upper() for title in columns.values()]
    cells = [[visible(_cell(row[key])) for key in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    print_text(f"[dim]{escape(_aligned(header, widths))}[/]" if sys.stdout.isatty() else _aligned(header, widths))
    for line in cells:
        print_text(escape(_aligned(line, widths)))


def print_items(
    output: Format,
    items: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    nothing: str,
    rows: Sequence[Mapping[str, object]] | None = None,
) -> None:
    """Prints a list as JSON, as a table of these columns (of `rows` if given), or `nothing` if it is empty."""
    if output is Format.json:
        print_json({"items": items})
    elif items:
        print_table(items if rows is None else rows, {name: name.replace("_", " ") for name in columns})
    else:
        print_text(nothing)


@contextmanager
def progress_line(title: str) -> Iterator[Progress]:
    """Shows a line on standard error that the yielded function updates; where there is no terminal, only the title."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.print(f"{title} …", soft_wrap=True)
        yield lambda _: None
        return
    with console.status(title) as status:
        yield lambda step: status.update(f"{title}: {escape(visible(step))}")


def _aligned(cells: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "-" if value is None or value == "" else str(value)
