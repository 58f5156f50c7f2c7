"""The messages by which a tool learns what was decided: one for each table, complete, with an id of its own.

A message replaces all earlier ones about its table. One that is repeated has the same id, and of two the one with the
higher version is newer.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any, NamedTuple

from lily.model import clock
from lily.plugins import Decision, Step, Surroundings
from lily.plugins.enforcers import Path

FORMAT = 1  # of `data`; fields may be added to it without a new one
MAX_BYTES = 4 << 20  # of a message: 5,000 columns with a decision each take about a tenth
DECIDED, WITHDRAWN, REMOVED = "table.decided", "table.withdrawn", "target.removed"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Body = dict[str, Any]


class Message(NamedTuple):
    """`body` is the text that is signed. `key` is the same for all messages about a table."""

    id: str
    type: str
    key: str
    table: Path
    body: bytes

    @property
    def problem(self) -> str:
        """Why it cannot be sent; empty if it can."""
        if len(self.body) <= MAX_BYTES:
            return ""
        described = f"its decisions take {len(self.body):,} bytes, more than the {MAX_BYTES:,} of a message"
        return f"{described}; let policies name groups instead of users"


def steps(decisions: Iterable[Decision], surroundings: Surroundings) -> tuple[Step, ...]:
    """One step for each table; its change is the message's body."""
    tables: dict[Path, list[Decision]] = {}
    for decision in decisions:
        tables.setdefault(decision.table, []).append(decision)
    return tuple(Step(path, _text(_about_table(path, tables[path], surroundings))) for path in sorted(tables))


def messages(planned: Iterable[Step]) -> Iterator[Message]:
    for step in planned:
        yield _message(step.table, step.change)


def removed(surroundings: Surroundings) -> Message:
    """That nothing is enforced in the target any more."""
    version = (surroundings.since - _EPOCH) // timedelta(microseconds=1)
    return _message((), _text(_body(REMOVED, (), version, surroundings, {})))


def _message(table: Path, text: str) -> Message:
    body = json.loads(text)
    return Message(body["data"]["id"], body["type"], ".".join(table), table, text.encode())


def _about_table(path: Path, decisions: Sequence[Decision], surroundings: Surroundings) -> Body:
    first = decisions[0]
    whole = next((one for one in decisions if not one.column), first)
    about = {"table": {"asset": whole.asset, "path": list(path)}}
    if first.effect == "withdrawn":
        return _body(WITHDRAWN, path, first.version, surroundings, about)
    stated = about | {"decisions": _grouped(decisions), "otherwise": "deny"}
    return _body(DECIDED, path, first.version, surroundings, stated)


def _body(kind: str, path: Path, version: int, surroundings: Surroundings, more: Body) -> Body:
    data = {
        "id": _id(kind, path, version, surroundings),
        "format": FORMAT,
        "tenant": surroundings.tenant,
        "target": surroundings.target,
        "version": version,
        **more,
    }
    return {"type": kind, "timestamp": clock.stamp(_EPOCH + timedelta(microseconds=version)), "data": data}


def _id(kind: str, path: Path, version: int, surroundings: Surroundings) -> str:
    of = json.dumps([surroundings.tenant, surroundings.target, kind, path, version])
    return f"msg_{hashlib.sha256(of.encode()).hexdigest()[:32]}"


def _grouped(decisions: Iterable[Decision]) -> list[Body]:
    """Columns that are decided alike share one entry. The table's own decision has no columns."""
    groups: dict[tuple[Any, ...], list[Decision]] = {}
    for one in sorted(decisions, key=lambda one: (one.column, one.effect, one.principals)):
        alike = (
            not one.column,
            one.effect,
            one.mask,
            one.mask_value,
            one.principals,
            one.kinds,
            one.row_filters,
            one.tags,
        )
        groups.setdefault(alike, []).append(one)
    return [_entry(listed) for listed in groups.values()]


def _entry(alike: Sequence[Decision]) -> Body:
    one = alike[0]
    principals = zip_longest(one.principals, one.kinds, fillvalue="role")
    entry: Body = {"effect": one.effect, "principals": [{kind: name} for name, kind in principals]}
    if one.column:
        entry["columns"] = [_column(each) for each in alike]
    if one.mask:
        entry["mask"] = one.mask
    if one.mask_value is not None:
        entry["mask_value"] = one.mask_value
    return entry | {"row_filters": list(one.row_filters), "tags": list(one.tags)}


def _column(decision: Decision) -> dict[str, str]:
    typed = {"type": decision.column_type} if decision.column_type else {}
    return {"name": decision.column, "asset": decision.asset, **typed}


def _text(body: Body) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
