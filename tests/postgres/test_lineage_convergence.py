"""The short form of two long searches, in PostgreSQL alone: what is stated about edges, and what propagates along them.

`tests/integration/test_edge_convergence.py` and `test_propagation_stateful.py` search for longer, on a whole stack.
"""

from collections.abc import Callable
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from tests.edge_oracle import Event, claims_events, edge_events, for_tenant, shown
from tests.integration.test_edge_convergence import arrivals, feed, stored, told
from tests.integration.test_propagation_stateful import Lineage
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

EVENTS = st.lists(edge_events() | claims_events(), min_size=4, max_size=12, unique_by=lambda event: event.id)


@settings(max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=EVENTS, random=st.randoms(use_true_random=False))
def test_sources_people_and_jobs_end_in_the_edges_of_the_oracle(
    migrated: Migrated, make_world: Callable[[], World], found: list[Event], random: Random
) -> None:
    world = make_world()
    mine = [for_tenant(world.tenant, event) for event in found]
    for batch in arrivals(mine, random):
        feed(world.store, batch)
    assert stored(migrated.owner, world.tenant) == shown(mine)
    assert feed(world.store, mine).changed == 0
    assert told(migrated.owner, world.tenant) == stored(migrated.owner, world.tenant)


def test_what_propagates_is_what_a_recomputation_gives(make_world: Callable[[], World]) -> None:
    run_state_machine_as_test(
        lambda: Lineage(make_world()),  # type: ignore[arg-type]  # a factory serves as well
        settings=settings(
            max_examples=6,
            stateful_step_count=25,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
