"""A tag on one name of a table holds on the other."""

from collections.abc import Callable

import pytest

from tests.lineage_world import World
from tests.openlineage_words import DB, run_event, schema

NAMES = ("shop.t.email", "s3://lake/t.email")


@pytest.mark.parametrize(("tagged", "reached"), [NAMES, NAMES[::-1]])
def test_a_tag_on_a_column_of_one_name_holds_on_the_other(
    make_world: Callable[[], World], tagged: str, reached: str
) -> None:
    world = make_world()
    symlinks = {"identifiers": [{"namespace": "s3://lake", "name": "t", "type": "LOCATION"}]}
    facets = {"symlinks": symlinks, "schema": schema("email", "id")}
    world.take(run_event(outputs=[{"namespace": DB, "name": "shop.t", "facets": facets}]))
    world.column(tagged, tagged.removesuffix(".email"), tags=["PII"])
    world.column(reached, reached.removesuffix(".email"))
    world.settle()
    assert world.derived("pii") == {reached}
    assert world.stored() == world.recomputed()
