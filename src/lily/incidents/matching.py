"""Which assets a source may mean by the name of a table.

Systems write `project:dataset.table`, `DB.SCHEMA.TABLE`, `db/schema/table` or the bare name of a table. Names compare
in any case and with any of these separators.
"""

import re
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

_SEPARATOR = re.compile(r"[.:/]+")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_QUOTES = str.maketrans("", "", '`"[]')


@lru_cache(maxsize=1 << 12)
def parts(name: str) -> tuple[str, ...]:
    """The parts of a name, without quotes."""
    return tuple(part.strip() for part in _SEPARATOR.split(name.translate(_QUOTES)) if part.strip())


def folded(name: str) -> str:
    """Names that fold alike mean the same table. Only ASCII letters fold, as in the index of names (`lower` in "C")."""
    return lowered(".".join(parts(name)))


def lowered(text: str) -> str:
    return text.translate(_LOWER)


def spellings(name: str) -> list[str]:
    """The qualified names that it may be stored as, but for case: as written, with dots, and as BigQuery, URIs and
    paths are written."""
    found = parts(name)
    written = [name.strip(), ".".join(found)]
    if len(found) > 2:
        written.append(f"{found[0]}:{'.'.join(found[1:])}")
    if len(found) > 1:
        written.append("/".join(found))
    return list(dict.fromkeys(spelled for spelled in written if spelled))


def is_bare(name: str) -> bool:
    """Whether it is the name of a table alone, without a schema or database."""
    return len(parts(name)) == 1
