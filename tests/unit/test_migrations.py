"""A migration that has landed is part of databases that we cannot reach, so its file never changes."""

from lily.store.postgres.migrations.runner import SHIPPED
from lily.store.postgres.migrations.scripts import read_schema

MANIFEST = "landed.sha256"  # as `sha256sum` writes it, and `sha256sum -c` reads it
MIGRATIONS = read_schema(SHIPPED).migrations


def landed() -> dict[str, str]:
    """Checksums by name."""
    lines = SHIPPED.joinpath(MANIFEST).read_text().splitlines()
    return {name: checksum for checksum, name in (line.split() for line in lines)}


def test_no_landed_migration_was_changed_or_removed() -> None:
    shipped = {script.name: script.checksum for script in MIGRATIONS}
    changed = [name for name, checksum in landed().items() if shipped.get(name) != checksum]
    assert not changed, f"Restore {', '.join(changed)}: a change of the schema is a new migration."


def test_every_migration_has_landed() -> None:
    lines = [f"{script.checksum}  {script.name}" for script in MIGRATIONS if script.name not in landed()]
    assert not lines, f"Add to {MANIFEST} when the migration lands, and never change it again:\n" + "\n".join(lines)


def test_the_numbers_of_migrations_have_no_gap_and_no_double() -> None:
    assert [int(script.name[:4]) for script in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
