"""Messages as Monte Carlo sends them, and their signatures."""

import hmac
import json
from typing import Any
from urllib.parse import urlencode

INCIDENT = "f83867b6-8f25-428b-807c-08518f63384c"
LINK = f"https://getmontecarlo.com/incidents/{INCIDENT}"
ACCOUNT = {"id": "9a59c6f1-203a-4c72-8cd7-132db7f21b92"}
RULE = {
    "comparisons": [
        {"field": None, "full_table_id": None, "metric": "custom_metric_1234", "operator": "GT", "threshold": 49.0}
    ],
    "creator_id": None,
    "description": "test rule",
    "rule_type": "custom_sql",
    "uuid": "0c8e06aa-a44b-4f2d-8a37-5ed3f394431d",
}
HITS = {"hits": [{"field": None, "measurement_timestamp": "Jan 15, 06:10PM", "timestamp": "", "value": "50.0"}]}


def message(type_: str, payload: dict[str, Any], incident: str = INCIDENT) -> dict[str, Any]:
    known = {"group_id": None, "incident_id": incident, "url": LINK}
    return {"account": ACCOUNT, "action": "incident", "payload": known | payload, "type": type_, "version": "v0.1"}


def anomaly(*tables: str | None, incident: str = INCIDENT, details: Any = "No rows for 12 hours") -> dict[str, Any]:
    events = [{"event_details": details, "table_name": table} for table in tables]
    return message("open_anomaly_incident", {"event_list": events}, incident)


def feedback(value: str, incident: str = INCIDENT) -> dict[str, Any]:
    return message("open_anomaly_incident", {"alert_feedback": value, "event_list": []}, incident)


ANOMALY = anomaly("shop:public.orders")
RULE_IN_EVENT = message(
    "open_custom_rule_anomaly_incident", {"event_list": [{"data": HITS, "rule": RULE, "table_name": None}]}
)
RULE_IN_PAYLOAD = message(
    "open_custom_rule_anomaly_incident",
    {"event_list": [{"data": HITS, "table_name": "shop:public.orders"}], "rule": RULE},
)
RESOLVED = feedback("fixed")


def signed(body: dict[str, Any], secret: str, *, url_encoded: bool = True) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a delivery: in the form of the vendor's sample, or of the raw body."""
    raw = json.dumps(body).encode()
    content = urlencode(json.loads(raw)).encode() if url_encoded else raw
    signature = hmac.new(secret.encode(), content, "sha512").hexdigest()
    return raw, {"x-mcd-signature": signature, "content-type": "application/json"}
