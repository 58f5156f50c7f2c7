"""Random histories of a tenant in both stores, for hypothesis: `WithoutAuthority` and `WithAndWithoutAuthority`."""

import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lily.model import clock
from lily.model.columns import ColumnsEvent
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, read_edge_statement
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from tests.both_stores import BothStores
from tests.postgres.decided_tags import DecidedTags

TABLES, COLUMNS = ("s", "t", "u", "r"), ("t.a", "t.b", "u.a")
ASSETS = TABLES + COLUMNS
NAMES, TABLE_NAMES, COLUMN_NAMES = map(st.sampled_from, (ASSETS, TABLES, COLUMNS))
PAIRS = st.lists(NAMES, min_size=2, max_size=2, unique=True)
# A child and its parent. What is below a plain column inherits from it only once PostgreSQL or the graph has it.
PLACES = st.tuples(NAMES, TABLE_NAMES).filter(lambda place: place[0] != place[1])
TAGS = st.sampled_from(["pii", "gdpr", "secret"])
TAG_LISTS = st.lists(TAGS, unique=True, max_size=2)
KINDS = st.sampled_from(["derived-from", "derived-from", "influences"])
TYPES = st.sampled_from(["table", "dashboard", "column"])
MINUTES = st.sampled_from([0, 0, 0, -30, -5, 4.9])  # late, now, or from a clock that is ahead as far as is allowed
SETTINGS = st.fixed_dictionaries({}, optional={name: st.none() | st.booleans() for name in ("propagates", "masking")})
ABSENT = "absent"
Tags = Mapping[str, AbstractSet[str]]


def differences(found: Tags, expected: Tags) -> dict[str, tuple[list[str], list[str]]]:
    """By asset: what was found, and what was expected."""
    names = {name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)}
    return {name: (sorted(found.get(name, ())), sorted(expected.get(name, ()))) for name in sorted(names)}


class Estate(RuleBasedStateMachine):
    """Every kind of statement about tables and columns, and every step of the queries; `authorised` is who writes."""

    authorised = False

    def __init__(self, stores: BothStores) -> None:
        super().__init__()
        self.stores = stores

    @rule(name=TABLE_NAMES, tags=st.none() | TAG_LISTS, minutes=MINUTES)
    def the_source_states_tags_of_a_table(self, name: str, tags: list[str] | None, minutes: float) -> None:
        self.source(name, minutes, tags=tags)

    @rule(name=COLUMN_NAMES, parent=st.sampled_from([ABSENT, "own", "own", None]), minutes=MINUTES)
    def the_source_states_a_plain_column_in_bulk(self, name: str, parent: str | None, minutes: float) -> None:
        table = name.partition(".")[0] if parent == "own" else None
        stated: dict[str, Any] = {} if parent == ABSENT else {"parent": table}
        self.source(name, minutes, **stated)

    @rule(table=st.sampled_from(["t", "u"]), columns=st.sets(st.sampled_from("ab"), min_size=1), minutes=MINUTES)
    def the_source_states_all_columns_of_a_table(self, table: str, columns: set[str], minutes: float) -> None:
        stated = {column: {"data_type": "text"} for column in sorted(columns) if f"{table}.{column}" in ASSETS}
        if stated:
            self.stores.state(ColumnsEvent(*self.envelope(minutes), table, stated, authorised=self.authorised))

    @rule(name=COLUMN_NAMES, tags=st.none() | TAG_LISTS, minutes=MINUTES, single=st.booleans())
    def the_source_states_tags_of_a_column(
        self,
        name: str,
        tags: list[str] | None,
        minutes: float,
        single: bool,  # noqa: FBT001
    ) -> None:
        self.source(name, minutes, single=single, tags=tags, parent=name.partition(".")[0])

    @rule(place=PLACES, minutes=MINUTES)
    def the_source_moves(self, place: tuple[str, str], minutes: float) -> None:
        self.source(place[0], minutes, parent=place[1])

    @rule(name=NAMES, minutes=MINUTES)
    def the_source_states_no_parent(self, name: str, minutes: float) -> None:
        self.source(name, minutes, parent=None)

    @rule(name=NAMES, kind=TYPES, parent=st.sampled_from([ABSENT, None, "r"]), minutes=MINUTES, single=st.booleans())
    def the_source_states_another_type(
        self,
        name: str,
        kind: str,
        parent: str | None,
        minutes: float,
        single: bool,  # noqa: FBT001
    ) -> None:
        stated: dict[str, Any] = {} if parent in {ABSENT, name} else {"parent": parent}
        self.source(name, minutes, kind=kind, single=single, **stated)

    @rule(name=NAMES, minutes=MINUTES)
    def the_source_deletes(self, name: str, minutes: float) -> None:
        self.source(name, minutes, operation="delete")

    @rule(name=NAMES, tag=TAGS, operation=st.sampled_from(["tag", "untag"]), minutes=MINUTES)
    def a_person_edits_a_tag(self, name: str, tag: str, operation: str, minutes: float) -> None:
        self.statement(minutes, layer="user", qualified_name=name, operation=operation, tag=tag)

    @rule(name=NAMES, tags=TAG_LISTS, minutes=MINUTES)
    def a_person_states_all_tags(self, name: str, tags: list[str], minutes: float) -> None:
        self.edit("user", name, minutes, tags=tags)

    @rule(name=NAMES)
    def a_person_edits_what_is_no_tag(self, name: str) -> None:
        self.edit("user", name, 0, owner="ada")

    @rule(name=NAMES, parent=st.none() | TABLE_NAMES, minutes=MINUTES)
    def a_person_moves(self, name: str, parent: str | None, minutes: float) -> None:
        if name != parent:
            self.edit("user", name, minutes, parent=parent)

    @rule(name=NAMES, tags=TAG_LISTS, minutes=MINUTES)
    def a_rule_enriches_tags(self, name: str, tags: list[str], minutes: float) -> None:
        self.edit("enriched", name, minutes, tags=tags)

    @rule(name=NAMES, operation=st.sampled_from(["delete", "restore"]), minutes=MINUTES)
    def a_person_deletes_or_restores(self, name: str, operation: str, minutes: float) -> None:
        self.statement(minutes, layer="user", qualified_name=name, operation=operation)

    @rule(ends=PAIRS, kind=KINDS, layer=st.sampled_from(["source", "user"]), settings=SETTINGS, minutes=MINUTES)
    def an_edge_is_stated(
        self, ends: list[str], kind: str, layer: str, settings: dict[str, bool | None], minutes: float
    ) -> None:
        self.edge(ends, kind, minutes, layer=layer, **settings)

    @rule(ends=PAIRS, kind=KINDS, layer=st.sampled_from(["source", "user"]), minutes=MINUTES)
    def an_edge_is_deleted(self, ends: list[str], kind: str, layer: str, minutes: float) -> None:
        self.edge(ends, kind, minutes, layer=layer, operation="delete")

    @rule(
        job=st.sampled_from(["one", "two"]),
        run=st.sampled_from(["1", "2", "3"]),
        claims=st.lists(st.tuples(PAIRS, st.booleans()), max_size=3, unique_by=lambda claim: tuple(claim[0])),
        complete=st.booleans(),
        minutes=MINUTES,
    )
    def a_run_claims(
        self,
        job: str,
        run: str,
        claims: list[tuple[list[str], bool]],
        complete: bool,  # noqa: FBT001
        minutes: float,
    ) -> None:
        made = tuple(Claim(self.key(ends, "derived-from"), masking) for ends, masking in claims)
        envelope, job_id = self.envelope(minutes), self.stores.id_of(job)
        self.stores.link(ClaimsEvent(*envelope, job_id, run, complete, made, "etl", self.authorised))

    @precondition(lambda self: self.stores.assets)
    @rule(data=st.data())
    def a_statement_comes_again(self, data: st.DataObject) -> None:
        self.stores.state(data.draw(st.sampled_from(self.stores.assets)))

    @precondition(lambda self: self.stores.edges)
    @rule(data=st.data())
    def a_statement_about_an_edge_comes_again(self, data: st.DataObject) -> None:
        self.stores.link(data.draw(st.sampled_from(self.stores.edges)))

    @rule(most=st.integers(1, 4))
    def the_hot_query_goes_on(self, most: int) -> None:
        self.stores.apply_hot(most)

    @rule(most=st.integers(1, 4), crash=st.sampled_from([False, False, True]))
    def the_lake_query_writes_a_batch(self, most: int, crash: bool) -> None:  # noqa: FBT001
        self.stores.write_lake(most, crash=crash)

    @rule()
    def the_lake_query_promotes_between_batches(self) -> None:
        self.stores.between_batches()

    @rule()
    def the_lake_is_compacted(self) -> None:
        self.stores.lake.compact()

    @rule()
    def propagation_follows(self) -> None:
        self.stores.propagate()
        assert self.stores.stored() == self.stores.recomputed()

    @rule()
    def everything_catches_up(self) -> None:
        self.stores.catch_up()
        assert self.stores.stored() == self.stores.recomputed() == self.stores.expected()
        assert differences(self.stores.read(ASSETS), self.stores.expected_effective()) == {}

    def teardown(self) -> None:
        try:
            self.everything_catches_up()
        finally:
            self.stores.close()

    def source(
        self,
        name: str,
        minutes: float,
        *,
        kind: str | None = None,
        operation: str = "upsert",
        single: bool = False,
        **attributes: Any,
    ) -> None:
        kind = kind or ("column" if name in COLUMNS else "table")
        stated = {"name": name.rpartition(".")[2], **attributes}
        told = {"entity_type": kind, "qualified_name": name, "operation": operation, "attributes": stated}
        self.statement(minutes, single=single, **told)

    def edit(self, layer: str, name: str, minutes: float, **attributes: Any) -> None:
        self.statement(minutes, layer=layer, qualified_name=name, attributes=attributes)

    def statement(self, minutes: float, *, single: bool = False, **data: Any) -> None:
        statement = read_statement({**data, "by": "me", "authorised": self.authorised}, tenant=self.stores.tenant)
        self.stores.state(AssetEvent(*self.envelope(minutes), statement), single=single)

    def edge(self, ends: list[str], kind: str, minutes: float, **stated: Any) -> None:
        told = {"from": ends[0], "to": ends[1], "relationship_type": kind, "by": "me", "authorised": self.authorised}
        statement = read_edge_statement({**told, **stated}, tenant=self.stores.tenant)
        self.stores.link(EdgeEvent(*self.envelope(minutes), statement))

    def key(self, ends: list[str], kind: str) -> EdgeKey:
        return EdgeKey(self.stores.id_of(ends[0]), self.stores.id_of(ends[1]), kind)

    def envelope(self, minutes: float) -> tuple[str, str, str]:
        moment = datetime.now(UTC) + timedelta(minutes=minutes)
        return str(uuid.uuid4()), clock.stamp(moment), self.stores.tenant


class WithoutAuthority(Estate):
    """Somebody with authority may have begun; after that nobody has any."""

    def __init__(self, stores: BothStores, decided: DecidedTags) -> None:
        super().__init__(stores)
        self._decided = decided
        self._shown: Tags = {}
        self._decidable: Tags = {}  # what decisions must have
        stores.cut_deleted()

    @initialize(
        tagged=st.lists(st.tuples(NAMES, TAGS), min_size=1, max_size=3),
        placed=st.lists(PLACES, max_size=2),
        linked=st.lists(PAIRS, max_size=3),
        authorised=st.booleans(),
    )
    def tables_columns_tags_and_edges(
        self,
        tagged: list[tuple[str, str]],
        placed: list[tuple[str, str]],
        linked: list[list[str]],
        authorised: bool,  # noqa: FBT001
    ) -> None:
        self.authorised = authorised
        for name in ASSETS:
            stated: dict[str, Any] = {"parent": name.partition(".")[0]} if name in COLUMNS else {}
            self.source(name, -60, **stated)
        for name, tag in tagged:
            self.edit("user", name, -50, tags=[tag])
        for child, parent in placed:
            self.source(child, -40, parent=parent)
        for ends in linked:
            self.edge(ends, "derived-from", -40)
        self.authorised = False
        self.everything_catches_up()

    @invariant()
    def no_asset_loses_a_protective_tag(self) -> None:
        """An asset that decisions do not know at all is not theirs to decide: it is an unknown object. They do not read
        the lake, so what it has before the hot query is not in them yet."""
        _compare("in decisions", self._decided.of(self.stores, ASSETS), self._decidable)
        by_id = self._decided.of(self.stores, [self.stores.id_of(name) for name in ASSETS])
        known = {name: by_id[asset_id] for name in ASSETS if (asset_id := self.stores.id_of(name)) in by_id}
        _compare("in decisions by id", known, self._decidable)
        shown = self.stores.read(ASSETS)
        _compare("in reads", shown, self._shown)
        self._shown = shown
        if not self.stores.lake_is_ahead:
            self._decidable = shown


def _compare(where: str, found: Tags, before: Tags) -> None:
    lost = {name: sorted(tags - found.get(name, tags)) for name, tags in before.items()}
    assert {name: tags for name, tags in lost.items() if tags} == {}, where


class WithAndWithoutAuthority(Estate):
    @rule(authorised=st.booleans())
    def who_writes_next(self, authorised: bool) -> None:  # noqa: FBT001
        self.authorised = authorised

    @rule(name=NAMES, tag=TAGS, suppress=st.booleans(), minutes=MINUTES)
    def a_person_suppresses(self, name: str, tag: str, suppress: bool, minutes: float) -> None:  # noqa: FBT001
        about: dict[str, Any] = (
            {"operation": "suppress", "reason": "because"} if suppress else {"operation": "unsuppress"}
        )
        before, self.authorised = self.authorised, True
        self.statement(minutes, layer="user", qualified_name=name, tag=tag, **about)
        self.authorised = before

    @rule()
    def deletions_cut(self) -> None:
        self.stores.cut_deleted()
