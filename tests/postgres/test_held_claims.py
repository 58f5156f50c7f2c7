"""Which claims of a job are held, and until when, in the order in which their events arrive."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from lily.lineage.pending_decisions import CONFIRMATION
from lily.model.edges import ClaimsEvent, RunDatasets
from tests.edge_oracle import KEYS
from tests.lineage_world import World
from tests.postgres.test_edge_conduction import Edges, claims

KEY, OTHER = KEYS


@pytest.fixture
def edges(make_world: Callable[[], World], owner: psycopg.Connection) -> Edges:
    return Edges(make_world(), owner)


def of_run(tick: int, run: str, state: str, *keys: Any, **more: Any) -> ClaimsEvent:
    """An event of a run that has a state of its own."""
    event = claims(tick, run, *keys, complete=state == "COMPLETE", **more)
    return replace(event, state=state, datasets=RunDatasets())


def confirmed(tick: int) -> ClaimsEvent:
    """A person with authority confirms that the job no longer claims the edge."""
    return replace(claims(tick, CONFIRMATION, complete=False, authorised=True), released=(KEY,))


def test_a_claim_that_a_masked_one_of_another_run_replaces_is_held_unmasked(edges: Edges) -> None:
    edges.feed(claims(1, "r1", KEY))
    edges.feed(claims(2, "r2", KEY, masking=True))
    assert (edges.shown()[KEY], edges.conduction()[KEY]) == ((True, True, False), 2)


def test_a_claim_that_a_masked_one_of_its_run_replaced_is_held_when_it_arrives_late(edges: Edges) -> None:
    edges.feed(claims(2, "r1", KEY, complete=False, masking=True))
    edges.feed(claims(1, "r1", KEY, complete=False))
    assert (edges.shown()[KEY], edges.conduction()[KEY]) == ((True, True, False), 2)


def test_a_run_that_completes_with_authority_decides_about_what_it_said_before(edges: Edges) -> None:
    edges.feed(of_run(3, "r1", "COMPLETE", KEY, masking=True, authorised=True))
    edges.feed(of_run(1, "r1", "RUNNING", KEY))
    assert (edges.held(), edges.conduction()[KEY]) == ([], 1)


@pytest.mark.parametrize("late", [False, True])
def test_what_others_add_to_such_a_run_decides_nothing(edges: Edges, late: bool) -> None:  # noqa: FBT001
    edges.feed(of_run(3, "r1", "COMPLETE", OTHER, authorised=True))
    added = of_run(4, "r1", "OTHER", KEY, masking=True)
    for event in (added, of_run(1, "r1", "RUNNING", KEY)) if late else (of_run(1, "r1", "RUNNING", KEY), added):
        edges.feed(event)
    assert (edges.shown()[KEY], edges.conduction()[KEY]) == ((True, True, False), 2)


def test_a_claim_of_a_run_that_goes_on_is_held_while_it_is_set_aside(edges: Edges) -> None:
    edges.feed(of_run(1, "r1", "RUNNING", KEY))
    edges.feed(of_run(2, "r2", "COMPLETE", OTHER))
    assert KEY not in edges.shown()
    assert edges.conduction()[KEY] == 2


def test_authority_ends_only_what_was_claimed_before_it_whatever_arrives_late(edges: Edges) -> None:
    edges.feed(claims(3, "r3", KEY))
    edges.feed(claims(4, "r4", OTHER))
    edges.feed(claims(1, "r1", KEY))  # late, and ended as well: the newest claim counts
    edges.feed(claims(2, "r2", OTHER, authorised=True))
    assert edges.conduction()[KEY] == 2
    edges.feed(claims(5, "r5", OTHER, authorised=True))
    assert edges.conduction()[KEY] == 0


def test_a_confirmation_ends_only_what_was_claimed_before_it(edges: Edges) -> None:
    edges.feed(claims(3, "r3", KEY))
    edges.feed(claims(4, "r4", OTHER))
    edges.feed(confirmed(2))
    assert edges.conduction()[KEY] == 2
    edges.feed(confirmed(5))
    assert edges.conduction()[KEY] == 0


def test_an_older_confirmation_does_not_replace_a_newer_one(edges: Edges) -> None:
    edges.feed(claims(6, "r6", OTHER))
    edges.feed(confirmed(5))
    edges.feed(confirmed(2))
    edges.feed(claims(3, "r3", KEY))
    assert edges.conduction()[KEY] == 0
