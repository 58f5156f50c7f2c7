"""What an OpenLineage event carries of the rights of its sender, for what is decided after it was accepted."""

from dataclasses import replace

from lily.intake.openlineage.schemas import of_sender
from lily.model.access import Principal
from lily.model.edges import ClaimsEvent
from lily.model.run_queries import QuerySender
from lily.model.table_changes import SenderLimits


def limited(event: ClaimsEvent, principal: Principal) -> ClaimsEvent:
    """The event of a principal whom policies restrict. What follows from missing scopes the event has already."""
    sender = QuerySender(principal.user, tuple(sorted(principal.groups)), principal.scraper_group)
    if event.query is not None:
        event = replace(event, query=event.query._replace(sender=sender))
    if not (event.schemas or any(event.tables)):
        return event
    known = event.tables.limits
    limits = SenderLimits(sender, known is not None and known.own_only)
    schemas = event.schemas if known is not None else of_sender(event.schemas, principal.name)
    return replace(event, tables=event.tables._replace(limits=limits), schemas=schemas)
