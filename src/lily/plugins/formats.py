"""The port `lily.formats`: a body of many assets, split into rows while it streams in."""

from collections.abc import Iterable
from typing import Any, Protocol

from lily.model.errors import Problem

# The JSON text of an ingest body, a decoded ingest body, or what kept the row from being one. `b""` is a blank line.
Row = bytes | dict[str, Any] | Problem


class Splitter(Protocol):
    """Splits one body. Rows come in the order of the body, the same however the body is cut into chunks.

    What cannot be read is a Problem in the place of its row, and the rows after it follow where the format allows. It
    never raises for what a body contains: an exception is a bug of the format, answered with 500, and repeating the
    body is harmless. It never holds more than a few rows: a row longer than the limit is dropped as it arrives and
    becomes a Problem `TOO_LARGE`.
    """

    def feed(self, chunk: bytes) -> Iterable[Row]:
        """Returns the rows that end in this chunk."""
        ...

    def finish(self) -> Iterable[Row]:
        """Returns the rows that were left, once the body has ended."""
        ...

    def close(self) -> None:
        """Lets go of what the splitter holds, a temporary file for example. Always called, also after a failure."""
        ...


class Format(Protocol):
    """A media type of `POST /ingest-metadata/bulk`, and the file suffix by which the connector `file` knows it.

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
