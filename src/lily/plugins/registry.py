"""Which plug-ins are installed, which of them can be used, and what is wrong with the others.

Nothing a plug-in does can stop Lily: one that cannot be imported, does not satisfy its port or has a name that is
taken is reported and left out. Of two with the same name the built-in one is taken, else the one whose distribution
comes first in the alphabet: whether one can be imported does not change which it is, so that a broken upgrade shows
as broken instead of silently bringing another plug-in into service.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from lily.model.errors import LilyError, Terminal
from lily.plugins.configuration_errors import described
from lily.plugins.conformance import flaws
from lily.plugins.discovery import Damaged, Declared, Origin, discover
from lily.plugins.groups import FORMATS, GROUPS, Group
from lily.plugins.media_types import Formats, Served

P = TypeVar("P")
State = Literal["ready", "failed", "shadowed"]


class UnknownPlugin(Terminal):
    """No plug-in of that name is installed."""


class BrokenPlugin(Terminal):
    """The plug-in is installed, but it cannot be used."""


class BadConfiguration(Terminal):
    """The configuration of a plug-in has values that it cannot have."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One row of `lily plugins`."""

    group: str
    name: str
    origin: str
    version: str
    state: State
    problem: str = ""

    def as_dict(self) -> dict[str, str]:
        return {field: getattr(self, field) for field in self.__slots__}


class _Loaded(NamedTuple):
    """The class, for a plug-in without configuration the one object that serves the process; or what is wrong."""

    plugin: Any
    problem: str = ""


class _Entry:
    """One entry point. It is imported when it is first needed, and only once."""

    def __init__(self, group: Group[Any], declared: Declared, shadowed_by: "_Entry | None") -> None:
        self.group = group
        self.name = declared.entry_point.name
        self.origin = declared.origin
        self.builtin = declared.builtin
        self.shadowed_by = shadowed_by
        self._point = declared.entry_point

    @cached_property
    def loaded(self) -> _Loaded:
        if self.shadowed_by is not None:
            taken = f"the name is taken by {self.shadowed_by.origin}; one of the two has to be renamed"
            return _Loaded(None, taken)
        try:
            plugin = self._point.load()
            found = flaws(self.group, plugin)
            if found:
                return _Loaded(None, f"it does not satisfy the port of {self.group.name}: {'; '.join(found)}")
            return _Loaded(plugin if self.group.configured else plugin())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything while it is imported
            return _Loaded(None, f"{type(error).__name__}: {error} (while loading {self._point.value})")

    def usable(self) -> Any:
        """Raises BrokenPlugin."""
        if self.loaded.problem:
            raise self.broken(self.loaded.problem)
        return self.loaded.plugin

    def broken(self, problem: str) -> BrokenPlugin:
        return BrokenPlugin(f"{self.name} of {self.origin} cannot be used: {problem}")

    def listed(self, remark: str) -> Plugin:
        problem = self.loaded.problem
        state: State = "shadowed" if self.shadowed_by else "failed" if problem else "ready"
        origin = self.origin
        return Plugin(self.group.name, self.name, origin.distribution, origin.version, state, problem or remark)


class Registry:
    """The plug-ins of a process. Discovery reads metadata only; a plug-in is imported when it is first used."""

    def __init__(self, declared: Iterable[Declared | Damaged]) -> None:
        found = list(declared)
        self._damaged = [one for one in found if isinstance(one, Damaged)]
        by_group = {group.name: group for group in GROUPS}
        declared_plugins = [one for one in found if isinstance(one, Declared) and one.entry_point.group in by_group]
        self._entries: list[_Entry] = []
        for (group, _), rivals in groupby(sorted(declared_plugins, key=_rank), key=lambda one: _rank(one)[:2]):
            winner: _Entry | None = None
            for one in rivals:
                entry = _Entry(by_group[group], one, winner)
                self._entries.append(entry)
                winner = winner or entry

    def plugins(self, *groups: Group[Any]) -> list[Plugin]:
        """The installed plug-ins of these groups (default: all), with what is wrong with each. Imports all of them."""
        wanted = groups or GROUPS
        listed = [entry.listed(self._remark(entry)) for entry in self._entries if entry.group in wanted]
        for damaged in self._damaged:
            origin = damaged.origin
            listed.append(Plugin("", "", origin.distribution, origin.version, "failed", damaged.problem))
        return listed

    def _remark(self, entry: _Entry) -> str:
        return self.formats.remarks.get(entry.name, "") if entry.group is FORMATS and not entry.shadowed_by else ""

    def left_out(self, *groups: Group[Any]) -> list[Plugin]:
        """The plug-ins that are installed but not used."""
        return [plugin for plugin in self.plugins(*groups) if plugin.state != "ready"]

    def names(self, group: Group[Any]) -> list[str]:
        return [entry.name for entry in self._of(group)]

    def load(self, group: Group[P], name: str) -> type[P]:
        """The class of a configured plug-in. Raises UnknownPlugin or BrokenPlugin."""
        plugin: type[P] = self._entry(group, name).usable()
        return plugin

    def make(self, group: Group[P], name: str, settings: Mapping[str, Any]) -> P:
        """A configured plug-in. Raises UnknownPlugin, BrokenPlugin or BadConfiguration."""
        plugin: Any = self.load(group, name)
        try:
            config = plugin.Config.model_validate(dict(settings))
        except ValidationError as error:
            raise BadConfiguration(f"{name}: {described(error, plugin.Config)}") from error
        try:
            made: P = plugin(config)
        except LilyError:
            raise
        except Exception as error:
            raise self._entry(group, name).broken(f"{type(error).__name__}: {error}") from error
        return made

    @cached_property
    def formats(self) -> Formats:
        """The formats in use, by media type and suffix."""
        entries = sorted(self._of(FORMATS), key=lambda entry: (not entry.builtin, entry.origin))
        return Formats([Served(entry.name, entry.loaded.plugin) for entry in entries if not entry.loaded.problem])

    def _of(self, group: Group[Any]) -> list[_Entry]:
        return [entry for entry in self._entries if entry.group is group and entry.shadowed_by is None]

    def _entry(self, group: Group[Any], name: str) -> _Entry:
        for entry in self._of(group):
            if entry.name == name:
                return entry
        known = ", ".join(self.names(group)) or "none"
        raise UnknownPlugin(f"There is no {name!r} in {group.name}. Installed: {known}. See: lily plugins")


@cache
def installed() -> Registry:
    """The plug-ins of this process. A plug-in that is installed later is found after a restart."""
    return Registry(discover())


def _rank(declared: Declared) -> tuple[str, str, bool, Origin]:
    point = declared.entry_point
    return point.group, point.name, not declared.builtin, declared.origin
