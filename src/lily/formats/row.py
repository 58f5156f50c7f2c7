"""The row that is being read, for formats whose rows are text."""

from lily.model.errors import Problem


class RowBuffer:
    """Drops a row that exceeds the limit, while the format still reads on to its end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0

    def __bool__(self) -> bool:
        return self._length > 0

    def keep(self, part: bytes) -> None:
        self._length += len(part)
        if self._length > self._limit:
            self._parts = []
        elif part:
            self._parts.append(part)

    def end(self) -> bytes | Problem:
        """The whole row, without surrounding blanks; a Problem if it was too long."""
        row = self.end_as_is()
        return row.strip() if isinstance(row, bytes) else row

    def end_as_is(self) -> bytes | Problem:
        text, length = b"".join(self._parts), self._length
        self._parts, self._length = [], 0
        return too_long(self._limit) if length > self._limit else text


def too_long(limit: int) -> Problem:
    return Problem("TOO_LARGE", f"a row must not exceed {limit} bytes", "row")
