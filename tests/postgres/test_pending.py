"""What ended without authority is listed until its end is confirmed or undone."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lily.bus import topics
from lily.lineage.marks import EdgeMark
from lily.lineage.pending import PendingId, parse_pending_id
from lily.lineage.pending_decisions import Decision
from lily.model import clock, ids
from lily.model.edges import Claim, ClaimsEvent, EdgeKey
from lily.store.postgres.protection.kept import Kept
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated
from tests.postgres.review_queue import RECORD, ReviewQueue


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


@pytest.fixture
def queue(world: World, migrated: Migrated) -> ReviewQueue:
    return ReviewQueue(world, migrated.url_of("lily_api"))


def test_a_tag_is_pending_until_it_is_confirmed(world: World, queue: ReviewQueue) -> None:
    world.asset("a", tags=["PII", "raw"])
    world.asset("b")
    world.edge("a", "b")
    world.authorised = False
    world.asset("a", tags=[])
    world.settle()
    (item,) = queue.items()
    assert item.id == PendingId("tag", (world.id_of("a"), "pii"))
    assert (item.tags, item.ended_by) == (("pii",), "crawler")
    assert queue.kept(item) == Kept(frozenset({world.id_of("a"), world.id_of("b")}))
    queue.decide(item, "confirm")
    assert queue.items() == []
    assert world.derived() == set()


def test_an_undone_tag_is_a_persons(world: World, queue: ReviewQueue, decided: DecidedTags) -> None:
    world.asset("a", tags=["PII"])
    world.authorised = False
    world.asset("a", tags=[])
    (item,) = queue.items()
    queue.decide(item, "undo")
    assert queue.items() == []
    assert decided.of(world, ["a"]) == {"a": frozenset({"pii"})}


def test_a_tag_that_is_not_protective_is_not_pending(world: World, queue: ReviewQueue) -> None:
    world.asset("a", tags=["raw"])
    world.authorised = False
    world.asset("a", tags=[])
    assert queue.items() == []


@pytest.mark.parametrize("by_person", [False, True])
def test_a_parent_is_pending_while_a_tag_comes_down_from_it(
    world: World, queue: ReviewQueue, decided: DecidedTags, *, by_person: bool
) -> None:
    world.typed("schema", "crm", tags=["GDPR"])
    world.typed("schema", "open")
    world.asset("t", parent="crm")
    world.asset("down")
    world.edge("t", "down")
    world.asset("free", parent="open")
    world.authorised = False
    for name, parent in (("t", "open"), ("free", "crm")):
        if by_person:
            world.person(name, "upsert", attributes={"parent": parent})
        else:
            world.asset(name, parent=parent)
    world.settle()
    (item,) = queue.items()
    assert item.id == PendingId("parent", (world.id_of("t"), world.id_of("crm")))
    assert (item.tags, item.ended_by) == (("gdpr",), "ada" if by_person else "crawler")
    assert queue.kept(item) == Kept(frozenset({world.id_of("t"), world.id_of("down")}))
    queue.decide(item, "confirm")
    assert queue.items() == []
    assert decided.of(world, ["t", "down"]) == {"t": frozenset(), "down": frozenset()}
    assert world.stored() == world.recomputed()


def test_an_undone_move_sets_the_parent_again(world: World, queue: ReviewQueue, decided: DecidedTags) -> None:
    world.typed("schema", "crm", tags=["GDPR"])
    world.asset("t", parent="crm")
    world.authorised = False
    world.asset("t", parent="open")
    world.settle()
    (item,) = queue.items()
    queue.decide(item, "undo")
    assert (queue.items(), world.shown("t", "parent")) == ([], world.id_of("crm"))
    assert decided.of(world, ["t"]) == {"t": frozenset({"gdpr"})}


ENDS: dict[str, Callable[[World], None]] = {
    "deleted": lambda world: world.unlink("a", "b", authorised=False),
    "blocked": lambda world: world.edge("a", "b", propagates=False, authorised=False),
    "masked": lambda world: world.edge("a", "b", masking=True, authorised=False),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("decision", ["confirm", "undo"])
def test_an_edge_is_pending_while_tags_pass_it(world: World, queue: ReviewQueue, end: str, decision: Decision) -> None:
    world.define("secret", stopped_by_masking=True)
    world.asset("a", tags=["secret"])
    for name in ("b", "c", "plain"):
        world.asset(name)
    world.edge("a", "b")
    world.edge("b", "c")
    world.edge("plain", "c")
    ENDS[end](world)
    world.unlink("plain", "c", authorised=False)
    world.settle()
    (item,) = queue.items()
    assert item.id == PendingId("edge", (world.id_of("a"), world.id_of("b"), "derived-from"))
    assert (item.tags, item.ended_by) == (("secret",), "ada")
    assert queue.kept(item) == Kept(frozenset({world.id_of("b"), world.id_of("c")}))
    queue.decide(item, decision)
    assert queue.items() == []
    assert world.derived("secret") == (set() if decision == "confirm" else {"b", "c"})
    if decision == "undo":
        assert world.edges()["a", "b", "derived-from"]["masking"] is False
    assert world.stored() == world.recomputed()


def test_what_arrives_in_another_way_is_not_kept_by_the_edge(world: World, queue: ReviewQueue) -> None:
    world.asset("a", tags=["PII"])
    for name in ("b", "c"):
        world.asset(name)
    world.edge("a", "b")
    world.edge("b", "c")
    world.edge("a", "c")
    world.unlink("a", "b", authorised=False)
    world.settle()
    (item,) = queue.items()
    assert queue.kept(item) == Kept(frozenset({world.id_of("b")}))


def claims(world: World, time: str, run: str, *edges: tuple[str, str]) -> ClaimsEvent:
    keys = [EdgeKey(world.id_of(start), world.id_of(end), "derived-from") for start, end in edges]
    made = tuple(Claim(key) for key in keys)
    return ClaimsEvent(
        ids.event_id(), time, world.tenant, world.id_of("job"), run, complete=True, claims=made, by="etl"
    )


def run(world: World, *events: ClaimsEvent) -> None:
    for event in events:
        world.store.apply(topics.LINEAGE_INTAKE, {}, [(RECORD, event)], [])
        world.marks.edges += [EdgeMark(*claim.key[:2]) for claim in event.claims]


@pytest.fixture
def claimed(world: World) -> World:
    """A job read `a` and `other`, and now reads only `other`."""
    world.asset("a", tags=["PII"])
    for name in ("b", "other"):
        world.asset(name)
    run(
        world,
        claims(world, "2026-01-01T00:00:00.000000Z", "one", ("a", "b"), ("other", "b")),
        claims(world, "2026-01-02T00:00:00.000000Z", "two", ("other", "b")),
    )
    world.settle()
    return world


@pytest.mark.parametrize("decision", ["confirm", "undo"])
def test_a_claim_is_pending_once_its_job_no_longer_makes_it(
    claimed: World, queue: ReviewQueue, decision: Decision
) -> None:
    (item,) = queue.items()
    assert item.id == PendingId("claim", (*map(claimed.id_of, ("job", "a", "b")), "derived-from"))
    assert (item.tags, item.ended_by, item.ended_at) == (("pii",), "etl", "2026-01-02T00:00:00.000000Z")
    assert queue.kept(item) == Kept(frozenset({claimed.id_of("b")}))
    queue.decide(item, decision)
    assert queue.items() == []
    assert claimed.derived() == (set() if decision == "confirm" else {"b"})
    assert (("a", "b", "derived-from") in claimed.edges()) is (decision == "undo")
    assert claimed.stored() == claimed.recomputed()


def test_a_claim_that_arrives_late_is_confirmed_as_well(claimed: World, queue: ReviewQueue) -> None:
    (item,) = queue.items()
    queue.decide(item, "confirm")
    run(claimed, claims(claimed, "2026-01-01T12:00:00.000000Z", "late", ("a", "b")))
    claimed.settle()
    assert (queue.items(), claimed.derived()) == ([], set())


def test_a_job_that_claims_the_edge_again_holds_it_again(claimed: World, queue: ReviewQueue) -> None:
    (item,) = queue.items()
    queue.decide(item, "confirm")
    later = [clock.now(), clock.now()]
    run(claimed, claims(claimed, later[0], "three", ("a", "b"), ("other", "b")))
    claimed.settle()
    assert (queue.items(), claimed.derived()) == ([], {"b"})
    run(claimed, claims(claimed, later[1], "four", ("other", "b")))
    claimed.settle()
    assert ([one.id for one in queue.items()], claimed.derived()) == ([item.id], {"b"})


@pytest.mark.parametrize("decision", ["confirm", "undo"])
def test_a_persons_edge_that_a_job_masks_is_pending(world: World, queue: ReviewQueue, decision: Decision) -> None:
    world.define("secret", stopped_by_masking=True)
    world.asset("a", tags=["secret"])
    world.asset("b")
    world.edge("a", "b")
    masked = claims(world, clock.now(), "one", ("a", "b"))
    run(world, replace(masked, claims=tuple(claim._replace(masking=True) for claim in masked.claims)))
    world.settle()
    (item,) = queue.items()
    assert (item.id.kind, item.tags) == ("edge", ("secret",))
    queue.decide(item, decision)
    assert queue.items() == []
    assert world.derived("secret") == (set() if decision == "confirm" else {"b"})
    assert world.edges()["a", "b", "derived-from"]["masking"] is (decision == "confirm")


def test_an_edge_that_another_job_claims_is_not_pending(claimed: World, queue: ReviewQueue) -> None:
    claimed.edge("a", "b")
    assert queue.items() == []


def test_a_deletion_is_pending_where_deletion_cuts(world: World, queue: ReviewQueue) -> None:
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.asset("lonely", tags=["PII"])
    world.edge("a", "b")
    world.authorised = False
    world.person("a", "delete")
    world.person("lonely", "delete")
    world.settle()
    assert queue.items() == []
    world.on_delete("cut")
    world.settle()
    (item,) = queue.items()
    assert (item.id, item.tags, item.ended_by) == (PendingId("deletion", (world.id_of("a"),)), ("pii",), "ada")
    assert queue.kept(item) == Kept(frozenset({world.id_of("b")}))
    queue.decide(item, "confirm")
    assert (queue.items(), world.derived()) == ([], set())
    assert world.stored() == world.recomputed()


def test_pages_are_of_the_size_that_was_asked_for(world: World, queue: ReviewQueue) -> None:
    for number in range(7):
        world.asset(f"a{number}", tags=["PII", "GDPR"])
    world.authorised = False
    for number in range(7):
        world.asset(f"a{number}", tags=[])
    assert queue.items(limit=3) == queue.items()
    assert len(queue.items()) == len(set(queue.items())) == 14


def test_ids_are_parsed_back(world: World) -> None:
    some = [
        PendingId("tag", (world.id_of("a"), "ünï")),
        PendingId("claim", (world.id_of("a"), world.id_of("b"), world.id_of("c"), "derived-from")),
        PendingId("deletion", (world.id_of("a"),)),
    ]
    assert [parse_pending_id(str(one)) for one in some] == some
