"""Turns the bodies of answers into typed values."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import httpx
import orjson

from lily.client.answers import (
    Asset,
    AttributeRule,
    Batch,
    BulkResult,
    Cause,
    Change,
    DeadLetter,
    DerivedAttribute,
    Graph,
    Health,
    ItemProblem,
    LineageTaken,
    Notification,
    Page,
    Receipt,
    Related,
    Replayed,
    SqlLineage,
    Tag,
    TagDefinition,
    Tags,
    Travel,
    WouldReach,
)
from lily.client.errors import Unavailable
from lily.model.errors import Problem

T = TypeVar("T")
Json = Mapping[str, Any]
RECEIPT = "Lily-Receipt"
OK = 200
LOG_UNAVAILABLE = "LOG_UNAVAILABLE"


def known(kind: Callable[..., T], raw: Json) -> T:
    """A dataclass from the entries it names. Raises KeyError or TypeError for what is no such thing."""
    named = fields(kind)  # type: ignore[arg-type]  # mypy has no type for "a dataclass's class"
    return kind(**{f.name: raw[f.name] for f in named if f.name in raw or f.default is MISSING is f.default_factory})


def asset(raw: Json) -> Asset:
    return known(Asset, {**raw, "tags": known(Tags, raw["tags"])})


def change(raw: Json) -> Change:
    return known(Change, {**raw, "causes": [known(Cause, cause) for cause in raw["causes"]]})


def dead_letter(raw: Json) -> DeadLetter:
    return known(DeadLetter, {**raw, "errors": [known(ItemProblem, problem) for problem in raw["errors"]]})


def notification(raw: Json) -> Notification:
    return known(Notification, {**raw, "fields": dict(raw)})


def one_asset(answer: httpx.Response) -> Asset:
    return asset(body(answer))


def batch(answer: httpx.Response) -> Batch:
    raw = body(answer)
    return Batch([asset(item) for item in raw["items"]], list(raw["missing"]))


def tags(answer: httpx.Response) -> list[Tag]:
    return [known(Tag, item) for item in body(answer)["items"]]


def definition(raw: Json) -> TagDefinition:
    return known(TagDefinition, raw)


def one_definition(answer: httpx.Response) -> TagDefinition:
    return definition(body(answer))


def rule(raw: Json) -> AttributeRule:
    return known(AttributeRule, raw)


def one_rule(answer: httpx.Response) -> AttributeRule:
    return rule(body(answer))


def derived_attributes(answer: httpx.Response) -> list[DerivedAttribute]:
    return [known(DerivedAttribute, item) for item in body(answer)["items"]]


def would_reach(raw: Json) -> WouldReach:
    return known(WouldReach, raw)


def nothing(answer: httpx.Response) -> None:
    body(answer)


def settings(answer: httpx.Response) -> dict[str, Any]:
    return dict(body(answer))


def page_of(item: Callable[[Json], T]) -> Callable[[httpx.Response], Page[T]]:
    def read(answer: httpx.Response) -> Page[T]:
        raw = body(answer)
        return Page([item(entry) for entry in raw["items"]], raw["next_cursor"])

    return read


def receipt(answer: httpx.Response) -> Receipt:
    raw = body(answer)
    return Receipt(raw["metadata_id"], raw["status"], raw.get("superseded"), answer.headers.get(RECEIPT, ""))


def related(answer: httpx.Response) -> Related:
    raw = body(answer)
    return Related(raw["accepted"], raw["edges"], raw.get("superseded"), answer.headers.get(RECEIPT, ""))


def sql_lineage(answer: httpx.Response) -> SqlLineage:
    return known(SqlLineage, {**body(answer), "readable": answer.status_code == OK})


def lineage_taken(answer: httpx.Response) -> LineageTaken:
    return known(LineageTaken, {**body(answer), "readable": answer.status_code == OK})


def graph(answer: httpx.Response) -> Graph:
    return known(Graph, body(answer))


def travel(answer: httpx.Response) -> Travel:
    return known(Travel, body(answer))


def replayed(answer: httpx.Response) -> Replayed:
    return known(Replayed, body(answer))


def health(answer: httpx.Response) -> Health:
    raw = body(answer)
    problems = [known(ItemProblem, problem) for problem in raw.get("errors", ())]
    return Health(answer.status_code == OK, problems, raw.get("lag", {}))


def bulk(answer: httpx.Response) -> BulkResult:
    """Raises Unavailable where the log gave out midway: the whole batch states the same when it is sent again."""
    raw = body(answer)
    errors = [known(ItemProblem, problem) for problem in raw["errors"]]
    lost = next((error for error in errors if error.code == LOG_UNAVAILABLE), None)
    if lost is not None:
        raise Unavailable(answer.status_code, [Problem(lost.code, lost.description, lost.entity)])
    return BulkResult(raw["accepted"], raw["rejected"], errors, readable=answer.status_code == OK)


def body(answer: httpx.Response) -> Json:
    raw = orjson.loads(answer.content)
    if not isinstance(raw, dict):
        raise TypeError("an answer is a JSON object")
    return raw
