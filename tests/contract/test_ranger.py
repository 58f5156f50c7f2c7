"""`GET /enforce/ranger/…`: what Ranger plug-ins download, by header and by key, now and after a change."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from lily.store.postgres.access.administration import create_token, revoke_token
from tests.contract.access import create, policy
from tests.contract.door import Door, codes
from tests.contract.flows import connect, propagate
from tests.extra_api import until
from tests.ranger_engine import RangerEngine

pytestmark = pytest.mark.campaign  # it waits for documents again and again

PEOPLE = ("memory", "default", "people")
TABLE = ".".join(PEOPLE)
EMAIL = (*PEOPLE, "email")
POLICIES, TAGS, ROLES = "plugins/policies/download", "tags/download", "roles/download"
VERSIONS = {POLICIES: "policyVersion", TAGS: "tagVersion", ROLES: "roleVersion"}
KNOWN = {POLICIES: "lastKnownVersion", TAGS: "lastKnownVersion", ROLES: "lastKnownRoleVersion"}


@dataclass(frozen=True)
class Plugin:
    """A plug-in with a key in its address."""

    door: Door
    key: str

    def get(
        self, address: str, service: str = "trino", key: str | None = None, known: int | None = None
    ) -> httpx.Response:
        parameters = {"pluginId": "trino@host-trino", "clusterName": "", "pluginCapabilities": "7ffff"}
        parameters |= {} if known is None else {KNOWN[address]: str(known)}
        url = f"{self.door.stack.url}/enforce/ranger/k/{key or self.key}/service/{address}/{service}"
        return httpx.get(url, params=parameters, timeout=60)

    def document(self, address: str, service: str = "trino") -> dict[str, Any]:
        answer = self.get(address, service)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def engine(self, service: str = "trino") -> RangerEngine:
        return RangerEngine(self.document(POLICIES, service), self.document(ROLES, service))

    def tags(self, service: str = "trino") -> dict[str, list[str]]:
        """By name of the table or column."""
        found = self.document(TAGS, service)
        listed = {}
        for resource in found["serviceResources"]:
            path = [resource["resourceElements"][level]["values"][0] for level in resource["resourceElements"]]
            ids = found["resourceToTagIds"][str(resource["id"])]
            listed[".".join(path)] = [found["tags"][str(number)]["type"] for number in ids]
        return listed


@pytest.fixture
def plugin(door: Door) -> Plugin:
    """Ann reads everything in `memory`, and what is personal only masked."""
    for name, kind, parent in (
        ("memory", "database", ""),
        ("memory.default", "schema", "memory"),
        (TABLE, "table", "memory.default"),
    ):
        door.ingest(name, kind, **({"parent": parent} if parent else {}))
    door.ingest(f"{TABLE}.email", "column", parent=TABLE, data_type="varchar(40)")
    create(door, "/policies", policy({"user": "ann"}, {"asset": "memory"}))
    create(door, "/policies", policy({"user": "*"}, {"tag": "PII"}, "mask", mask="show-last-4"))
    return Plugin(door, create_token(door.stack.database, door.tenant, ["enforce:read"], user="trino"))


def test_a_tag_that_arrives_by_lineage_masks_the_column_and_is_downloaded(plugin: Plugin) -> None:
    door = plugin.door
    source = door.ingest("crm.persons.mail", "column")
    connect(door, (source, f"{TABLE}.email"))
    propagate(door)
    # The lake has yet to report the parents of new columns; until then, tags might be on their way.
    until(lambda: plugin.engine().mask(EMAIL, "ann") is None and plugin.tags() == {}, 60)
    assert plugin.engine().allows("select", EMAIL, "ann")
    door.change("POST", f"/metadata/{source}/tags", {"tag": "PII"})
    propagate(door)
    until(lambda: plugin.tags() == {f"{TABLE}.email": ["PII"]}, 60)
    engine = plugin.engine()
    assert "lpad" in str(engine.mask(EMAIL, "ann"))
    assert engine.mask((*PEOPLE, "id"), "ann") is None
    assert engine.allows("select", (*PEOPLE, "id"), "ann")
    assert not engine.allows("select", EMAIL, "bob")
    door.change("DELETE", f"/metadata/{source}/tags/PII")
    propagate(door)
    until(lambda: plugin.engine().mask(EMAIL, "ann") is None and plugin.tags() == {}, 60)


def test_a_column_that_was_never_ingested_masks_every_column_that_is_not_listed(plugin: Plugin) -> None:
    """An edge has the id of its end and not the name, so which of the columns it is cannot be said."""
    door = plugin.door
    source = door.ingest("crm.persons", "table", tags=["PII"])
    until(lambda: plugin.engine().mask((*PEOPLE, "phone"), "ann") is None, 60)
    connect(door, (source, f"{TABLE}.phone"))
    propagate(door)
    until(lambda: plugin.engine().mask((*PEOPLE, "phone"), "ann") == "NULL", 60)
    assert plugin.engine().mask(EMAIL, "ann") is None
    door.ingest(f"{TABLE}.phone", "column", parent=TABLE, data_type="text")
    until(lambda: "lpad" in str(plugin.engine().mask((*PEOPLE, "phone"), "ann")), 60)
    assert plugin.engine().mask((*PEOPLE, "id"), "ann") is None


def test_columns_are_found_by_name_in_any_case_and_without_a_parent(plugin: Plugin) -> None:
    """Without a parent a column is below what its name begins with, so Ann may read these, masked. Of which type they
    are is not known, and so they are null."""
    door = plugin.door
    door.ingest(f"{TABLE}.IBAN", "column", tags=["PII"])
    door.ingest("MEMORY.default.People.Phone", "column", tags=["PII"])
    door.ingest("memory.default.ORDERS", "table", parent="memory.default")
    door.ingest("memory.default.ORDERS.Card", "column", parent="memory.default.ORDERS", tags=["PII"])
    orders = ("memory", "default", "orders")
    until(lambda: plugin.engine().mask((*orders, "card"), "ann") is not None, 60)
    engine = plugin.engine()
    assert [engine.mask((*PEOPLE, column), "ann") for column in ("iban", "phone")] == ["NULL", "NULL"]
    assert [engine.allows("select", (*PEOPLE, column), "bob") for column in ("iban", "phone")] == [False, False]
    assert engine.allows("select", (*PEOPLE, "iban"), "ann")
    assert engine.allows("select", (*PEOPLE, "id"), "ann")
    assert engine.allows("select", (*orders, "id"), "ann")


def test_a_deleted_column_keeps_its_mask(plugin: Plugin) -> None:
    door = plugin.door
    phone = door.ingest(f"{TABLE}.phone", "column", parent=TABLE, tags=["PII"])
    door.change("DELETE", f"/metadata/{phone}")
    until(lambda: plugin.engine().mask((*PEOPLE, "phone"), "ann") is not None, 60)


def test_decisions_follow_groups_roles_users_and_mappings(plugin: Plugin) -> None:
    door = plugin.door
    create(door, "/roles", {"name": "analyst", "groups": ["BI"]})
    create(door, "/users", {"name": "Eve", "roles": ["analyst"]})
    create(door, "/policies", policy({"role": "analyst"}, {"asset": TABLE}))
    create(door, "/policies", policy({"user": "eve"}, {"asset": TABLE}, "row-filter", row_filter="country = 'DE'"))
    mapping = {"name": "m", "data_source": "pg", "engine_name": "pg.public", "asset_name": "memory.default"}
    create(door, "/engine-mappings", mapping)
    until(lambda: plugin.engine().allows("select", ("pg", "public", "people"), "eve"), 60)
    engine = plugin.engine()
    assert engine.allows("select", EMAIL, "zoe", ["bi"])
    assert not engine.allows("select", EMAIL, "zoe", ["bo"])
    assert engine.row_filter(PEOPLE, "eve") == "(country = 'DE')"
    assert engine.row_filter(PEOPLE, "zoe", ["bi"]) is None
    assert door.http.post("/users/eve/disable").is_success
    until(lambda: not plugin.engine().allows("select", EMAIL, "eve"), 60)
    assert not plugin.engine().allows_on("execute", {"queryid": "1"}, "eve")


@pytest.mark.parametrize("address", [POLICIES, TAGS, ROLES])
def test_a_plug_in_that_has_the_version_is_answered_304(plugin: Plugin, address: str) -> None:
    version = plugin.document(address)[VERSIONS[address]]
    same = plugin.get(address, known=version)
    assert (same.status_code, same.content) == (304, b"")
    assert plugin.get(address, known=-1).status_code == 200
    assert plugin.get(address, known=version + 1).status_code == 200


def test_a_version_changes_with_the_content_and_with_nothing_else(plugin: Plugin) -> None:
    door = plugin.door
    version = plugin.document(POLICIES)["policyVersion"]
    door.ingest("elsewhere.notes", "table", description="no policy is about it")
    made = create(door, "/policies", policy({"user": "bob"}, {"asset": TABLE}))
    until(lambda: plugin.engine().allows("select", EMAIL, "bob"), 60)
    assert plugin.document(POLICIES)["policyVersion"] != version
    assert door.http.delete(f"/policies/{made['id']}").is_success
    door.http.delete("/metadata/elsewhere.notes")
    until(lambda: plugin.document(POLICIES)["policyVersion"] == version, 60)


def test_the_addresses_for_kerberos_and_a_token_in_the_header_serve_the_same(plugin: Plugin) -> None:
    policies = plugin.document(POLICIES)
    assert plugin.document("plugins/secure/policies/download") == policies
    assert plugin.document("tags/secure/download") == plugin.document(TAGS)
    assert plugin.document("roles/secure/download") == plugin.document(ROLES)
    with plugin.door.limited("enforce:read") as caller:
        assert caller.http.get(f"/enforce/ranger/service/{POLICIES}/trino").json() == policies


def test_a_service_is_a_data_source_or_all_of_them(plugin: Plugin) -> None:
    door = plugin.door
    door.ingest("hive.default.clicks", "table", data_source="Hive")
    create(door, "/policies", policy({"user": "ann"}, {"asset": "hive.default.clicks"}))
    clicks = ("hive", "default", "clicks")
    until(lambda: plugin.engine().allows("select", clicks, "ann"), 60)
    assert plugin.engine("hive").allows("select", clicks, "ann")
    assert plugin.document(POLICIES, "hive")["serviceName"] == "hive"
    assert not plugin.engine("hive").allows("select", PEOPLE, "ann")
    unknown = plugin.get(POLICIES, "nothing-of-that-name")
    assert (unknown.status_code, codes(unknown)) == (404, {"NOT_FOUND"})
    assert "ranger.service.name" in unknown.text


def test_what_cannot_be_translated_is_an_error(plugin: Plugin) -> None:
    """The name of the asset is not known, so neither is the column that may not be read."""
    unknown = "0b54ac2f-4b9b-4c4b-9f0e-2f6f2f6f2f6f"
    create(plugin.door, "/policies", policy({"user": "*"}, {"asset": unknown}, "deny"))
    until(lambda: plugin.get(POLICIES).status_code == 503, 60)
    assert codes(plugin.get(POLICIES)) == {"CANNOT_TRANSLATE"}


def test_many_plug_ins_at_once_get_the_same(plugin: Plugin) -> None:
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: plugin.document(POLICIES), range(40)))
    assert all(one == found[0] for one in found)


def test_a_revoked_key_is_refused(plugin: Plugin) -> None:
    assert plugin.get(POLICIES).status_code == 200
    (key_id,) = plugin.door.token_ids("trino")
    assert revoke_token(plugin.door.stack.database, key_id)
    until(lambda: plugin.get(POLICIES).status_code == 401, 5)


def test_a_key_with_another_scope_is_refused(plugin: Plugin) -> None:
    other = create_token(plugin.door.stack.database, plugin.door.tenant, ["metadata:read"])
    assert plugin.get(POLICIES, key=other).status_code == 403
    assert plugin.get(POLICIES, key=plugin.door.token).status_code == 403


def test_another_tenants_key_sees_nothing_of_this_one(
    plugin: Plugin, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    other = create_token(plugin.door.stack.database, make_tenant()[0], ["enforce:read"])
    for address in (POLICIES, TAGS, ROLES):
        assert plugin.get(address).status_code == 200
        seen = plugin.get(address, key=other)
        assert seen.status_code == 200
        assert not any(word in seen.text for word in ("people", "ann", "memory"))
