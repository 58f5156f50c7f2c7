"""Lily's errors. The type says whether a retry can help; the message says what to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry of a response's `{"errors": [...]}`: what is wrong, and with which field."""

    code: str
    description: str
    entity: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "description": _legible(self.description), "entity": _legible(self.entity)}


class LilyError(Exception):
    """The base class of every error that Lily raises."""


class Transient(LilyError):
    """The same call may succeed later: wait and repeat it. `retry_after` is the pause in seconds that the other side
    asks for; None if it does not, and the caller chooses."""

    def __init__(self, *args: object, retry_after: float | None = None) -> None:
        super().__init__(*args)
        self.retry_after = retry_after


class Terminal(LilyError):
    """Repeating the call cannot help: the input, the configuration or the machine has to change."""


class Refused(Terminal):
    """The input violates the contract. None of it was stored."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(f"{p.code}: {p.description}" for p in problems))
        self.problems = problems


def _legible(text: str) -> str:
    """Problems quote untrusted input, so the text must be made valid UTF-8, free of NUL, and short."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:2000]
