"""The port `lily.transforms`: changes what a source states on its way to Lily."""

from collections.abc import Iterable
from typing import Protocol

from pydantic import BaseModel

from lily.plugins.connectors import SourceAsset, SourceEdge


class Transform(Protocol):
    """A function of one statement: it keeps no memory, so that order and repetition do not matter.

    Constructed with its validated configuration. Raises Refused for a statement that it cannot transform: that one is
    counted as rejected and the run goes on. Any other exception ends the run.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It forbids what it does not know."""
        ...

    def asset(self, stated: SourceAsset) -> Iterable[SourceAsset]:
        """Returns what becomes of an asset: itself, changed, several, or nothing. `stated` is never modified."""
        ...

    def edge(self, stated: SourceEdge) -> Iterable[SourceEdge]:
        """Returns what becomes of an edge. A transform that renames assets renames the ends of edges alike."""
        ...
