"""What the writers say: random statements about few names, so that they meet, repeat, contradict and come late."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from lily.bus.topics import key_of
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.statements import read_statement

TAGS = ("PII", "gdpr", "Gold", "draft", "finance")
OWNERS = ("alice", "bob", "carol", None)


class Edit(NamedTuple):
    """A person's change: the request, and the statement it should become."""

    method: str
    path: str
    body: dict[str, Any] | None
    data: dict[str, Any]


class Spoiled(NamedTuple):
    """A record that the pipeline must refuse, and the code it must give."""

    key: bytes
    value: bytes
    cause: str


@dataclass(frozen=True, slots=True)
class Speaker:
    random: Random
    tenant: str
    names: int  # of how many assets it speaks

    def name(self) -> str:
        """One in three is a column: what is said of it in bulk and without a tag takes the bulk lane."""
        number = self.random.randrange(self.names)
        return f"shop.s{number % 10}.t{number}" + (".id" if number % 3 == 0 else "")

    def body(self) -> dict[str, Any]:
        """A source's statement, as `POST /ingest-metadata` takes it; three in ten come with an old time."""
        random, name = self.random, self.name()
        attributes: dict[str, Any] = {"name": name.rpartition(".")[2], "qualified_name": name}
        if random.random() < 0.6:
            attributes |= {"owner": random.choice(OWNERS), "rows": random.randrange(10**6)}
        if random.random() < 0.5:
            attributes["description"] = f'told to {self.tenant}: "é\\{random.randrange(10**6)}"\n'
        if random.random() < 0.3:
            attributes["tags"] = random.sample(TAGS, random.randint(0, 3))
        entity_type = "column" if name.endswith(".id") else random.choice(("table", "view"))
        body: dict[str, Any] = {"entity_type": entity_type, "attributes": attributes}
        if random.random() < 0.05:
            body["operation"] = "delete"
        if random.random() < 0.3:
            body["time"] = clock.stamp(datetime.now(UTC) - timedelta(seconds=random.uniform(1, 86_400)))
        return body

    def edit(self) -> Edit:
        """A person's change of an asset that may not be there yet."""
        random, name, tag = self.random, self.name(), self.random.choice(TAGS)
        path = f"/metadata/{ids.asset_id(self.tenant, name)}"
        said = {"layer": "user", "qualified_name": name}
        match random.randrange(10):
            case 0:
                return Edit("DELETE", path, None, {**said, "operation": "delete"})
            case 1:
                return Edit("POST", f"{path}/restore", None, {**said, "operation": "restore"})
            case 2 | 3 | 4:
                return Edit("POST", f"{path}/tags", {"tag": tag}, {**said, "operation": "tag", "tag": tag})
            case 5 | 6:
                return Edit("DELETE", f"{path}/tags/{tag}", None, {**said, "operation": "untag", "tag": tag})
            case _:
                attributes: dict[str, Any] = {"owner": random.choice(OWNERS)}
                if random.random() < 0.5:
                    attributes["tags"] = random.sample(TAGS, random.randint(0, 2))
                body = {"attributes": attributes}
                return Edit("PUT", path, body, {**said, "operation": "upsert", **body})

    def event(self, mark: str) -> AssetEvent:
        """A source's statement as a finished event, for a producer that writes to the log itself."""
        body = self.body()
        time = body.pop("time", None) or clock.now()
        statement = read_statement(body, tenant=self.tenant)
        return AssetEvent(ids.event_id(), time, self.tenant, statement, correlation=mark)

    def spoiled(self, mark: str) -> Spoiled:
        event = self.event(mark)
        good, key = event.as_cloudevent(), key_of(self.tenant, event.asset_id)
        later = clock.stamp(datetime.now(UTC) + timedelta(days=2))
        nameless = {key: value for key, value in good["data"].items() if key != "entity_type"}
        spoils: list[tuple[dict[str, Any], bytes, str]] = [
            ({**good, "tenantid": "nobody"}, key_of("nobody", ids.asset_id("nobody", "x")), "KEY_MISMATCH"),
            ({**good, "tenantid": "nobody"}, _key("nobody", event), "UNKNOWN_TENANT"),
            (good, key_of("default", event.asset_id), "KEY_MISMATCH"),
            ({**good, "time": later}, key, "TIME_IN_FUTURE"),
            ({**good, "data": nameless}, key, "MISSING_FIELD"),
            ({**good, "data": {**good["data"], "entity_type": "spaceship"}}, key, "UNKNOWN_ENTITY_TYPE"),
            ({**good, "data": {**good["data"], "by": "NUL \x00 inside"}}, key, "INVALID_VALUE"),
            ({**good, "data": [1, 2, 3]}, key, "INVALID_ENVELOPE"),
        ]
        if self.random.random() < 0.2:
            return Spoiled(key, f'{{"cut": "{mark}", '.encode(), "MALFORMED_JSON")
        value, place, cause = self.random.choice(spoils)
        return Spoiled(place, json.dumps(value).encode(), cause)


def stated(body: dict[str, Any]) -> dict[str, Any]:
    """The `data` of the event that a body of a source should become."""
    attributes = dict(body["attributes"])
    name = attributes.pop("qualified_name")
    return {
        "layer": "source",
        "operation": body.get("operation", "upsert"),
        "qualified_name": name,
        "entity_type": body["entity_type"],
        "attributes": attributes,
    }


def _key(tenant: str, event: AssetEvent) -> bytes:
    return key_of(tenant, ids.asset_id(tenant, event.statement.qualified_name))
