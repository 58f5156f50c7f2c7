"""What can go wrong. Whether a retry can help is part of the type; the message says what to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry of the answer `{"errors": [...]}`: what is wrong, and with what."""

    code: str
    description: str
    entity: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "description": _legible(self.description), "entity": _legible(self.entity)}


class LilyError(Exception):
    """The root of everything Lily raises on purpose."""


class Transient(LilyError):
    """The same call may succeed later: wait and repeat it."""


class Terminal(LilyError):
    """Repeating the call cannot help: the input, the configuration or the machine has to change."""


class Refused(Terminal):
    """An input breaks the contract. Nothing of it was stored."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(f"{p.code}: {p.description}" for p in problems))
        self.problems = problems


def _legible(text: str) -> str:
    """A problem quotes hostile input; what it says must itself be storable, sendable and of a sane length."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:2000]
