"""What the writers tried to say and what they were promised: the claims that the verifier holds the stack to."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

# acknowledged: it must be there. uncertain: nobody promised anything. refused: it must not be there.
Outcome = Literal["acknowledged", "uncertain", "refused"]

_MARK = re.compile(rb"mark-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Write:
    """One attempt. It is recognised in the log by its mark, which travels as the correlation id."""

    kind: str
    tenant: str
    mark: str
    stated: tuple[dict[str, Any], ...]  # the `data` of each event it should have become, without who stated it
    outcome: Outcome
    answer: str  # a status, or the name of what went wrong
    time: str | None = None
    cause: str = ""  # the code with which the pipeline must refuse it


@dataclass(slots=True)
class Journal:
    """Many threads write; appending to a list is atomic."""

    writes: list[Write] = field(default_factory=list)

    def put_down(self, write: Write) -> None:
        self.writes.append(write)

    def by_mark(self) -> dict[str, Write]:
        return {write.mark: write for write in self.writes}

    def acknowledged(self) -> Iterator[Write]:
        return (write for write in self.writes if write.outcome == "acknowledged")

    def answers(self) -> Counter[str]:
        return Counter(write.answer for write in self.writes)


def new_mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


def mark_in(value: bytes | None) -> str:
    """The mark of the write that a record came from; empty where there is none."""
    found = _MARK.search(value or b"")
    return found[0].decode() if found else ""
