"""The names of common table expressions in the SQL of a job, found without parsing it."""

import re
from collections.abc import Iterable

_NAME = r'(?:(?<![\w$.])([\w$]+)|"([^"]{1,256})"|`([^`]{1,256})`|\[([^\]]{1,256})\])'
_DEFINED = re.compile(rf"{_NAME}\s*(?:\([^()]*\)\s*)?\bas\s*(?:not\s+)?(?:materialized\s*)?\(", re.IGNORECASE)


class CommonTables:
    """The names that a text defines like a common table expression, without those of `datasets`. Since a text such as
    `cast(x as (…))` may look like one, this only decides about names that stand where a dataset is expected."""

    def __init__(self, text: str = "", datasets: Iterable[object] = ()) -> None:
        defined = ("".join(found).lower() for found in _DEFINED.findall(text))
        self._names = set(defined) - {str(name).lower() for name in datasets}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._names
