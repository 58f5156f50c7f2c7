"""`file`: the assets in a file or a directory, in any format that is installed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from lily.model.errors import Problem, Refused, Terminal
from lily.plugins import BlankRows, Format, Row, SourceAsset, SourceEdge, SourceItem, installed

CHUNK = 1 << 18
MAX_ROW_BYTES = 1 << 20  # Lily's default limit
_ASSET_FIELDS = frozenset({"entity_type", "attributes", "operation", "time"})
_EDGE_FIELDS = frozenset({"from", "to", "relationship_type", "masking"})

StatedRow = bytes | dict[str, Any] | Problem


class FileConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Path = Field(description="a file, or a directory whose files are read in the order of their names")
    format: str | None = Field(None, description="the name of a format, for files whose suffix does not show it")
    pattern: str = Field("*", description="which files of a directory: a glob, `**/*.csv` for all below it")


class File:
    """Rows are ingest bodies; where the format is JSON, also edges: `{"from", "to", "relationship_type"}`."""

    Config = FileConfig

    def __init__(self, config: FileConfig) -> None:
        self._path = config.path.expanduser()
        self._format = config.format
        self._pattern = config.pattern
        self._formats = installed().formats

    def check(self) -> None:
        for path in self._files():
            self._format_of(path)
            with path.open("rb"):
                pass

    def read(self) -> Iterator[SourceItem]:
        for path in self._files():
            number = 0
            for row in self._rows(path):
                number += row.count if isinstance(row, BlankRows) else 1
                if not isinstance(row, BlankRows) and row != b"":
                    yield _item(row, f"{path}, row {number}")

    def close(self) -> None:
        """There is nothing to release: no file stays open between rows of two files."""

    def _files(self) -> list[Path]:
        """Raises Terminal if there is nothing to read."""
        if self._path.is_file():
            return [self._path]
        if not self._path.is_dir():
            raise Terminal(f"{self._path} does not exist. Correct `path` in the recipe.")
        files = sorted(path for path in self._path.glob(self._pattern) if path.is_file())
        known = files if self._format else [path for path in files if path.suffix.lower() in self._formats.suffixes]
        if not known:
            suffixes = ", ".join(self._formats.suffixes)
            raise Terminal(f"No file in {self._path} that matches {self._pattern!r} has a known suffix ({suffixes}).")
        return known

    def _format_of(self, path: Path) -> Format:
        return self._formats.named(self._format) if self._format else self._formats.of_suffix(path.suffix)

    def _rows(self, path: Path) -> Iterator[Row]:
        with path.open("rb") as file, closing(self._format_of(path).splitter(MAX_ROW_BYTES)) as splitter:
            while chunk := file.read(CHUNK):
                yield from splitter.feed(chunk)
            yield from splitter.finish()


def _item(row: StatedRow, where: str) -> SourceItem:
    try:
        body = _decoded(row)
        return _edge(body) if "from" in body else _asset(body)
    except Refused as error:
        problem = error.problems[0]
        return Problem(problem.code, problem.description, where)


def _decoded(row: StatedRow) -> dict[str, Any]:
    if isinstance(row, Problem):
        raise Refused(row)
    try:
        body = orjson.loads(row) if isinstance(row, bytes) else row
    except orjson.JSONDecodeError as error:
        raise Refused(Problem("MALFORMED_JSON", f"the row is not JSON: {error}")) from error
    if not isinstance(body, dict):
        raise Refused(Problem("INVALID_TYPE", "a row must be a JSON object"))
    return body


def _asset(body: dict[str, Any]) -> SourceAsset:
    _refuse_unknown(body, _ASSET_FIELDS)
    entity_type, attributes, operation = body.get("entity_type"), body.get("attributes"), body.get("operation")
    if not isinstance(entity_type, str) or not isinstance(attributes, dict):
        raise Refused(Problem("MISSING_FIELD", "a row needs entity_type (a string) and attributes (an object)"))
    if operation not in {None, "upsert", "delete"}:
        raise Refused(Problem("INVALID_VALUE", "operation must be upsert or delete"))
    return SourceAsset(entity_type, attributes, operation or "upsert", body.get("time"))


def _edge(body: dict[str, Any]) -> SourceEdge:
    _refuse_unknown(body, _EDGE_FIELDS)
    match body:
        case {"from": str(origin), "to": str(target)}:
            kind, masking = body.get("relationship_type", "derived-from"), body.get("masking")
            if isinstance(kind, str) and (masking is None or isinstance(masking, bool)):
                return SourceEdge(origin, target, kind, masking)
    raise Refused(Problem("INVALID_TYPE", "an edge needs from, to and relationship_type, each a string"))


def _refuse_unknown(body: dict[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted(body.keys() - known):
        description = f"unknown fields: {', '.join(unknown)[:200]}; the fields are: {', '.join(sorted(known))}"
        raise Refused(Problem("UNKNOWN_FIELD", description))
