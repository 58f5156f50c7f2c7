"""Names and texts as PostgreSQL reads them, whatever they contain. Needs `standard_conforming_strings`, as is usual."""

from collections.abc import Iterable

MAX_BYTES = 63  # of a name


def quoted(*names: str) -> str:
    """A name, with the names that it is in before it."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def is_current_user(roles: Iterable[str]) -> str:
    """By name and not by membership: a member of two roles has decisions of its own, which may be stricter."""
    return f"current_user = ANY (ARRAY[{', '.join(map(literal, roles))}]::name[])"
