"""What tests of policies share: short ways to state a policy and to check it."""

from typing import Any

from tests.contract.door import Door

Json = dict[str, Any]


def policy(subject: Json, resource: Json, effect: str = "allow", **fields: Any) -> Json:
    return {
        "name": fields.pop("name", f"{effect} {resource}"),
        "subjects": [subject],
        "resources": [resource],
        "actions": fields.pop("actions", ["READ"]),
        "effect": effect,
        **fields,
    }


def create(door: Door, path: str, body: Json) -> Json:
    answer = door.http.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def check(door: Door, principal: Any, asset: str, action: str = "READ", **fields: Any) -> Json:
    return decisions(door, [{"principal": principal, "action": action, "asset_id": asset, **fields}])[0]


def decisions(door: Door, checks: list[Json], **fields: Any) -> list[Json]:
    answer = door.http.post("/policy/check", json={"checks": checks, **fields})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["decisions"])


def effect(door: Door, principal: Any, asset: str, action: str = "READ", **fields: Any) -> str:
    return str(check(door, principal, asset, action, **fields)["effect"])
