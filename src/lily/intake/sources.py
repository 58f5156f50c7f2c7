"""Which intake reads the webhooks of a source: a plug-in, the tenant's own mapping, or one that Lily ships."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lily.intake import mapped
from lily.model.errors import Terminal
from lily.plugins import INTAKES, BadConfiguration, BrokenPlugin, Intake, UnknownPlugin, installed

# What Lily itself states: incidents of these sources must not come from elsewhere.
OWN = frozenset({"quality", "refresher"})


def plugged_in(source: str) -> Intake | None:
    """The plug-in of that name, if there is one and it can be used."""
    try:
        return installed().make(INTAKES, source, {})
    except (UnknownPlugin, BrokenPlugin, BadConfiguration):  # the log of the start names those that cannot be used
        return None


def is_taken(source: str) -> bool:
    """Whether it is a source of Lily's own, or a plug-in has the name, even one that cannot be used: a mapping must not
    quietly replace it."""
    return source in OWN or any(one.name == source for one in installed().plugins(INTAKES))


def by_mapping(source: str, stored: Mapping[str, Any] | None) -> mapped.Mapped | None:
    """By the tenant's own mapping, else by a shipped one. Raises Terminal for a stored mapping that is not valid."""
    if stored is None:
        return mapped.shipped().get(source)
    try:
        return mapped.Mapped(mapped.Mapping.model_validate(stored))
    except ValidationError as error:
        raise Terminal(f"The stored mapping {source!r} is not valid: {error}. Replace or delete it.") from error
