"""What the API's role reads of incidents: filtered, paged, and of its tenant alone."""

import psycopg
import pytest

from lily.incidents import incident_id
from lily.store.postgres.incidents import reader
from lily.store.postgres.incidents.reader import Object, Place, Wanted
from tests.postgres.incidents import IncidentWorld, monte_carlo
from tests.postgres.migrated import Migrated


@pytest.fixture
def told(incidents: IncidentWorld) -> IncidentWorld:
    """Six incidents, a day apart; two of them on the same asset."""
    incidents.world.asset("shop.orders")
    for number in range(1, 7):
        said = monte_carlo(
            str(number),
            state="resolved" if number % 2 else "open",
            severity="critical" if number == 4 else None,
            title=f"Late rows {number}",
            tables=("shop.orders",) if number in {2, 5} else (f"unknown.t{number}",),
        )
        incidents.handle(incidents.event(said, f"2026-01-0{number}T00:00:00.000000Z"))
    return incidents


def listed(
    migrated: Migrated, tenant: str, wanted: Wanted, after: Place | None = None, limit: int = 10
) -> list[Object]:
    return migrated.as_api(lambda database: reader.page(database, tenant, wanted, after, limit))


def numbers(items: list[Object]) -> str:
    return "".join(item["external_id"] for item in items)


def test_incidents_are_read_newest_first_and_by_every_filter(migrated: Migrated, told: IncidentWorld) -> None:
    orders = told.world.id_of("shop.orders")
    expected = {
        Wanted(): "654321",
        Wanted(state="open"): "642",
        Wanted(severity="critical"): "4",
        Wanted(source="quality"): "",
        Wanted(asset=orders): "52",
        Wanted(state="open", asset=orders): "2",
        Wanted(q="LATE 3"): "3",
        Wanted(q="late%"): "654321",
        Wanted(q="nothing"): "",
    }
    assert {wanted: numbers(listed(migrated, told.tenant, wanted)) for wanted in expected} == expected
    assert listed(migrated, "another-tenant", Wanted()) == []


def test_what_incidents_concern_is_read_by_name_of_the_tenant_alone(migrated: Migrated, told: IncidentWorld) -> None:
    known = {number: incident_id(told.tenant, "monte-carlo", number) for number in ("1", "2", "5")}
    orders = {known["1"]: set(), known["2"]: {"shop.orders"}, known["5"]: {"shop.orders"}}

    def concerned(tenant: str) -> dict[str, set[str]]:
        return migrated.as_api(lambda database: reader.concerned(database, tenant, known.values()))

    assert concerned(told.tenant) == orders
    assert concerned("another-tenant") == {}


def test_pages_follow_each_other_without_gap_or_repetition(migrated: Migrated, told: IncidentWorld) -> None:
    found, after = "", None
    while page := listed(migrated, told.tenant, Wanted(), after, limit=4):
        found += numbers(page)
        after = (page[-1]["opened_at"], page[-1]["incident_id"])
    assert found == "654321"


def test_one_incident_is_read_with_its_assets_names_and_history(migrated: Migrated, told: IncidentWorld) -> None:
    two, three = (incident_id(told.tenant, "monte-carlo", number) for number in "23")
    found = migrated.as_api(lambda database: reader.find(database, told.tenant, two))
    assert found is not None
    assert found["assets"] == [
        {"metadata_id": told.world.id_of("shop.orders"), "entity_type": "table", "qualified_name": "shop.orders"}
    ]
    other = migrated.as_api(lambda database: reader.find(database, told.tenant, three))
    assert other is not None
    assert (other["unmatched"], other["resolved_at"]) == (["unknown.t3"], "2026-01-03T00:00:00.000000Z")
    (entry,) = migrated.as_api(lambda database: reader.history(database, told.tenant, three))
    assert entry["change"]["title"] == "Late rows 3"
    merged = (
        migrated.as_api(lambda database: reader.is_merged(database, told.tenant, three, entry["event_id"])),
        migrated.as_api(lambda database: reader.is_merged(database, told.tenant, two, entry["event_id"])),
        migrated.as_api(lambda database: reader.find(database, "another-tenant", two)),
    )
    assert merged == (True, False, None)


def test_the_api_reads_incidents_and_writes_none(migrated: Migrated, told: IncidentWorld) -> None:
    with psycopg.connect(migrated.url_of("lily_api")) as connection:
        connection.execute("select set_config('lily.tenant', %s, true)", [told.tenant])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("update incidents set state = 'resolved' where tenant_id = %s", [told.tenant])
