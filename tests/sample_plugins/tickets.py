"""An intake for the signed webhook of a ticket system: `{"table": NAME, "owner": NAME}`."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from lily.model import ids
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.plugins import Delivery, Event, Sender

SIGNATURE = "x-signature"


class TicketsConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Tickets:
    Config = TicketsConfig

    def __init__(self, config: TicketsConfig) -> None:
        self._config = config

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        shown = delivery.headers.get(SIGNATURE, "")
        return any(hmac.compare_digest(shown, signature(delivery.body, secret)) for secret in secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        try:
            return [json.loads(delivery.body)]
        except ValueError as error:
            raise Refused(Problem("MALFORMED_JSON", str(error), "body")) from error

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        if not isinstance(item, dict):
            raise Refused(Problem("INVALID_TYPE", "a ticket is an object", "body"))
        attributes = {"name": item.get("table"), "qualified_name": item.get("table"), "owner": item.get("owner")}
        stated = {"layer": "source", "entity_type": "table", "attributes": attributes, "by": sender.by}
        statement = read_statement(stated, tenant=sender.tenant)
        return [AssetEvent(ids.event_id(), delivery.received, sender.tenant, statement, correlation=sender.correlation)]


def signature(body: bytes, secret: bytes) -> str:
    return hmac.new(secret, body, hashlib.sha256).hexdigest()
