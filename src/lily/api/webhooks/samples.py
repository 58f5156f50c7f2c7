"""Shows what a mapping makes of a sample, without storing anything."""

from typing import Any

from lily.incidents import SeriesPassed
from lily.intake.mapped import Mapped
from lily.model import clock
from lily.model.errors import Refused
from lily.plugins import Delivery, Sender

Object = dict[str, Any]


def tested(mapped: Mapped, tenant: str, body: bytes) -> list[Object]:
    """One object per item. Raises Refused for a body that cannot be read at all."""
    delivery, sender = Delivery(body, {}, clock.now()), Sender(tenant, mapped.mapping.name)
    return [_shown(mapped, item, delivery, sender) for item in mapped.decode(delivery)]


def _shown(mapped: Mapped, item: Any, delivery: Delivery, sender: Sender) -> Object:
    try:
        outcome = mapped.outcome(item, delivery, sender)
    except Refused as error:
        problems = [{"code": one.code, "description": one.description, "entity": one.entity} for one in error.problems]
        return {"outcome": "refused", "errors": problems}
    if outcome.event is None:
        return {"outcome": "ignored", "reason": outcome.ignored}
    kind = "passed" if isinstance(outcome.event.statement, SeriesPassed) else "incident"
    statement = {name: value for name, value in outcome.event.statement.as_data().items() if name != "raw"}
    return {"outcome": kind, "time": outcome.event.time, "statement": statement}
