"""XML: `<assets><asset><entity_type>table</entity_type><tags><tag>PII</tag></tags></asset></assets>`.

Parsed by expat as it streams in. A document type declaration is refused, so there are no entities to expand and
nothing outside of the body to fetch.
"""

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from lily.formats.row import too_long
from lily.formats.table import FIELDS, LISTS
from lily.model.errors import Problem, Refused
from lily.plugins.formats import Row

ROOT, ASSET = "assets", "asset"
_ASSET_DEPTH, _VALUE_DEPTH, _ITEM_DEPTH = 2, 3, 4
MAX_DEPTH = 8  # twice what an asset needs; expat keeps every open element in memory
PIECE = 64 << 10  # bytes per call of expat, which scans an unfinished token from its start in every call
# What expat decodes itself. For any other it would run a codec of Python, and those include zlib and rot13.
ENCODINGS = ("utf-8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "us-ascii")
_ELEMENT_BYTES = 64  # the minimum cost of an element, so that the limit also ends a row of empty elements
_NULL = ("xsi:nil", "true")


class AssetBuilder:
    """The asset being read. Its first error makes it a Problem."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._limit = limit
        self._fields: dict[str, Any] = {}
        self._text: list[str] = []
        self._items: list[str] = []
        self._is_list = self._is_null = False
        self._problem: Problem | None = None

    def open(self, name: str, attributes: dict[str, str], depth: int) -> None:
        self._spend(len(name) + _ELEMENT_BYTES)
        self._is_null = depth == _VALUE_DEPTH and attributes.pop(_NULL[0], "") == _NULL[1]
        if attributes:
            self.refuse("UNKNOWN_FIELD", f"XML attributes are not read; write {next(iter(attributes))} as an element")
        if depth > _ITEM_DEPTH:
            self.refuse("MALFORMED_XML", f"<{name[:64]}> is nested too deep: an asset has values and lists of values")
        if depth == _VALUE_DEPTH:
            self._items, self._is_list = [], name in LISTS
        self._is_list = self._is_list or depth == _ITEM_DEPTH
        self._text = []

    def text(self, text: str, depth: int) -> None:
        self._spend(len(text.encode()))
        if depth >= _VALUE_DEPTH:
            self._text.append(text)
        elif text.strip():
            self.refuse("MALFORMED_XML", f"text between the values of an asset: {text.strip()[:64]!r}")

    def end(self, name: str, depth: int) -> None:
        text, self._text = "".join(self._text), []
        if depth == _ITEM_DEPTH:
            self._items.append(text.strip())
        elif depth == _VALUE_DEPTH:
            self._end_value(name, text)

    def row(self) -> Row:
        if self._problem is not None:
            return self._problem
        attributes = {name: value for name, value in self._fields.items() if name not in FIELDS}
        stated = {name: value for name, value in self._fields.items() if name in FIELDS}
        return {**stated, "attributes": attributes}

    def refuse(self, code: str, description: str) -> None:
        self._problem = self._problem or Problem(code, description, "row")

    def _end_value(self, name: str, text: str) -> None:
        if name in self._fields:
            self.refuse("MALFORMED_XML", f"the asset names {name[:64]} twice")
        elif self._is_null:
            self._fields[name] = None
        elif self._is_list:
            if text.strip():
                self.refuse("MALFORMED_XML", f"text between the items of {name[:64]}")
            self._fields[name] = [item for item in self._items if item]
        elif text:
            self._fields[name] = text

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self._problem, self._fields, self._items, self._text = too_long(self._limit), {}, [], []


class Assets:
    """After the first part that is not well-formed, the rest of the body cannot be read."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._depth = 0
        self._asset: AssetBuilder | None = None
        self._rows: list[Row] = []
        self._collected: list[bytes] = []
        self._length = 0  # of what is collected
        self._pending = 0  # bytes since expat last reported anything: it buffers a token until the token ends
        self._broken = False
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.CommentHandler = self._reset
        self._parser.ProcessingInstructionHandler = self._reset
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.XmlDeclHandler = self._declaration

    def feed(self, chunk: bytes) -> Iterator[Row]:
        self._collected.append(chunk)
        self._length += len(chunk)
        if self._length >= PIECE:
            yield from self._parsed(self._taken(), last=False)

    def finish(self) -> Iterator[Row]:
        yield from self._parsed(self._taken(), last=True)

    def close(self) -> None:
        """Breaks the reference cycle of parser and handlers, so that both are freed immediately."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = self._parser.StartDoctypeDeclHandler = None
        self._parser.CommentHandler = self._parser.ProcessingInstructionHandler = None
        self._parser.XmlDeclHandler = None

    def _taken(self) -> bytes:
        piece = b"".join(self._collected)
        self._collected, self._length = [], 0
        return piece

    def _parsed(self, chunk: bytes, *, last: bool) -> list[Row]:
        if self._broken:
            return []
        self._pending += len(chunk)
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            self._fail(Problem("MALFORMED_XML", f"{error}; the rest cannot be read", "body"))
        except Refused as error:
            self._fail(error.problems[0])
        else:
            if self._pending > 2 * self._limit:
                self._fail(too_long(self._limit))
        rows, self._rows = self._rows, []
        return rows

    def _fail(self, problem: Problem) -> None:
        self._broken = True
        self._rows.append(problem)

    def _reset(self, *_: str) -> None:
        self._pending = 0

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        self._pending = 0
        self._depth += 1
        if self._depth > MAX_DEPTH:
            description = f"elements are nested deeper than {MAX_DEPTH} levels; the rest cannot be read"
            raise Refused(Problem("MALFORMED_XML", description, "body"))
        name = qualified.rpartition(":")[2]
        expected = {1: ROOT, _ASSET_DEPTH: ASSET}.get(self._depth, name)
        if name != expected:
            raise Refused(Problem("MALFORMED_XML", f"<{expected}> was expected, not <{name[:64]}>", "body"))
        if self._depth == _ASSET_DEPTH:
            self._asset = AssetBuilder(self._limit)
        if self._asset is not None:
            self._asset.open(name, attributes, self._depth)

    def _end(self, qualified: str) -> None:
        self._pending = 0
        if self._asset is not None:
            self._asset.end(qualified.rpartition(":")[2], self._depth)
            if self._depth == _ASSET_DEPTH:
                self._rows.append(self._asset.row())
                self._asset = None
        self._depth -= 1

    def _text(self, text: str) -> None:
        self._pending = 0
        if self._asset is not None:
            self._asset.text(text, self._depth)
        elif text.strip():
            raise Refused(Problem("MALFORMED_XML", f"text between assets: {text.strip()[:64]!r}", "body"))

    def _doctype(self, *_: object) -> None:
        raise Refused(Problem("MALFORMED_XML", "a document type declaration is not accepted; leave it out", "body"))

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            description = f"the encoding {encoding[:64]!r} is not supported; use one of {', '.join(ENCODINGS)}"
            raise Refused(Problem("UNSUPPORTED_ENCODING", description, "body"))


class Xml:
    media_types = ("application/xml", "text/xml")
    suffixes = (".xml",)

    def splitter(self, limit: int) -> Assets:
        return Assets(limit)
