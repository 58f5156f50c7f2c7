"""The events of plain changes, written without the objects of the full way (`lily.reactions.relay.change_events`).

Nearly every change replaces plain attributes of a layer that is there already. Its event is a template, which the full
way writes once, with the values of the change. A property test compares the two.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

import orjson

from lily.model.layers import TAGS
from lily.reactions.relay.change_events import change_event
from lily.store.postgres.outbox.batches import Change, OutgoingChange

_NUMBER, _VERSION = 1_111_111_111, 2_222_222_222
_CHANGED, _CAUSES = "@changed@", "@causes@"


def is_plain(row: OutgoingChange, changed: Collection[str]) -> bool:
    """Whether only attributes have changed that are shown as they are, and that concern neither tags nor the graph.
    `changed` are the fields that differ."""
    if row.before is None or row.entity_type is None or '"from"' in row.causes:  # which a promotion has
        return False
    return TAGS not in changed and "$" not in "".join(changed)


def plain_event(row: OutgoingChange, changed: Collection[str]) -> bytes:
    """What `change_event` returns for a plain change, encoded."""
    before, after, causes, committed = row.before or {}, row.after, row.causes, row.committed
    differences = {field: {"from": before.get(field), "to": after.get(field)} for field in sorted(changed)}
    text = _TEMPLATE % (
        row.position,
        f"{committed[:10]}T{committed[11:19]}.{committed[20:]:0<6}Z",
        row.tenant_id,
        row.asset_id,
        _json(row.entity_type),
        _json(row.qualified_name),
        row.layer,
        row.version,
        _json(differences),
        causes,
        row.position,
        row.asset_id,
        _newest(causes) if '"correlation"' in causes or '"trace"' in causes else "",
    )
    return text.encode()


def _newest(causes: str) -> str:
    """What the envelope shows of the newest cause."""
    newest = orjson.loads(causes)[-1]
    names = (("correlationid", newest.get("correlation")), ("traceparent", newest.get("trace")))
    return "".join(f',"{name}":{_json(value)}' for name, value in names if value)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _template() -> str:
    row = Change(_NUMBER, "@", "@", "@", "@", "@", _VERSION, {}, {}, [], datetime.fromtimestamp(0, UTC))
    event = change_event(row, ())
    event["data"] |= {"changed": _CHANGED, "causes": _CAUSES}
    text = orjson.dumps(event | {"time": "@"}).decode().replace("%", "%%")
    for mark in (_json(_CHANGED), _json(_CAUSES), str(_NUMBER), str(_VERSION)):
        text = text.replace(mark, "%s")
    for name in ("entity_type", "qualified_name"):  # these may need escaping
        text = text.replace(f'"{name}":"@"', f'"{name}":%s')
    return text.removesuffix("}").replace("@", "%s") + "%s}"


_TEMPLATE: Final = _template()
