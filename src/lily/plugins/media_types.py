"""Which format reads a body, by its media type, and which reads a file, by its suffix."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lily.model.errors import Terminal
from lily.plugins.formats import Format


class UnknownFormat(Terminal):
    """No format for it is installed."""


class Served(NamedTuple):
    name: str
    format: Format


class Formats:
    """Of two formats that claim the same media type or suffix, the one that comes first in `served` has it."""

    def __init__(self, served: Sequence[Served]) -> None:
        self.remarks: dict[str, str] = {}  # by name: the claims of a format that another format has already
        self._by_name = {one.name: one for one in served}
        self._by_media_type: dict[str, Served] = {}
        self._by_suffix: dict[str, Served] = {}
        for one in served:
            taken = [
                *_claim(self._by_media_type, one.format.media_types, one),
                *_claim(self._by_suffix, one.format.suffixes, one),
            ]
            if taken:
                self.remarks[one.name] = "; ".join(taken)

    @property
    def media_types(self) -> tuple[str, ...]:
        return tuple(self._by_media_type)

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(self._by_suffix)

    def of_media_type(self, media_type: str) -> Format:
        """Raises UnknownFormat."""
        return _one(self._by_media_type, media_type)

    def of_suffix(self, suffix: str) -> Format:
        """Raises UnknownFormat."""
        return _one(self._by_suffix, suffix.lower())

    def named(self, name: str) -> Format:
        """Raises UnknownFormat."""
        return _one(self._by_name, name)


def _one(served: Mapping[str, Served], key: str) -> Format:
    if key not in served:
        raise UnknownFormat(f"No installed format reads {key!r}. Installed: {', '.join(served) or 'none'}.")
    return served[key].format


def _claim(taken: dict[str, Served], claims: Sequence[str], claimant: Served) -> list[str]:
    """Registers what is free; returns a sentence for each claim that is not."""
    refused = []
    for claim in claims:
        holder = taken.setdefault(claim, claimant)
        if holder is not claimant:
            refused.append(f"{claim} is taken by the format {holder.name}")
    return refused
