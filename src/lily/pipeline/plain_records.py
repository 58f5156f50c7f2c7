"""Reads plain events from the bytes of their records, without the objects of the full way.

A record is plain if one of Lily's own doors wrote it (their bytes have one form) and it obviously passes every check.
Whatever is not obviously that is left to `lily.model.events.read_event`, so nothing is refused here, and what is found
means the same: a property test compares the two.
"""

import re
from typing import Final

import orjson

from lily.model import clock, ids
from lily.model.assets import DELETED, ENTITY_TYPES, TYPE
from lily.model.held import PARENT_ID
from lily.model.plain_events import PlainEvent
from lily.model.statements import PLAIN_ATTRIBUTES, are_plain, is_plain_name
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME

# Printable ASCII that JSON and COPY write as it is: it needs no escaping, and no further check of its letters.
_LETTER: Final = r"[ !#-\[\]-~]"
# Texts without escapes and blanks around them. Whether commas are where JSON has them is for the decoder to find.
_TEXTS: Final = rf'(\{{(?:"[a-z_]++":"(?! ){_LETTER}++(?<! )",?+)++\}})'
_PLAIN: Final = re.compile(
    rf'\{{"specversion":"1\.0","id":"({_LETTER}{{1,64}}+)","source":"/lily","type":"lily\.asset\.stated",'
    r'"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)",'
    rf'"tenantid":"({_LETTER}{{1,64}}+)","datacontenttype":"application/json",'
    r'"data":\{"layer":"source","operation":"upsert",'
    rf'"qualified_name":"({_LETTER}{{1,1024}}+)","entity_type":"([a-z_]++)","attributes":'
    rf"(?:{_TEXTS}|(\{{[ -z|~]*+\}}))"
    rf'(?:,"by":"({_LETTER}{{1,512}}+)")?\}}(?:,"subject":"{_LETTER}*+")?'
    rf'(?:,"correlationid":"({_LETTER}{{1,128}}+)")?(?:,"traceparent":"({_LETTER}{{1,128}}+)")?\}}',
    re.ASCII,
)


def read_plain_event(key: bytes | None, value: bytes | None, latest: str) -> PlainEvent | None:
    """The event if it is plain, has the key of its asset, and a time not after `latest`; None if it is to be looked at
    in full. Whether its tenant exists is for the caller to check."""
    try:
        found = _PLAIN.fullmatch((value or b"").decode())
        if found is None:
            return None
        event_id, time, tenant, qualified_name, entity_type, texts, attributes, by, correlation, trace = found.groups()
        fields = orjson.loads(texts or attributes)
        clock.require_second(time[:19])
    except ValueError:  # no UTF-8, no JSON, no date
        return None
    if (
        entity_type not in ENTITY_TYPES
        or not (is_plain_name(qualified_name, MAX_QUALIFIED_NAME) and (by is None or is_plain_name(by, MAX_NAME)))
        or ids.looks_like_uuid(qualified_name)
        or "name" not in fields
        or not PLAIN_ATTRIBUTES.issuperset(fields)
        or not ((texts is not None and len(texts) <= MAX_NAME) or are_plain(fields))
        or time > latest
    ):
        return None
    asset_id = ids.derive_asset_id(tenant, qualified_name)
    if key != f"{tenant}/{asset_id}".encode():
        return None
    parent = fields.get("parent")
    if parent is not None:
        if parent == qualified_name or ids.looks_like_uuid(parent):
            return None
        fields[PARENT_ID] = ids.asset_id(tenant, parent)
    fields[TYPE], fields[DELETED] = entity_type, False
    return PlainEvent(tenant, asset_id, qualified_name, time, event_id, fields, by, correlation, trace)
