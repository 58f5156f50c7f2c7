"""Every promise that the suite of intakes tests is broken here once, and the suite notices."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lily.incidents import IncidentEvent, IncidentStatement
from lily.model import ids
from lily.plugins import Delivery, Sender
from lily.testing import IntakeSuite
from tests.sample_plugins.tickets import Tickets
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, NoMethods, promises_of, run


class NoEvents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:  # noqa: ARG002
        return []


class FutureEvents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return [replace(event, time="2999-01-01T00:00:00.000000Z") for event in super().events(item, delivery, sender)]


class OneTenant(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return super().events(item, delivery, replace(sender, tenant="everyone"))


class SameIds(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return [replace(event, id="1") for event in super().events(item, delivery, sender) * 2]


class NewIncidents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        said = IncidentStatement("tickets", str(item), by=sender.by)
        return [IncidentEvent(ids.event_id(), delivery.received, sender.tenant, said)]


class RaisesOnGarbage(Tickets):
    def decode(self, delivery: Delivery) -> list[Any]:
        return [json.loads(delivery.body)]


class TrustsAll(Tickets):
    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:  # noqa: ARG002
        return True


class TriesOneSecret(Tickets):
    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        return super().verify(delivery, secrets[:1])


class CarelessTickets(Tickets):
    Config = Careless  # type: ignore[assignment]


INTAKES: list[Broken] = [
    (NoMethods, "test_the_class_satisfies_its_port"),
    (CarelessTickets, "test_a_misspelt_setting_is_refused"),
    (NoEvents, "test_a_delivery_becomes_events"),
    (FutureEvents, "test_the_pipeline_accepts_its_events"),
    (OneTenant, "test_every_event_belongs_to_its_sender"),
    (OneTenant, "test_two_tenants_share_no_asset"),
    (SameIds, "test_event_ids_are_unique"),
    (NewIncidents, "test_a_repeated_delivery_states_the_same_incidents"),
    (RaisesOnGarbage, "test_what_cannot_be_read_is_refused"),
    (TrustsAll, "test_only_a_good_signature_is_verified"),
    (TriesOneSecret, "test_only_a_good_signature_is_verified"),
]


@pytest.mark.parametrize("broken", INTAKES, ids=str)
def test_the_suite_of_intakes_notices(broken: Broken) -> None:
    run(test_suites_on_plugins.TestTickets, broken)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(IntakeSuite) == {test for _, test in INTAKES}
