"""What a person states about an incident in another system, where only the incident's id is known."""

from dataclasses import dataclass, field
from typing import Literal

from lily.incidents.events import IncidentEvent
from lily.incidents.statements import BY_A_PERSON, IncidentStatement
from lily.model.events import LogEvent


@dataclass(frozen=True, slots=True)
class TransitionEvent(LogEvent):
    """It is never in the log itself: it follows from a webhook, and becomes a statement once the incident is found."""

    incident_id: str
    state: Literal["acknowledged", "resolved"]
    by: str
    note: str = field(default="", kw_only=True)

    def stated_of(self, source: str, external_id: str) -> IncidentEvent:
        """As a statement about the incident that has the id."""
        said = IncidentStatement(source, external_id, self.state, rank=BY_A_PERSON, by=self.by, note=self.note)
        return IncidentEvent(self.id, self.time, self.tenant, said, correlation=self.correlation, trace=self.trace)
