"""The entry-point groups: what each is called, and the port that its plug-ins satisfy."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lily.plugins.channels import Channel
from lily.plugins.connectors import Connector
from lily.plugins.enforcers import Enforcer
from lily.plugins.formats import Format
from lily.plugins.intakes import Intake
from lily.plugins.transforms import Transform

P = TypeVar("P")

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_SUFFIX = re.compile(r"\.[a-z0-9][a-z0-9._-]*")


def _nothing_more(_plugin: type[Any]) -> list[str]:
    return []


@dataclass(frozen=True)
class Group(Generic[P]):
    """`name` is the entry-point group. A configured plug-in has a `Config` and is constructed with one."""

    name: str
    port: type[Any]
    configured: bool = True
    flaws: Callable[[type[Any]], list[str]] = _nothing_more  # of this group alone, beyond its port


def _format_flaws(plugin: type[Any]) -> list[str]:
    found = []
    if not _all_match(_MEDIA_TYPE, plugin.media_types) or not plugin.media_types:
        found.append('media_types must be a tuple of media types in lower case, such as ("text/csv",)')
    if not _all_match(_SUFFIX, plugin.suffixes):
        found.append('suffixes must be a tuple of file suffixes in lower case, such as (".csv",)')
    return found


def _all_match(pattern: re.Pattern[str], values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, str) and pattern.fullmatch(value) for value in values)


CONNECTORS: Group[Connector] = Group("lily.connectors", Connector)
TRANSFORMS: Group[Transform] = Group("lily.transforms", Transform)
CHANNELS: Group[Channel] = Group("lily.channels", Channel)
ENFORCERS: Group[Enforcer] = Group("lily.enforcers", Enforcer)
INTAKES: Group[Intake] = Group("lily.intakes", Intake)
FORMATS: Group[Format] = Group("lily.formats", Format, configured=False, flaws=_format_flaws)

GROUPS: Sequence[Group[Any]] = (CONNECTORS, TRANSFORMS, CHANNELS, ENFORCERS, INTAKES, FORMATS)
