"""Ids of assets, derived from the tenant and the qualified name, and ids of events (decision D16)."""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache

SEPARATORS = "./"  # between the parts of a qualified name
_DOT, _SLASH = SEPARATORS[0], SEPARATORS[1]
_UUID_LENGTH = 36
_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_COMPOSED = re.compile(r"^(?:column|field|bi_field):(?=.)")  # see compose_qualified_name
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def looks_like_uuid(text: str) -> bool:
    return len(text) == _UUID_LENGTH and _UUID.fullmatch(text) is not None


@lru_cache(maxsize=1 << 14)  # the same parents are resolved again and again
def asset_id(tenant: str, qualified_name: str) -> str:
    """A UUIDv8. Names with the same prefix share its first 16 bits, so the columns of a table are stored together."""
    return derive_asset_id(tenant, qualified_name)


def derive_asset_id(tenant: str, qualified_name: str) -> str:
    """The same, not kept: for names that are looked up once."""
    return _as_id(_locality(tenant, name_prefix(qualified_name)), _digest(tenant, qualified_name))


def _as_id(locality: str, rest: str) -> str:
    return f"{locality}{rest[:4]}-{rest[4:8]}-8{rest[8:11]}-{_VARIANTS[rest[11]]}{rest[12:15]}-{rest[15:27]}"


def ids_of_columns(tenant: str, parent: str, names: Iterable[str]) -> Iterator[str]:
    """The ids of what is named directly below a name, by names without separators: less than looking up each."""
    locality, begun = _locality(tenant, parent), hashlib.sha256(f"{tenant}\x00{parent}.".encode())
    for name in names:
        digest = begun.copy()
        digest.update(name.encode())
        yield _as_id(locality, digest.hexdigest())


def resolve(tenant: str, reference: str) -> str:
    """The id of a reference, which may be an id or a qualified name."""
    return reference.lower() if looks_like_uuid(reference) else asset_id(tenant, reference)


def name_prefix(qualified_name: str) -> str:
    """The part before the last separator; the whole name if there is no separator."""
    cut = qualified_name.rfind(_DOT)
    if _SLASH in qualified_name:
        cut = max(cut, qualified_name.rfind(_SLASH))
    return qualified_name[:cut] if cut > 0 else qualified_name


def own_name(qualified_name: str) -> str:
    """The last part of a qualified name, without the type that a composed name has there."""
    last = qualified_name[len(name_prefix(qualified_name)) :].lstrip(SEPARATORS) or qualified_name
    return _COMPOSED.sub("", last)


def has_separator(name: str) -> bool:
    return _DOT in name or _SLASH in name


def ids_below(tenant: str, qualified_name: str) -> tuple[str, str]:
    """The smallest and the largest id that an asset named directly below this one can have. Few others are between."""
    locality = _locality(tenant, qualified_name)
    return f"{locality}0000-0000-0000-0000-000000000000", f"{locality}ffff-ffff-ffff-ffff-ffffffffffff"


def compose_qualified_name(scope: str | None, entity_type: str, name: str) -> str:
    """The name of an asset without a stated one: `scope.type:name`, with the name quoted if it is ambiguous."""
    if any(mark in name for mark in './:"'):
        name = '"' + name.replace('"', '""') + '"'
    return f"{scope}.{entity_type}:{name}" if scope else f"{entity_type}:{name}"


def event_id() -> str:
    """A UUIDv7: unique, and sorted by creation time."""
    millis = time.time_ns() // 1_000_000
    bits = millis << 80 | int.from_bytes(os.urandom(10))
    bits = bits & ~(0xF << 76) | 0x7 << 76
    bits = bits & ~(0x3 << 62) | 0x2 << 62
    digits = f"{bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


@lru_cache(maxsize=1 << 14)
def _locality(tenant: str, prefix: str) -> str:
    return _digest(tenant, prefix)[:4]


def _digest(tenant: str, text: str) -> str:
    # NUL cannot occur in a tenant's name, so no two pairs hash the same input.
    return hashlib.sha256(f"{tenant}\x00{text}".encode()).hexdigest()
