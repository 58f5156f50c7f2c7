"""Whatever happens to a graph, in whatever order: what is stored equals the recomputation, explains itself, and is
remembered.

Random graphs with circles, random tags, edges, blocks, masks, suppressions, deletions, restores, parents and
definitions, edges with and without authority; against PostgreSQL, not through Spark.
"""

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.shared_stack import Stack

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "g"])
TAGS = st.sampled_from(["pii", "gdpr", "secret"])
TYPES = st.sampled_from(["derived-from", "used-in", "influences"])


class Lineage(RuleBasedStateMachine):
    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    @rule(name=NAMES, tags=st.lists(TAGS, unique=True, max_size=2))
    def the_source_states_tags(self, name: str, tags: list[str]) -> None:
        self.world.asset(name, tags=tags)

    @rule(name=NAMES, tag=TAGS, operation=st.sampled_from(["tag", "untag"]))
    def a_person_edits_a_tag(self, name: str, tag: str, operation: str) -> None:
        self.world.person(name, operation, tag=tag)

    @rule(
        ends=st.lists(NAMES, min_size=2, max_size=2, unique=True),
        kind=TYPES,
        flags=st.fixed_dictionaries(
            {"authorised": st.booleans()}, optional={"propagates": st.booleans(), "masking": st.booleans()}
        ),
    )
    def an_edge_is_stated(self, ends: list[str], kind: str, flags: dict[str, bool]) -> None:
        self.world.edge(ends[0], ends[1], kind, **flags)

    @rule(ends=st.lists(NAMES, min_size=2, max_size=2, unique=True), kind=TYPES, authorised=st.booleans())
    def an_edge_is_deleted(self, ends: list[str], kind: str, authorised: bool) -> None:  # noqa: FBT001
        self.world.unlink(ends[0], ends[1], kind, authorised=authorised)

    @rule(name=NAMES, tag=TAGS, suppress=st.booleans())
    def a_person_suppresses(self, name: str, tag: str, suppress: bool) -> None:  # noqa: FBT001
        if suppress:
            self.world.person(name, "suppress", tag=tag, reason="because")
        else:
            self.world.person(name, "unsuppress", tag=tag)

    @rule(name=NAMES, operation=st.sampled_from(["delete", "restore"]))
    def a_person_deletes_or_restores(self, name: str, operation: str) -> None:
        self.world.person(name, operation)

    @rule(ends=st.lists(NAMES, min_size=2, max_size=2, unique=True))
    def a_parent_changes(self, ends: list[str]) -> None:
        self.world.asset(ends[0], parent=ends[1])

    @rule(name=NAMES)
    def a_parent_goes(self, name: str) -> None:
        self.world.asset(name, parent=None)

    @rule(
        tag=TAGS,
        propagates=st.booleans(),
        direction=st.sampled_from(["downstream", "upstream", "both"]),
        max_depth=st.sampled_from([None, 1, 2]),
        edge_types=st.sampled_from([None, ["used-in"], ["derived-from", "influences"]]),
        stopped=st.booleans(),
    )
    def a_definition_changes(  # noqa: PLR0917 - a definition has so many parts
        self,
        tag: str,
        propagates: bool,  # noqa: FBT001
        direction: str,
        max_depth: int | None,
        edge_types: list[str] | None,
        stopped: bool,  # noqa: FBT001
    ) -> None:
        self.world.define(
            tag,
            propagates=propagates,
            direction=direction,
            max_depth=max_depth,
            edge_types=edge_types,
            stopped_by_masking=stopped,
        )

    @rule(value=st.sampled_from(["keep", "cut"]))
    def the_tenant_decides_about_deletion(self, value: str) -> None:
        self.world.on_delete(value)

    @invariant()
    def what_is_stored_is_what_a_recomputation_gives_and_explains_itself(self) -> None:
        self.world.settle()
        assert self.world.stored() == self.world.recomputed()
        assert self.world.unexplained() == []
        self.world.note()

    def teardown(self) -> None:
        """The history has every moment as it was."""
        assert [self.world.difference(moment) for moment in self.world.moments] == [None] * len(self.world.moments)


@pytest.mark.campaign
@pytest.mark.timeout(400)
def test_incremental_propagation_equals_recomputation(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], catalogue_writer: CatalogueWriter
) -> None:
    with (
        psycopg.connect(stack.database, autocommit=True) as owner,
        closing(Propagator(stack.database_of("lily_pipeline"))) as propagator,
    ):

        def machine() -> Lineage:
            return Lineage(World(make_tenant()[0], catalogue_writer, propagator, owner))

        run_state_machine_as_test(
            machine,  # type: ignore[arg-type]  # a factory serves as well, says hypothesis
            settings=settings(
                max_examples=16, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
