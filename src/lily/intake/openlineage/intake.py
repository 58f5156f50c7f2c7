"""OpenLineage as an intake: one event, or an array of events that are accepted or refused independently."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from lily.intake.openlineage.conversion import convert
from lily.intake.openlineage.naming import Naming
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Event, Sender


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
        found = convert(item, sender, self._naming, received=delivery.received, skew=delivery.skew)
        claims = [] if found.claims is None else [found.claims]
        return [*found.stated, *claims, *found.renamed, *found.incidents, *found.warnings]
