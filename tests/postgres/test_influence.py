"""A column that only decides which rows or values there are is not part of them."""

from collections.abc import Callable

import pytest

from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event


def grouped_by_email(world: World) -> None:
    """As Spark's listener reports `select sha2(email), count(*) … group by email`."""
    indirect, masked = {"type": "INDIRECT", "subtype": "GROUP_BY"}, {"type": "DIRECT", "masking": True}
    lineage = column_lineage(
        hash=[field("people", "email", masked)], total=[field("people", "email", indirect), field("people", "id")]
    )
    lineage["dataset"] = [field("people", "email", indirect)]
    world.take(run_event(inputs=[dataset("people")], outputs=[dataset("report", columnLineage=lineage)]))
    world.person("people.email", "upsert", attributes={"tags": ["PII", "GDPR"]})


def test_pii_does_not_follow_influences(make_world: Callable[[], World]) -> None:
    world = make_world()
    grouped_by_email(world)
    world.settle()
    assert world.derived("pii") == set()
    assert world.derived("gdpr") == {"report.hash"}  # masking does not stop it
    assert world.stored() == world.recomputed()


@pytest.mark.parametrize("tag", ["pii", "gdpr"])
def test_a_tag_follows_influences_where_its_definition_names_them(make_world: Callable[[], World], tag: str) -> None:
    world = make_world()
    grouped_by_email(world)
    world.define(tag, edge_types=["influences"])
    world.settle()
    assert world.derived(tag) == {"report", "report.total"}
    assert world.stored() == world.recomputed()
    world.define(tag)
    world.settle()
    assert world.derived(tag) == {"report.hash"}
    assert world.stored() == world.recomputed()


def test_what_is_derived_from_all_types_but_influences(make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("a", tags=["PII"])
    for kind in ("derived-from", "used-in", "contains", "of-our-own", "influences"):
        world.asset(kind)
        world.edge("a", kind, kind)
    world.settle()
    assert world.derived("pii") == {"derived-from", "used-in", "contains", "of-our-own"}
