"""Signs webhooks as their senders do."""

import hashlib
import hmac
import time
from urllib.parse import urlencode

import orjson

SECRET = "a secret that only the sender knows"


def jira_headers(body: bytes, secret: str = SECRET) -> dict[str, str]:
    return {"x-hub-signature": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def slack_headers(body: bytes, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    signature = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={signature}"}


def slack_click(incident: str, user: str = "zoe", action: str = "lily.acknowledge") -> bytes:
    payload = {
        "type": "block_actions",
        "user": {"id": "U024BE7LH", "username": user, "name": user, "team_id": "T1"},
        "team": {"id": "T1", "domain": "example"},
        "trigger_id": "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
        "actions": [
            {
                "type": "button",
                "block_id": "8eN",
                "action_id": action,
                "value": incident,
                "action_ts": "1548426417.840180",
            }
        ],
    }
    return urlencode({"payload": orjson.dumps(payload).decode()}).encode()


def jira_update(incident: str, category: str, *, changes: str = "status", label: str | None = None) -> bytes:
    message = {
        "timestamp": 1525698237764,
        "webhookEvent": "jira:issue_updated",
        "issue_event_type_name": "issue_generic",
        "user": {"accountId": "99:27935d01", "displayName": "Zoe Smith", "emailAddress": "zoe@example.org"},
        "issue": {
            "id": "10148",
            "key": "OPS-7",
            "fields": {
                "summary": "No rows for 12 hours",
                "labels": ["unrelated", label if label is not None else f"lily-{incident}"],
                "status": {"name": "Erledigt", "statusCategory": {"id": 3, "key": category, "name": "Done"}},
            },
        },
        "changelog": {"id": "1", "items": [{"field": changes, "from": "1", "fromString": "Offen", "to": "10001"}]},
    }
    return orjson.dumps(message)
