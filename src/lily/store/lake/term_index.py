"""Which row groups of the lake can contain an asset whose name has given terms, or that has an owner or a data source,
without reading them.

For each row group the terms of its names are kept in memory, once for all of them, and then by parent and column: the
columns of a table lie together and share the terms of its name. Data files are immutable, so what was indexed stays
true; the first search that visits a row group reads its names, as it would without an index.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lily.model.lanes import BULK_TYPES
from lily.model.search_terms import search_terms

COLUMNS = ("tenant", "id", "entity_type", "name", "qualified_name", "source")
MAX_BYTES = 64 << 20  # of all indexes; a million columns take 10 to 25 MB
_ENTRY_BYTES = 200  # of the objects around the terms of a row group
_TYPES = pa.array(sorted(BULK_TYPES))
_BEGIN, _NEXT, _COLUMN = b"\n", b"\x1e", b"\x1f"  # before each term, parent and column; no term contains any of them

MAX_VALUES = 100  # of an attribute in a row group; with more, all of them may be there
_TEXT = r'"(?:[^"\\]|\\.)*"'

GroupKey = tuple[str, str, int]  # tenant, path and number


class GroupTerms(NamedTuple):
    """The terms of a row group, as `_joined` writes them. An asset that only the lake has was stated by a source, so
    its rows have one of the bulk types; other rows are left out."""

    all: bytes
    by_parent: bytes
    stated: Mapping[str, frozenset[str] | None] = {}  # owners and data sources as JSON has them; None if not known

    def may_state(self, attribute: str, value: str | None) -> bool:
        """Whether a row may state this value; without a value, True."""
        values = self.stated.get(attribute)
        return value is None or values is None or orjson.dumps(value).decode() in values

    def may_match(self, prefixes: Sequence[str] | None) -> bool:
        """Whether a name of the group may have a term for each prefix; without prefixes, whether it has names."""
        if not self.all or prefixes is None:
            return bool(self.all)
        sought = sorted((_BEGIN + _encoded(prefix) for prefix in prefixes), key=len, reverse=True)
        if not all(prefix in self.all for prefix in sought):
            return False
        return any(
            _has_column_with(sought, terms)
            for terms in self.by_parent.split(_NEXT)
            if all(prefix in terms for prefix in sought)
        )


class TermIndex:
    """The terms of the row groups that were searched last, up to MAX_BYTES. Several threads may use it."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._groups: OrderedDict[GroupKey, GroupTerms] = OrderedDict()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._lock = Lock()

    def terms(self, key: GroupKey, read: Callable[[], pa.Table | None]) -> GroupTerms:
        """The terms of a row group. Calls `read`, for COLUMNS of the tenant's rows, if they are not known."""
        with self._lock:
            if (known := self._groups.get(key)) is not None:
                self._groups.move_to_end(key)
                return known
        found = terms_of(read())
        with self._lock:
            if key not in self._groups:
                self._groups[key] = found
                self._bytes += _size(found)
            while self._bytes > self._max_bytes and len(self._groups) > 1:
                self._bytes -= _size(self._groups.popitem(last=False)[1])
        return found


def terms_of(rows: pa.Table | None) -> GroupTerms:
    """The terms of the names in these rows."""
    by_parent: dict[str, set[str]] = defaultdict(set)
    for parent, name in _names(rows):
        by_parent[parent].add(name)
    known: dict[str, frozenset[bytes]] = {}
    columns: dict[str, bytes] = {}
    parents: list[bytes] = []
    for parent, names in by_parent.items():
        joined = [columns.get(name) or columns.setdefault(name, _joined(_terms((name,), known))) for name in names]
        parents.append(_COLUMN.join((_joined(_terms((parent,), known)), *joined)))
    return GroupTerms(_joined(frozenset().union(*known.values())), _NEXT.join(parents), _stated(rows))


def _has_column_with(sought: Sequence[bytes], terms: bytes) -> bool:
    """Whether a column of a parent has what is sought together with its parent."""
    parent, *columns = terms.split(_COLUMN)
    left = [prefix for prefix in sought if prefix not in parent]
    return any(all(prefix in column for prefix in left) for column in columns)


def _stated(rows: pa.Table | None) -> dict[str, frozenset[str] | None]:
    """The owners and data sources in these rows."""
    if rows is None or "source" not in rows.column_names:
        return {}
    rows = rows.filter(pc.is_in(rows.column("entity_type"), _TYPES))
    return {attribute: _values(rows.column("source"), attribute) for attribute in ("owner", "data_source")}


def _values(source: pa.ChunkedArray, attribute: str) -> frozenset[str] | None:
    """None if an object within a row has the attribute too, or if there are too many values."""
    if (pc.max(pc.count_substring(source, f'"{attribute}":')).as_py() or 0) > 1:
        return None
    found = pc.extract_regex(source, f'"{attribute}":(?P<value>{_TEXT})')
    values = pc.unique(pc.drop_null(pc.struct_field(found, "value")))
    return frozenset(values.to_pylist()) if len(values) <= MAX_VALUES else None


def _names(rows: pa.Table | None) -> Iterator[tuple[str, str]]:
    """What is before the last dot of each qualified name, and what is after it, with the name if that differs."""
    if rows is None:
        return
    rows = rows.filter(pc.is_in(rows.column("entity_type"), _TYPES))
    for qualified_name, name in zip(*(rows.column(of).to_pylist() for of in ("qualified_name", "name")), strict=True):
        parent, _, last = qualified_name.rpartition(".")
        yield parent, f"{last} {name}" if name and name != last else last


def _terms(texts: Iterable[str], known: dict[str, frozenset[bytes]]) -> frozenset[bytes]:
    """The terms of several texts. Names of columns repeat, so those of a text are found out once."""
    found: set[bytes] = set()
    for text in texts:
        if (terms := known.get(text)) is None:
            terms = known[text] = frozenset(_encoded(term) for term in search_terms(text))
        found |= terms
    return frozenset(found)


def _joined(terms: Iterable[bytes]) -> bytes:
    return b"".join(_BEGIN + term for term in sorted(terms))


def _encoded(term: str) -> bytes:
    return term.encode(errors="surrogatepass")


def _size(terms: GroupTerms) -> int:
    stated = sum(len(value) for values in terms.stated.values() for value in values or ())
    return len(terms.all) + len(terms.by_parent) + stated + _ENTRY_BYTES
