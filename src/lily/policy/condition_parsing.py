"""Validates the `conditions` of a policy."""

import ipaddress
import re
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lily.model import clock
from lily.model.suggestions import MAX_LENGTH
from lily.model.values import MAX_ATTRIBUTES, MAX_ITEMS, MAX_KEY, Checker
from lily.policy.conditions import Circumstance, Conditions, DailyWindow, Network, Networks, Period, Purposes, Weekdays
from lily.policy.fields import hint_any_case, refuse_unknown
from lily.policy.names import fold

FIELDS = ("time", "weekdays", "networks", "purpose", "attributes")
TIME_FIELDS = ("from", "to", "timezone", "not_before", "not_after")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_UTC = "UTC"


def parse_conditions(checker: Checker, given: Any) -> Conditions | None:
    """None without conditions: absent, null or empty. Records what is wrong with them."""
    if given is None or given == {}:
        return None
    if not isinstance(given, Mapping):
        checker.refuse("INVALID_TYPE", f"conditions must be an object with: {', '.join(FIELDS)}", "conditions")
        return None
    refuse_unknown(checker, given, FIELDS, "conditions")
    zone = _zone(checker, given.get("time"), has_weekdays=given.get("weekdays") is not None)
    circumstances: list[Circumstance] = []
    if given.get("time") is not None:
        circumstances += _time(checker, given["time"], zone)
    if given.get("weekdays") is not None:
        circumstances += _weekdays(checker, given["weekdays"], zone)
    if given.get("networks") is not None:
        circumstances += _networks(checker, given["networks"])
    if given.get("purpose") is not None:
        circumstances += _purposes(checker, given["purpose"])
    attributes = _attributes(checker, given.get("attributes"))
    stated = {field: value for field, value in given.items() if value is not None}
    if not circumstances and not attributes.get("asset") and not attributes.get("principal"):
        checker.refuse("INVALID_VALUE", "conditions state nothing; leave them out or state one", "conditions")
    return Conditions(stated, tuple(circumstances), attributes.get("asset", {}), attributes.get("principal", {}))


def _zone(checker: Checker, given: Any, *, has_weekdays: bool) -> ZoneInfo:
    name = given.get("timezone") if isinstance(given, Mapping) else None
    if name is None:
        return ZoneInfo(_UTC)
    entity = "conditions.time.timezone"
    if given.get("from") is None and given.get("to") is None and not has_weekdays:
        checker.refuse("INVALID_VALUE", "timezone needs `from` and `to`, or `weekdays`", entity)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, AttributeError, OSError):
        # OSError: the name of a directory of the time zone database, such as `Europe`.
        described = f"unknown time zone {str(name)[:MAX_LENGTH]!r}; use a name such as Europe/Berlin or UTC"
        checker.refuse("INVALID_VALUE", described, entity)
        return ZoneInfo(_UTC)


def _time(checker: Checker, given: Any, zone: ZoneInfo) -> list[Circumstance]:
    entity = "conditions.time"
    if not isinstance(given, Mapping) or not given:
        checker.refuse("INVALID_TYPE", f"{entity} must be an object with: {', '.join(TIME_FIELDS)}", entity)
        return []
    refuse_unknown(checker, given, TIME_FIELDS, entity)
    found: list[Circumstance] = []
    if given.get("from") is not None or given.get("to") is not None:
        start, end = (_clock_time(checker, given.get(field), f"{entity}.{field}") for field in ("from", "to"))
        if start is not None and start == end:
            described = "`from` and `to` must differ; leave out both for the whole day"
            checker.refuse("INVALID_VALUE", described, entity)
        elif start is not None and end is not None:
            found.append(DailyWindow(start, end, zone))
    begin, close = (_moment(checker, given.get(field), f"{entity}.{field}") for field in ("not_before", "not_after"))
    if begin is not None and close is not None and begin >= close:
        checker.refuse("INVALID_VALUE", "not_before must be earlier than not_after", f"{entity}.not_before")
    if begin is not None or close is not None:
        found.append(Period(begin, close))
    return found


def _clock_time(checker: Checker, given: Any, entity: str) -> time | None:
    """`09:00` or `09:00:30`; `24:00` is midnight at the end of the day."""
    if given == "24:00" and entity.endswith(".to"):
        return time(0)
    match = _TIME.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        shown = "is required beside the other" if given is None else f"{str(given)[:MAX_LENGTH]!r} is not a time of day"
        checker.refuse("INVALID_VALUE", f"{entity} {shown}; write it as HH:MM, such as 09:00", entity)
        return None
    return time(int(match[1]), int(match[2]), int(match[3] or 0))


def _moment(checker: Checker, given: Any, entity: str) -> datetime | None:
    if given is None:
        return None
    try:
        return clock.parse(clock.normalise_time(given)).astimezone(UTC)
    except (ValueError, TypeError) as error:
        checker.refuse("INVALID_VALUE", f"{entity}: {error}", entity)
        return None


def _weekdays(checker: Checker, given: Any, zone: ZoneInfo) -> list[Circumstance]:
    entity = "conditions.weekdays"
    if not isinstance(given, list) or not given:
        checker.refuse("INVALID_TYPE", f"{entity} must be a list with at least one of: {', '.join(WEEKDAYS)}", entity)
        return []
    days = set()
    for index, item in enumerate(given[:MAX_ITEMS]):
        text = fold(item) if isinstance(item, str) else ""
        found = [number for number, day in enumerate(WEEKDAYS) if text in {day, day[:3]}]
        if not found:
            described = f"unknown weekday {str(item)[:MAX_LENGTH]!r}; {hint_any_case(str(item), WEEKDAYS)}"
            checker.refuse("INVALID_VALUE", described, f"{entity}[{index}]")
        days.update(found)
    return [Weekdays(frozenset(days), zone)]


def _networks(checker: Checker, given: Any) -> list[Circumstance]:
    entity = "conditions.networks"
    if not isinstance(given, list) or not given or len(given) > MAX_ITEMS:
        described = f"{entity} must be a list of 1 to {MAX_ITEMS} networks such as 10.0.0.0/8 or 2001:db8::/32"
        checker.refuse("INVALID_TYPE", described, entity)
        return []
    found = [_network(checker, item, f"{entity}[{index}]") for index, item in enumerate(given)]
    return [Networks(tuple(network for network in found if network is not None))]


def _network(checker: Checker, given: Any, entity: str) -> Network | None:
    try:
        network = ipaddress.ip_network(given.strip(), strict=False)
    except (ValueError, AttributeError):  # AttributeError: not a string
        described = (
            f"{str(given)[:MAX_LENGTH]!r} is not a network; write it as 10.0.0.0/8, 2001:db8::/32 or one address"
        )
        checker.refuse("INVALID_VALUE", described, entity)
        return None
    if str(network.network_address) != str(ipaddress.ip_address(given.strip().partition("/")[0])):
        described = f"{given[:MAX_LENGTH]!r} has bits set beyond its prefix; did you mean `{network}`?"
        checker.refuse("INVALID_VALUE", described, entity)
        return None
    return _unmapped(network)


def _unmapped(network: Network) -> Network:
    """A network of IPv4 addresses that is mapped into IPv6 as the IPv4 network: addresses are compared that way."""
    mapped = network.network_address.ipv4_mapped if isinstance(network, ipaddress.IPv6Network) else None
    if mapped is None or network.prefixlen < 96:
        return network
    return ipaddress.IPv4Network((mapped, network.prefixlen - 96))


def _purposes(checker: Checker, given: Any) -> list[Circumstance]:
    entity = "conditions.purpose"
    found = checker.names([given] if isinstance(given, str) else given, entity)
    if found == []:
        checker.refuse("INVALID_VALUE", f"{entity} must name at least one purpose", entity)
    return [Purposes(frozenset(map(fold, found or ())))]


def _attributes(checker: Checker, given: Any) -> dict[str, dict[str, tuple[Any, ...]]]:
    """`{"asset": {NAME: VALUE or [VALUE, …]}, "principal": {…}}`."""
    if given is None:
        return {}
    entity = "conditions.attributes"
    if not isinstance(given, Mapping):
        checker.refuse("INVALID_TYPE", f"{entity} must be an object with `asset` or `principal`", entity)
        return {}
    refuse_unknown(checker, given, ("asset", "principal"), entity)
    found = {}
    for side in ("asset", "principal"):
        tests = given.get(side)
        if tests is None:
            continue
        if not isinstance(tests, Mapping) or not 0 < len(tests) <= MAX_ATTRIBUTES:
            described = f"{entity}.{side} must be an object with an attribute and its value, or a list of values"
            checker.refuse("INVALID_TYPE", described, f"{entity}.{side}")
            continue
        found[side] = {
            str(name): _values(checker, name, value, f"{entity}.{side}.{str(name)[:MAX_LENGTH]}")
            for name, value in tests.items()
        }
    return found


def _values(checker: Checker, name: Any, given: Any, entity: str) -> tuple[Any, ...]:
    values = given if isinstance(given, list) else [given]
    if not isinstance(name, str) or not name or len(name) > MAX_KEY or name.startswith("$"):
        checker.refuse("INVALID_VALUE", "an attribute's name must not be empty, long or begin with $", entity)
    if not 0 < len(values) <= MAX_ITEMS or not all(isinstance(value, str | bool | int | float) for value in values):
        described = f"{entity} must be a string, a number or a boolean, or a list of 1 to {MAX_ITEMS} of them"
        checker.refuse("INVALID_TYPE", described, entity)
        return ()
    return tuple(checker.free(value, entity) for value in values)
