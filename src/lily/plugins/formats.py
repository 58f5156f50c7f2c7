"""The port `lily.formats`: a body of many assets, split into rows while it streams in."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lily.model.errors import Problem


@dataclass(frozen=True, slots=True)
class BlankRows:
    """Consecutive blank rows. They count in the numbers of the rows that follow."""

    count: int


# The JSON text of an ingest body, a decoded ingest body, or what kept the row from being one. `b""` is a blank line.
Row = bytes | dict[str, Any] | Problem | BlankRows


class Splitter(Protocol):
    """Splits one body into rows, in the order of the body. How the body is cut into chunks does not matter.

    A row that cannot be read becomes a Problem, and the rows after it follow if the format allows that. It never raises
    for what a body contains: an exception is a bug of the format, the API responds with 500, and repeating the body is
    harmless. It never holds more than a few rows: a row longer than the limit is dropped as it arrives and
    becomes a Problem `TOO_LARGE`.
    """

    def feed(self, chunk: bytes) -> Iterable[Row]:
        """Returns the rows that end in this chunk."""
        ...

    def finish(self) -> Iterable[Row]:
        """Returns the remaining rows at the end of the body."""
        ...

    def close(self) -> None:
        """Releases resources, such as a temporary file. Always called, also after a failure."""
        ...


@runtime_checkable
class WholeBody(Protocol):
    """An optional power of a Splitter that reads its body in `finish`, which takes long or much memory. The API reads
    few such bodies at a time."""

    @property
    def reads_whole_body(self) -> bool:
        """A class attribute: True."""
        ...


class Format(Protocol):
    """A media type of `POST /ingest-metadata/bulk`, and the file suffix by which the connector `file` recognises it.

    Constructed once per process, without arguments.
    """

    @property
    def media_types(self) -> tuple[str, ...]:
        """A class attribute: in lower case, without parameters, `("text/csv",)`."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """A class attribute: in lower case, with the dot, `(".csv",)`."""
        ...

    def splitter(self, limit: int) -> Splitter:
        """Returns a splitter for one body, whose rows may be `limit` bytes long."""
        ...
