"""Incidents, and the secrets of the webhooks that report them."""

from typing import Any

from lily.client import parsing
from lily.client.call import Call, path
from lily.client.encoding import encoded
from lily.client.results import Page

_INCIDENTS, _SECRETS = "incidents", "webhook-secrets"


def incidents(
    *,
    state: str | None = None,
    severity: str | None = None,
    source: str | None = None,
    asset: str | None = None,
    q: str | None = None,
    page_size: int = 100,
) -> Call[Page[dict[str, Any]]]:
    """Iterates over the incidents, the newest first. Needs the scope incidents:read."""
    given = {"state": state, "severity": severity, "source": source, "asset": asset, "q": q, "limit": str(page_size)}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Call("GET", path(_INCIDENTS), parsing.page_of(dict), chosen)


def incident(incident_id: str) -> Call[dict[str, Any]]:
    """Returns one incident with its assets, links and history. Needs the scope incidents:read."""
    return Call("GET", path(_INCIDENTS, incident_id), parsing.one(dict))


def acknowledge_incident(incident_id: str, *, note: str = "") -> Call[dict[str, Any]]:
    """States that somebody takes care of an incident, and returns it. Needs the scope incidents:write."""
    return _stated(incident_id, "acknowledge", note)


def resolve_incident(incident_id: str, *, note: str = "") -> Call[dict[str, Any]]:
    """States that an incident is over, and returns it. Needs the scope incidents:write."""
    return _stated(incident_id, "resolve", note)


def put_webhook_secret(source: str, secret: str, *, keep_previous_for: int | None = None) -> Call[dict[str, Any]]:
    """Sets the secret with which a source signs its webhooks; the one before stays valid for so many seconds, a day
    unless stated. Needs the scope admin."""
    kept = {} if keep_previous_for is None else {"keep_previous_for": keep_previous_for}
    return Call("PUT", path(_SECRETS, source), parsing.one(dict), content=encoded({"secret": secret, **kept}))


def webhook_secrets() -> Call[Page[dict[str, Any]]]:
    """Iterates over the sources that have a secret: since when, never the secret. Needs the scope admin."""
    return Call("GET", path(_SECRETS), parsing.page_of(dict))


def remove_webhook_secret(source: str) -> Call[dict[str, Any]]:
    """Removes all secrets of a source, so that its webhooks are refused. Needs the scope admin."""
    return Call("DELETE", path(_SECRETS, source), parsing.one(dict))


def _stated(incident_id: str, verb: str, note: str) -> Call[dict[str, Any]]:
    content = encoded({"note": note})
    return Call("POST", path(_INCIDENTS, incident_id, verb), parsing.one(dict), content=content)
