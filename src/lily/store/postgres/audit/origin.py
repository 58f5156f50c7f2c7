"""Where a change comes from. The API states it for calls of administrators; every audit entry of their transactions has
it, by the defaults of the table's columns."""

from contextvars import ContextVar
from typing import NamedTuple

import orjson


class Origin(NamedTuple):
    token: str  # the id of an API token; empty for users who signed in with an identity provider
    address: str | None
    correlation: str

    def as_setting(self) -> str:
        """As PostgreSQL reads it, in the setting `lily.origin`."""
        return orjson.dumps({**self._asdict(), "token": self.token or None}).decode()


# Of the call that this task serves; None for all but administrators, whose transactions then cost nothing more.
ORIGIN: ContextVar[Origin | None] = ContextVar("lily_origin", default=None)
