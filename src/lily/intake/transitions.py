"""What people state about incidents in Slack and Jira, where an incident is known by its id."""

from collections.abc import Iterable
from typing import Any, Literal

from lily.incidents import TransitionEvent, content_id
from lily.intake.reading import part, text
from lily.model.ids import looks_like_uuid
from lily.model.values import MAX_NAME
from lily.plugins import Delivery, Event, Sender

NewState = Literal["acknowledged", "resolved"]


def transitions(
    incidents: Iterable[str], state: NewState, by: str, delivery: Delivery, sender: Sender, *, note: str = ""
) -> list[Event]:
    """One event for each of the ids; what is not an id is left out. The event ids follow from the delivery."""
    named = dict.fromkeys(one.lower() for one in incidents if looks_like_uuid(one))
    event_id = content_id(sender.tenant, sender.by, delivery.body)
    return [
        TransitionEvent(
            event_id if number == 0 else f"{event_id}-{number}",
            delivery.received,
            sender.tenant,
            incident,
            state,
            by,
            note=note,
            correlation=sender.correlation,
            trace=sender.trace,
        )
        for number, incident in enumerate(named)
    ]


def person(user: Any, fields: Iterable[str], sender: Sender) -> str:
    """A person of the other system, named behind it: `slack:zoe`. The first field that has a name counts."""
    names = (text(part(user, field), MAX_NAME // 2) for field in fields)
    return f"{sender.by}:{next((name for name in names if name), 'unknown')}"
