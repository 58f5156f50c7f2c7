"""OpenLineage as an intake: one event, or an array of events that are accepted or refused independently."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from lily.intake.openlineage.conversion import convert
from lily.intake.openlineage.naming import Naming
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Sender

MAX_OBJECTS = 200_000  # JSON objects of one event: each takes a few microseconds, in which no other request is served


class OpenLineageConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    namespaces: dict[str, str] = Field({}, description="prefixes by namespace: '' for none, 'keep' for the namespace")


class OpenLineage:
    Config = OpenLineageConfig

    def __init__(self, config: OpenLineageConfig) -> None:
        self._naming = Naming(config.namespaces)

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:  # noqa: ARG002 - the port's signature
        """OpenLineage has no signature: its clients send a token."""
        return False

    def decode(self, delivery: Delivery) -> list[Any]:
        try:
            body = orjson.loads(delivery.body)
        except orjson.JSONDecodeError as error:
            raise Refused(Problem("MALFORMED_JSON", f"the body is not valid JSON: {error}", "body")) from error
        return body if isinstance(body, list) else [body]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event | Problem]:
        if delivery.body.count(b"{") > MAX_OBJECTS and not _is_small(item):
            described = f"an event must not have more than {MAX_OBJECTS} objects; send one event per output"
            raise Refused(Problem("TOO_LONG", described, "body"))
        found = convert(item, sender, self._naming, received=delivery.received, skew=delivery.skew)
        claims = [] if found.claims is None else [found.claims]
        return [*found.stated, *claims, *found.renamed, *found.incidents, *found.warnings]


def _is_small(item: Any) -> bool:
    """Whether one event of many has no more objects than it may."""
    waiting, count = [item], 0
    while waiting and count <= MAX_OBJECTS:
        one = waiting.pop()
        count += isinstance(one, dict)
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        waiting.extend(value for value in inner if isinstance(value, dict | list))
    return count <= MAX_OBJECTS
