"""Positions of changes are the ids by which consumers drop repeats: none is used twice, also after a restore."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg

from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.progress.positions import raise_positions
from tests.postgres.migrated import Migrated


def next_position(owner: psycopg.Connection) -> int:
    return int(owner.execute("select nextval('changes_position_seq')").fetchall()[0][0])


def test_after_a_restore_positions_continue_above_those_that_were_published(
    migrated: Migrated, owner: psycopg.Connection
) -> None:
    backed_up = next_position(owner)
    published = next_position(owner) + 5_000
    owner.execute("select setval('changes_position_seq', %s)", [published])
    owner.execute("select setval('changes_position_seq', %s)", [backed_up])  # the restore
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as pipeline:
        pipeline.positions("any")
    first = next_position(owner)
    assert first > published
    assert first < 2**53  # what JSON readers in JavaScript take


def test_raising_positions_while_they_are_drawn_gives_none_twice(migrated: Migrated, owner: psycopg.Connection) -> None:
    owner.execute("select setval('changes_position_seq', 1)")

    def draw(raises: str) -> list[int]:
        with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
            if raises:
                raise_positions(connection)
            drawn = connection.execute("select nextval('changes_position_seq') from generate_series(1, 500)")
            return [position for (position,) in drawn]

    with ThreadPoolExecutor(8) as threads:
        drawn = [position for found in threads.map(draw, ["raises", ""] * 8) for position in found]
    assert len(drawn) == len(set(drawn)) == 8_000
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as api:
        raise_positions(api)
