"""Names and texts as a warehouse reads them, whatever they contain."""

from typing import NamedTuple


class Quoting(NamedTuple):
    """Of a dialect in which a doubled mark stands for the mark in a name, and a backslash escapes in texts."""

    mark: str  # around names
    apostrophe: str  # in texts

    def name(self, *names: str) -> str:
        """A name, with the names that it is in before it."""
        return ".".join(f"{self.mark}{name.replace(self.mark, self.mark * 2)}{self.mark}" for name in names)

    def text(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", self.apostrophe)
        return f"'{escaped}'"
