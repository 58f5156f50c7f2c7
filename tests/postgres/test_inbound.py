"""What Jira, Slack and mapped sources send, in a real PostgreSQL: states of incidents, series, and stored mappings."""

import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from lily.api.webhooks.secrets import WebhookSecrets
from lily.bus import topics
from lily.incidents import WebhookEvent, incident_id
from lily.intake.mapped import Mapped
from lily.model import clock
from lily.model.access import Principal
from lily.model.errors import Refused
from lily.reactions.base import Event
from lily.store.postgres.sessions import Database
from lily.store.postgres.webhook_mappings.mappings import change_mapping, find_mapping, mappings_of
from tests.api_database import Result
from tests.postgres.incidents import IncidentWorld, monte_carlo
from tests.postgres.migrated import Migrated
from tests.quality_tools import NOT_NULL, SODA_CHECK, scan, validation
from tests.signing import jira_update, slack_click

MAPPING: dict[str, Any] = {
    "name": "tickets",
    "signature": {"type": "bearer"},
    "fields": {"external_id": "$.id", "title": "$.title", "tables": "$.table"},
}


class Mappings:
    """Of one tenant, as the API changes them."""

    def __init__(self, migrated: Migrated, tenant: str) -> None:
        self._migrated, self.tenant = migrated, tenant
        self.principal = Principal("", tenant, "ann", frozenset({"admin"}))

    def run(self, story: Callable[[Database], Awaitable[Result]]) -> Result:
        return self._migrated.as_api(story)

    def change(self, how: Any, body: dict[str, Any] | None = None, name: str = "tickets") -> bool:
        return self.run(lambda database: change_mapping(database, self.principal, how, name, body))


@pytest.fixture
def mappings(incidents: IncidentWorld, migrated: Migrated) -> Mappings:
    return Mappings(migrated, incidents.tenant)


def raw(incidents: IncidentWorld, source: str, body: bytes) -> Event:
    said = WebhookEvent.of(incidents.tenant, source, {}, body, clock.now())
    return Event(topics.INCIDENTS, 0, 0, said.key, orjson.dumps(said.as_cloudevent()))


def opened(incidents: IncidentWorld) -> str:
    incidents.say(monte_carlo("1", state="open", title="Late"))
    return incident_id(incidents.tenant, "monte-carlo", "1")


def test_a_click_in_slack_and_an_issue_in_jira_change_the_incident_once(incidents: IncidentWorld) -> None:
    one = opened(incidents)
    incidents.announced()
    click = raw(incidents, "slack", slack_click(one))
    incidents.handle(click, click)
    assert incidents.incidents()["1"]["state"] == "acknowledged"
    incidents.handle(raw(incidents, "jira", jira_update(one, "done")))
    incidents.handle(raw(incidents, "jira", jira_update(one, "indeterminate")))
    assert incidents.incidents()["1"]["state"] == "resolved"
    assert [change["incident"]["state"] for change in incidents.announced()] == ["acknowledged", "resolved"]
    history = incidents.rows("select by, change from incident_history where tenant_id = %(tenant)s order by at")
    assert [row["by"] for row in history] == ["", "slack:zoe", "jira:zoe@example.org", "jira:zoe@example.org"]
    assert {row["change"]["rank"] for row in history[1:]} == {2}


def test_an_id_of_another_tenant_or_of_nothing_changes_nothing(incidents: IncidentWorld) -> None:
    foreign = opened(incidents)
    incidents.renewed()
    opened(incidents)
    incidents.handle(
        raw(incidents, "slack", slack_click(foreign)),
        raw(incidents, "jira", jira_update("0190a5b0-7b1e-8c3d-9e4f-0123456789ab", "done")),
        raw(incidents, "jira", jira_update(foreign, "new")),
    )
    assert incidents.incidents()["1"]["state"] == "open"
    assert incidents.registry.get_sample_value("lily_webhook_items_ignored_total") == 3


def test_a_validation_that_succeeds_later_resolves_what_failed(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.orders")
    days = [
        validation(NOT_NULL | {"success": success}, at=f"2026-01-0{day}T08:00:00+00:00")
        for day, success in ((1, False), (2, True), (3, False))
    ]
    for body in (days[1], days[0], days[2]):  # the success arrives first
        incidents.handle(incidents.webhook(body, "great-expectations"))
    found = incidents.incidents()
    states = {name.rpartition("@ ")[2][:10]: row["state"] for name, row in found.items()}
    assert states == {"2026-01-01": "resolved", "2026-01-03": "open"}
    assert {row["severity"] for row in found.values()} == {"critical"}


def test_a_scan_names_the_only_table_of_that_name(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.orders")
    incidents.handle(incidents.webhook(scan(SODA_CHECK), "soda"))
    (external_id,) = incidents.incidents()
    assert incidents.assets(external_id, "soda") == {"shop.public.orders"}


def test_a_tenants_own_mapping_is_used_for_its_messages_alone(incidents: IncidentWorld, mappings: Mappings) -> None:
    message = incidents.webhook({"id": 1, "title": "Late", "table": "shop.orders"}, "tickets")
    with pytest.raises(Refused, match="no mapping"):
        incidents.handle(message)
    assert mappings.change("create", MAPPING)
    incidents.handle(message)
    assert incidents.incidents()["1"]["title"] == "Late"
    incidents.renewed()
    with pytest.raises(Refused, match="no mapping"):
        incidents.handle(incidents.webhook({"id": 1}, "tickets"))


def test_a_tenants_mapping_replaces_a_shipped_one(incidents: IncidentWorld, mappings: Mappings) -> None:
    assert mappings.change("create", MAPPING | {"name": "soda"}, "soda")
    incidents.handle(incidents.webhook({"id": "mine", "checks": [SODA_CHECK]}, "soda"))
    assert list(incidents.incidents()) == ["mine"]


def test_mappings_are_created_once_replaced_and_deleted_and_audited(
    incidents: IncidentWorld, mappings: Mappings
) -> None:
    assert mappings.change("create", MAPPING)
    assert not mappings.change("create", MAPPING)
    new = MAPPING | {"description": "new"}
    assert mappings.change("replace", new)
    assert not mappings.change("replace", new, "others")
    assert mappings.run(lambda database: find_mapping(database, mappings.tenant, "tickets")) == new
    assert mappings.run(lambda database: find_mapping(database, "another", "tickets")) is None
    assert [one.body for one in mappings.run(lambda database: mappings_of(database, mappings.tenant))] == [new]
    assert mappings.change("delete")
    assert not mappings.change("delete")
    rows = incidents.rows("select action, entity from audit where tenant_id = %(tenant)s order by number")
    assert [(row["action"], row["entity"]) for row in rows[1:]] == [
        (f"webhook-mapping.{how}", "tickets") for how in ("created", "replaced", "deleted")
    ]


def test_a_tenant_has_a_limited_number_of_mappings(mappings: Mappings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lily.store.postgres.webhook_mappings.mappings.MAX_MAPPINGS", 2)
    names = ("one", "two", "three")
    assert [mappings.change("create", MAPPING | {"name": name}, name) for name in names] == [True, True, False]
    assert mappings.change("replace", MAPPING | {"name": "two"}, "two")
    assert mappings.change("delete", name="one")
    assert mappings.change("create", MAPPING | {"name": "three"}, "three")


def test_the_door_knows_a_mapping_until_it_changes(mappings: Mappings, tmp_path: Path) -> None:
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())

    async def story(database: Database) -> list[Any]:
        secrets, found = WebhookSecrets(database, key_file), []
        for how, body in (("create", MAPPING), ("replace", MAPPING | {"description": "new"}), ("delete", None)):
            await change_mapping(database, mappings.principal, how, "tickets", body)  # type: ignore[arg-type]
            secrets.invalidate(mappings.tenant)
            found.append(await secrets.intake(mappings.tenant, "tickets"))
        found.append(await secrets.intake(mappings.tenant, "soda"))
        found.append(await secrets.intake("no-such-tenant", "tickets"))
        return found

    created, replaced, deleted, soda, unknown = mappings.run(story)
    assert isinstance(created, Mapped)
    assert isinstance(replaced, Mapped)
    assert replaced.mapping.description == "new"
    assert isinstance(soda, Mapped)
    assert (deleted, unknown) == (None, None)
