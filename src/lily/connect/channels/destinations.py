"""Destinations by name: their URLs are secrets, so subscriptions name them and the channel's configuration has them."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints

from lily.connect.channels.http import HttpConfig
from lily.connect.urls import Url
from lily.model.errors import Terminal
from lily.model.suggestions import hint
from lily.outbound import Endpoint, endpoint

TOKEN = 8  # characters; a shorter part, or one that is a word, is not a secret by itself
Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class DestinationsConfig(HttpConfig):
    destinations: dict[Name, Url] = Field(
        min_length=1, max_length=100, description="URLs by the names that subscriptions use for them: https://…"
    )


def chosen(destinations: Mapping[str, SecretStr], name: str) -> Endpoint:
    """An empty name is that of the only one. Raises Terminal."""
    if not name and len(destinations) == 1:
        name = next(iter(destinations))
    if name not in destinations:
        raise Terminal(f"the channel has no destination {name!r}; {hint(name, destinations)}")
    return endpoint(destinations[name].get_secret_value())


def endpoints(destinations: Mapping[str, SecretStr]) -> list[Endpoint]:
    return [endpoint(url.get_secret_value()) for url in destinations.values()]


def secret_parts(destinations: Mapping[str, SecretStr]) -> Iterator[str]:
    """What must not be in a message, because a receiver may quote it: each URL, its path and query, and the parts of
    them that look like tokens."""
    for url, to in zip(destinations.values(), endpoints(destinations), strict=True):
        target = to.target
        yield from (url.get_secret_value(), target if len(target) > 1 else "")
        yield from (part for part in re.split(r"[/?&=]", target) if len(part) >= TOKEN and not part.islower())
