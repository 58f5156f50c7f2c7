"""Whether a class satisfies its group's port: every attribute there, every method callable as Lily calls it.

Checked when a plug-in is loaded, so that a plug-in written for another version of Lily is reported by name instead of
failing in the middle of a request.
"""

import inspect
from typing import Any

from pydantic import BaseModel

from lily.plugins.groups import Group


def flaws(group: Group[Any], plugin: object) -> list[str]:
    """What is wrong with it, a sentence each; empty if it satisfies the port."""
    if not inspect.isclass(plugin):
        return [f"the entry point must name a class, not {_kind(plugin)}"]
    found = [f"{name} is missing" for name in _attributes(group) if not hasattr(plugin, name)]
    for name, method in inspect.getmembers(group.port, inspect.isfunction):
        if not name.startswith("_"):
            found += _method_flaws(plugin, name, method)
    found += _constructor_flaws(group, plugin)
    return found or group.flaws(plugin)


def _attributes(group: Group[Any]) -> list[str]:
    """The ports declare them as properties, which a class attribute satisfies whatever its exact type is."""
    return [name for name, _ in inspect.getmembers(group.port, lambda member: isinstance(member, property))]


def _method_flaws(plugin: type[Any], name: str, wanted: Any) -> list[str]:
    """Presence, `async` or not, and whether it can be called with the port's arguments."""
    call = f"{name}({', '.join(_parameters(wanted))})"
    method = getattr(plugin, name, None)
    if not callable(method):
        return [f"the method {call} is missing"]
    if inspect.iscoroutinefunction(wanted) != inspect.iscoroutinefunction(method):
        return [f"{call} must {'' if inspect.iscoroutinefunction(wanted) else 'not '}be `async def`"]
    itself = [None] if inspect.isfunction(inspect.getattr_static(plugin, name)) else []
    if not _takes(method, [*itself, *_parameters(wanted)]):
        return [f"it must be possible to call {call}, but the method is {name}{inspect.signature(method)}"]
    return []


def _constructor_flaws(group: Group[Any], plugin: type[Any]) -> list[str]:
    if not group.configured:
        return [] if _takes(plugin, []) else ["it must be possible to construct it without arguments"]
    config = getattr(plugin, "Config", None)
    if not (inspect.isclass(config) and issubclass(config, BaseModel)):
        return ["Config must be a subclass of pydantic.BaseModel"]
    return [] if _takes(plugin, ["config"]) else ["it must be possible to construct it with its Config"]


def _takes(function: Any, arguments: list[Any]) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # written in C, without a signature to inspect
        return True
    return True


def _parameters(method: Any) -> list[str]:
    return [name for name in inspect.signature(method).parameters if name != "self"]


def _kind(plugin: object) -> str:
    return "a module" if inspect.ismodule(plugin) else f"an object of type {type(plugin).__name__}"
