"""Deliveries as Okta's event hooks send them."""

import uuid
from typing import Any


def delivery(*events: dict[str, Any]) -> dict[str, Any]:
    return {
        "eventType": "com.okta.event_hook",
        "eventTypeVersion": "1.0",
        "cloudEventsVersion": "0.1",
        "source": "https://example.okta.com/api/v1/eventHooks/who8vt36qfNpCGz9H1e6",
        "eventId": str(uuid.uuid4()),
        "data": {"events": list(events)},
    }


def lifecycle(kind: str, user: str, published: str) -> dict[str, Any]:
    return _event(f"user.lifecycle.{kind}", published, [_user(user)])


def membership(change: str, user: str, group: str, published: str) -> dict[str, Any]:
    targets = [_user(user), {"id": "00g1", "type": "UserGroup", "alternateId": "unknown", "displayName": group}]
    return _event(f"group.user_membership.{change}", published, targets)


def _user(login: str) -> dict[str, Any]:
    return {"id": "00u1", "type": "User", "alternateId": login, "displayName": "Zoe Smith", "detailEntry": None}


def _event(kind: str, published: str, targets: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "uuid": str(uuid.uuid4()),
        "published": published,
        "eventType": kind,
        "version": "0",
        "severity": "INFO",
        "legacyEventType": None,
        "displayMessage": "An event",
        "actor": {"id": "00u2", "type": "User", "alternateId": "admin@example.org", "displayName": "An admin"},
        "outcome": {"result": "SUCCESS", "reason": None},
        "target": targets,
    }
