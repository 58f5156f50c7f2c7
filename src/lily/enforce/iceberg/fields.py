"""Fields of an Iceberg schema: as a catalogue states them in a request, and as column assets describe them."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH

MAX_ID = 2**31 - 1  # field ids are ints
NUL = "\x00"
FIELD_ID, DATA_TYPE, REQUIRED, NULLABLE = "field_id", "data_type", "required", "nullable"  # attributes of a column
_FIELD = re.compile(r"\s*(\d{1,10})\s*:\s*(.+?)\s*:\s*(required|optional)\s+(.+?)\s*", re.DOTALL)
_PARAMETERS = re.compile(r"[\[(<].*", re.DOTALL)
# Names by which engines that read Iceberg call its types.
_ALIASES = {
    "varchar": "string",
    "text": "string",
    "integer": "int",
    "bigint": "long",
    "varbinary": "binary",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
}


class Field(NamedTuple):
    """`id` is None where the catalogue does not state it; `kind` is the name of an Iceberg type, or empty."""

    name: str
    id: int | None = None
    kind: str = ""
    required: bool = False


def parse_field(text: str) -> Field:
    """`4: email: optional string`, as PyIceberg prints a field. Raises Refused for anything else."""
    found = _FIELD.fullmatch(text)
    if found is None or NUL in text or not 0 < int(found[1]) <= MAX_ID:
        described = f"{text[:MAX_LENGTH]!r} is not a field; write `4: email: optional string`: id, name, type"
        raise Refused(Problem("INVALID_VALUE", described, "field"))
    return Field(found[2], int(found[1]), type_name(found[4]), found[3] == "required")


def catalogued_field(name: str, attributes: Mapping[str, Any]) -> Field:
    """What the attributes of a column asset state. A connector writes `field_id` as a number."""
    stated = attributes.get(FIELD_ID)
    is_id = isinstance(stated, int) and not isinstance(stated, bool) and 0 < stated <= MAX_ID
    required = attributes.get(REQUIRED) is True or attributes.get(NULLABLE) is False
    return Field(name, stated if is_id else None, type_name(attributes.get(DATA_TYPE)), required)


def type_name(given: Any) -> str:
    """`decimal(10,2)` becomes `decimal`; empty if there is none."""
    if not isinstance(given, str):
        return ""
    zone = " with time zone" if given.lower().rstrip().endswith(" with time zone") else ""
    name = _PARAMETERS.sub("", given.strip().lower()).strip()
    name = name if name.endswith(zone) else name + zone
    return _ALIASES.get(name, name)
