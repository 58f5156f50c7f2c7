"""Mappings of webhooks: how the messages of a source become incidents. All calls need the scope admin."""

from collections.abc import Mapping
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded
from lily.client.results import Page

_MAPPINGS = "webhook-mappings"


def webhook_mappings() -> Call[Page[dict[str, Any]]]:
    """Iterates over the mappings, by name; `shipped` marks those that are part of Lily."""
    return Call("GET", path(_MAPPINGS), parsing.page_of(dict))


def webhook_mapping(name: str) -> Call[dict[str, Any]]:
    """Returns one mapping."""
    return Call("GET", path(_MAPPINGS, name), parsing.one(dict))


def create_webhook_mapping(mapping: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Creates a mapping with `name`, `signature` and `fields`; one of the name of a shipped one replaces that."""
    body = encoded(dict(mapping))
    # Not retryable: a second attempt would fail on the mapping that the first one made.
    return Call("POST", path(_MAPPINGS), parsing.one(dict), content=body, success=CREATED, retryable=False)


def replace_webhook_mapping(name: str, mapping: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Replaces a mapping that was created before."""
    return Call("PUT", path(_MAPPINGS, name), parsing.one(dict), content=encoded(dict(mapping)))


def remove_webhook_mapping(name: str) -> Call[dict[str, Any]]:
    """Removes a mapping that was created before. Incidents stay."""
    return Call("DELETE", path(_MAPPINGS, name), parsing.one(dict))


def try_webhook_mapping(name: str, message: object) -> Call[list[dict[str, Any]]]:
    """Returns what each item of a message would become, and stores nothing."""
    return Call("POST", path(_MAPPINGS, name, "test"), parsing.list_of(dict), content=encoded(message))
