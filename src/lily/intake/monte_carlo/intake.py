"""Monte Carlo as an intake: one message per delivery, about one incident."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from lily.incidents import IncidentEvent, content_id
from lily.intake.monte_carlo.messages import SOURCE, read_message
from lily.intake.monte_carlo.signatures import HEADER, is_signed
from lily.intake.reading import canonical, parsed
from lily.plugins import Delivery, Event, Sender


class MonteCarloConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MonteCarlo:
    Config = MonteCarloConfig

    def __init__(self, config: MonteCarloConfig) -> None:
        pass

    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        return is_signed(delivery.body, delivery.headers.get(HEADER, ""), secrets)

    def decode(self, delivery: Delivery) -> list[Any]:
        return [parsed(delivery.body)]

    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Event]:
        """A message carries no reliable time, so the statement has the time at which it came. Of one signature there
        can be several bodies, with blanks in other places: they are the same event."""
        statement = read_message(item, sender.by)
        event_id = content_id(sender.tenant, SOURCE, canonical(item))
        return [
            IncidentEvent(
                event_id,
                delivery.received,
                sender.tenant,
                statement,
                correlation=sender.correlation,
                trace=sender.trace,
            )
        ]
