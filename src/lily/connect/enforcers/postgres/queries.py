"""The SQL of this package: `query("roles")` is the text of `sql/roles.sql`."""

from functools import cache
from importlib import resources
from typing import LiteralString


@cache
def query(name: str) -> LiteralString:
    # The files are part of the package, so their text can be trusted like a literal.
    return resources.files(__package__).joinpath("sql", f"{name}.sql").read_text()  # type: ignore[return-value,unused-ignore]
