"""The port `lily.transforms`: changes the statements of a source before they are sent to Lily."""

from collections.abc import Iterable
from typing import Protocol

from pydantic import BaseModel

from lily.plugins.connectors import SourceAsset, SourceEdge


class Transform(Protocol):
    """A function of one statement: it keeps no state, so that order and repetition do not matter.

    Constructed with its validated configuration. Raises Refused for a statement that it cannot transform: that one is
    counted as rejected and the run goes on. Any other exception ends the run.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    def asset(self, stated: SourceAsset) -> Iterable[SourceAsset]:
        """Returns the assets to send instead: the same, a changed one, several, or none. `stated` is never modified."""
        ...

    def edge(self, stated: SourceEdge) -> Iterable[SourceEdge]:
        """Returns the edges to send instead. A transform that renames assets renames the ends of edges too."""
        ...
