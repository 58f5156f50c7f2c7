"""The behaviour of an intake."""

from collections.abc import Sequence
from random import Random
from typing import Any

from lily.incidents.events import IncidentEvent, read_incident_event
from lily.incidents.statements import read_statement
from lily.incidents.transitions import TransitionEvent
from lily.model.columns import ColumnsEvent, events_of, read_asset_record
from lily.model.directory import UserEvent
from lily.model.edges import ClaimsEvent, EdgeEvent, read_claims_event, read_edge_event
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.values import Checker
from lily.plugins.groups import INTAKES
from lily.plugins.intakes import Delivery, Event, Sender
from lily.testing.suite import ConfiguredSuite, damaged, failure

SENDER = Sender("suite", "sender", correlation="suite-1")
OTHER = Sender("other-tenant", "sender")
OF_WEBHOOKS = (IncidentEvent, TransitionEvent, UserEvent)
SECRET, NEW_SECRET = b"the secret of the suite", b"the next secret of the suite"


class IntakeSuite(ConfiguredSuite):
    """Override `settings` and `deliveries`; for a format that is signed, also `signed`."""

    group = INTAKES
    signs_the_body = True  # False: senders only show the secret

    def deliveries(self) -> Sequence[Delivery]:
        raise NotImplementedError("return deliveries as the other system sends them, from which events follow")

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery | None:  # noqa: ARG002 - for those that override it
        """The delivery with the signature that the other system would add. None: the format has no signature."""
        return None

    def events(self, delivery: Delivery, sender: Sender = SENDER) -> list[Event]:
        intake = self.made()
        found = [event for item in intake.decode(delivery) for event in intake.events(item, delivery, sender)]
        return [event for event in found if not isinstance(event, Problem)]

    def test_a_delivery_becomes_events(self) -> None:
        for delivery in self.deliveries():
            assert self.events(delivery), f"nothing follows from {delivery.body[:200]!r}"

    def test_the_pipeline_accepts_its_events(self) -> None:
        for delivery in self.deliveries():
            for event in self.events(delivery):
                error = failure(_read, event, delivery.received)
                assert error is None, f"the pipeline refuses {event}: {error}"

    def test_every_event_belongs_to_its_sender(self) -> None:
        for delivery in self.deliveries():
            for event in self.events(delivery):
                assert event.tenant == SENDER.tenant, f"the tenant is the sender's, not {event.tenant!r}"
                assert event.correlation == SENDER.correlation, "the correlation id of the sender is lost"
                by = _author(event)
                # A person of the other system is named behind the system: slack:zoe.
                stated = by.partition(":")[0] if isinstance(event, TransitionEvent) else by
                assert stated == SENDER.by, f"stated by {by!r} instead of the sender"

    def test_two_tenants_share_no_asset(self) -> None:
        for delivery in self.deliveries():
            assets, others = _asset_ids(self.events(delivery)), _asset_ids(self.events(delivery, OTHER))
            assert not assets & others, "the same asset in two tenants"

    def test_event_ids_are_unique(self) -> None:
        """A repeated delivery states the same again: if an id repeated, one of two changes would be lost."""
        for delivery in self.deliveries():
            events = self.events(delivery)
            ids = [event.id for event in events if isinstance(event, AssetEvent | ColumnsEvent)]
            assert len(ids) == len(set(ids)), "two events of one delivery have the same id"

    def test_a_repeated_delivery_states_the_same_incidents(self) -> None:
        """A webhook is delivered again when the sender missed the response: that must not be another message."""
        for delivery in self.deliveries():
            later = Delivery(delivery.body, delivery.headers, "2100-01-01T00:00:00.000000Z")
            ids = [event.id for event in self.events(delivery) if isinstance(event, OF_WEBHOOKS)]
            assert ids == [event.id for event in self.events(later) if isinstance(event, OF_WEBHOOKS)]
            others = {event.id for event in self.events(delivery, OTHER) if isinstance(event, OF_WEBHOOKS)}
            assert not others.intersection(ids), "the same message in two tenants"
            assert len(ids) == len(set(ids)), "two statements of one delivery have the same id"

    def test_what_cannot_be_read_is_refused(self) -> None:
        random = Random(0)  # noqa: S311 - the same damage every time
        bodies = [b"", b"null", b"7", b"[]", b"{}", b'"text"', b"[null]", b"\xff\xfe", random.randbytes(1_000)]
        for body in bodies + damaged([delivery.body for delivery in self.deliveries()], random):
            delivery = Delivery(body, {}, self.deliveries()[0].received)
            error = failure(self.events, delivery)
            assert error is None or isinstance(error, Refused), f"{error!r} of {body[:100]!r}; raise Refused"

    def test_only_a_good_signature_is_verified(self) -> None:
        intake = self.made()
        for delivery in self.deliveries():
            assert intake.verify(delivery, [SECRET]) is False, "a delivery without signature was verified"
            signed = self.signed(delivery, SECRET)
            if signed is None:
                continue
            assert intake.verify(signed, [SECRET]) is True, "a good signature was not verified"
            assert intake.verify(signed, [NEW_SECRET, SECRET]) is True, "not every secret was tried"
            assert intake.verify(signed, [NEW_SECRET]) is False, "another secret's signature was verified"
            assert intake.verify(signed, []) is False, "verified without a secret"
            forged = Delivery(signed.body + b" ", signed.headers, signed.received)
            assert intake.verify(forged, [SECRET]) is not self.signs_the_body, "a changed body was verified"


def _author(event: Event) -> str:
    named = ClaimsEvent | ColumnsEvent | TransitionEvent | UserEvent
    return event.by if isinstance(event, named) else event.statement.by


def _asset_ids(events: Sequence[Event]) -> set[str]:
    stated = (event for event in events if isinstance(event, AssetEvent | ColumnsEvent))
    return {event.asset_id for one in stated for event in events_of(one)}


def _read(event: Event, received: str) -> Any:
    if isinstance(event, TransitionEvent):
        return read_statement(event.stated_of("suite", "1").statement.as_data())
    if isinstance(event, UserEvent):
        checker = Checker()
        checker.name(event.user, "user")
        if checker.problems:
            raise Refused(*checker.problems)
        return event
    if isinstance(event, AssetEvent | ColumnsEvent):
        return read_asset_record(event.as_cloudevent(), received=received)
    if isinstance(event, IncidentEvent):
        return read_incident_event(event.as_cloudevent(), received=received)
    if isinstance(event, EdgeEvent):
        return read_edge_event(event.as_cloudevent(), received=received)
    return read_claims_event(event.as_cloudevent(), received=received)
