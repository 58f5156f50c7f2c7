"""Usage of assets, and the quality policies that watch it."""

from collections.abc import Iterable, Mapping
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded, stamped
from lily.client.results import BulkResult, DailyUsage, Page
from lily.model import ids

_POLICIES = "quality-policies"


def report_usage(events: Iterable[Mapping[str, Any]], *, wait: int | None = None) -> Call[BulkResult]:
    """Reports usage: events with `asset_id`, `query_count`, `timestamp` and `event_id`, at most 10,000.

    An event without a `timestamp` or an `event_id` gets one here, once, so a retry counts nothing twice.
    """
    body = {"events": [_identified(event) for event in events]}
    return Call("POST", "/usage", parsing.bulk, content=encoded(body), wait=wait)


def usage(id_or_name: str, *, days: int = 30) -> Call[list[DailyUsage]]:
    """Returns how many queries used an asset on each of the last days, oldest first."""
    where = path("metadata", id_or_name, "usage")
    return Call("GET", where, parsing.list_of(parsing.record(DailyUsage)), {"days": str(days)})


def quality_policies(*, page_size: int = 100) -> Call[Page[dict[str, Any]]]:
    """Iterates over the quality policies, by id. Needs the scope policy:read."""
    return Call("GET", path(_POLICIES), parsing.page_of(dict), {"limit": str(page_size)})


def create_quality_policy(policy: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Creates a quality policy with `asset`, `policy_type` and `threshold`. `warnings` of the result has what is
    unknown: an asset that nothing has ingested yet. Needs the scope policy:write."""
    content = encoded(dict(policy))
    # Not retryable: a second attempt would fail on the policy that the first one made, or make another.
    return Call("POST", path(_POLICIES), parsing.one(dict), content=content, success=CREATED, retryable=False)


def replace_quality_policy(policy_id: str, policy: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Replaces a quality policy; its assets are judged again. Needs the scope policy:write."""
    return Call("PUT", path(_POLICIES, policy_id), parsing.one(dict), content=encoded(dict(policy)))


def delete_quality_policy(policy_id: str) -> Call[None]:
    """Deletes a quality policy and resolves its findings. Needs the scope policy:write."""
    return Call("DELETE", path(_POLICIES, policy_id), parsing.nothing)


def _identified(event: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(event)
    return given | {"timestamp": stamped(given.get("timestamp")), "event_id": given.get("event_id") or ids.event_id()}
