"""Turns response bodies into results. A body that lacks a field raises KeyError or TypeError."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import httpx
import orjson

from lily.client import results
from lily.client.errors import Unavailable
from lily.model.errors import Problem

T = TypeVar("T")
Json = Mapping[str, Any]
Item = Callable[[Json], T]
RECEIPT = "Lily-Receipt"
OK = 200
LOG_UNAVAILABLE = "LOG_UNAVAILABLE"


def record(kind: Callable[..., T]) -> Item[T]:
    """A parser for a dataclass whose fields are plain JSON."""
    return lambda raw: known(kind, raw)


def one(item: Item[T]) -> Callable[[httpx.Response], T]:
    return lambda response: item(body(response))


def list_of(item: Item[T]) -> Callable[[httpx.Response], list[T]]:
    return lambda response: [item(entry) for entry in body(response)["items"]]


def page_of(item: Item[T]) -> Callable[[httpx.Response], results.Page[T]]:
    def parse(response: httpx.Response) -> results.Page[T]:
        raw = body(response)
        return results.Page([item(entry) for entry in raw["items"]], raw["next_cursor"])

    return parse


def asset(raw: Json) -> results.Asset:
    return known(results.Asset, {**raw, "tags": known(results.Tags, raw["tags"])})


def change(raw: Json) -> results.Change:
    return known(results.Change, {**raw, "causes": [known(results.Cause, cause) for cause in raw["causes"]]})


def dead_letter(raw: Json) -> results.DeadLetter:
    return known(results.DeadLetter, {**raw, "errors": _problems(raw["errors"])})


def notification(raw: Json) -> results.Notification:
    return known(results.Notification, {**raw, "fields": dict(raw)})


def batch(raw: Json) -> results.Batch:
    denied = [known(results.Denied, item) for item in raw.get("denied", ())]
    return results.Batch([asset(item) for item in raw["items"]], list(raw["missing"]), denied)


def receipt(response: httpx.Response) -> results.Receipt:
    return known(results.Receipt, _written(response))


def related(response: httpx.Response) -> results.Related:
    return known(results.Related, _written(response))


def sql_lineage(response: httpx.Response) -> results.SqlLineage:
    return known(results.SqlLineage, {**body(response), "readable": response.status_code == OK})


def lineage_taken(response: httpx.Response) -> results.LineageTaken:
    return known(results.LineageTaken, {**body(response), "readable": response.status_code == OK})


def health(response: httpx.Response) -> results.Health:
    raw = body(response)
    return results.Health(response.status_code == OK, _problems(raw.get("errors", ())), raw.get("lag", {}))


def bulk(response: httpx.Response) -> results.BulkResult:
    """Raises Unavailable if the log failed midway: the whole batch is sent again, which changes nothing twice."""
    raw = body(response)
    errors = _problems(raw["errors"])
    lost = next((error for error in errors if error.code == LOG_UNAVAILABLE), None)
    if lost is not None:
        raise Unavailable(response.status_code, [Problem(lost.code, lost.description, lost.entity)])
    return results.BulkResult(raw["accepted"], raw["rejected"], errors, readable=response.status_code == OK)


def nothing(response: httpx.Response) -> None:
    body(response)


def body(response: httpx.Response) -> Json:
    raw = orjson.loads(response.content)
    if not isinstance(raw, dict):
        raise TypeError("the body is not a JSON object")
    return raw


def known(kind: Callable[..., T], raw: Json) -> T:
    """A dataclass from the entries that its fields name."""
    named = fields(kind)  # type: ignore[arg-type]  # mypy has no type for "the class of a dataclass"
    return kind(**{f.name: raw[f.name] for f in named if f.name in raw or f.default is MISSING is f.default_factory})


def _written(response: httpx.Response) -> Json:
    raw = body(response)
    return {**raw, "superseded": raw.get("superseded"), "receipt": response.headers.get(RECEIPT, "")}


def _problems(entries: Any) -> list[results.ItemProblem]:
    return [known(results.ItemProblem, entry) for entry in entries]
