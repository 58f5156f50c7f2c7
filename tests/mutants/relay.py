"""Faults in the outbox, the relay and the record of progress."""

from tests.mutants.mutant import Mutant, postgres, unit

PUBLISHER, ROUTING, EVENTS = (
    "reactions/relay/publisher.py",
    "reactions/relay/routing.py",
    "reactions/relay/change_events.py",
)
PLAIN, PLAIN_CHANGES = "reactions/relay/plain_changes.py", unit("test_plain_changes")
GOVERNANCE = "model/governance.py"
SQL = "store/postgres/outbox/sql"
RELAY, ROUTED = unit("test_relay"), unit("test_governance_routing", "test_relay")
OUTBOX, PROGRESS = postgres("test_outbox"), postgres("test_progress")
FLUSHED = "        if self._producer.flush(_FLUSH_SECONDS) or self._failed:\n"

MUTANTS = [
    Mutant("store/postgres/outbox/batches.py", "if is_large or len(together)", "if len(together)", OUTBOX),
    Mutant(PUBLISHER, FLUSHED, f"        outbox.mark_published(batches, {{}})\n{FLUSHED}", RELAY),
    Mutant(PUBLISHER, FLUSHED, "        if self._failed:\n", RELAY),
    Mutant(PUBLISHER, FLUSHED, "        if self._producer.flush(_FLUSH_SECONDS):\n", RELAY),
    Mutant(PUBLISHER, ", on_delivery=self._delivered", "", RELAY),
    Mutant(ROUTING, "for letter in outbox.dead_letters(batches):", "for letter in list[dict[str, Any]]():", RELAY),
    Mutant(GOVERNANCE, "{TAGS, PARENT_ID, COVERS, DELETED, CUT}", "{TAGS, PARENT_ID, COVERS, CUT}", ROUTED),
    Mutant(GOVERNANCE, "{TAGS, PARENT_ID, COVERS, DELETED, CUT}", "{TAGS, PARENT_ID, DELETED, CUT}", ROUTED),
    Mutant(GOVERNANCE, "{TAGS, PARENT_ID, COVERS, DELETED, CUT}", "{TAGS, PARENT_ID, COVERS, DELETED}", ROUTED),
    Mutant(GOVERNANCE, "(SUPPRESSED, HELD, HELD_PARENT)", "(HELD, HELD_PARENT)", ROUTED),
    Mutant(GOVERNANCE, "(SUPPRESSED, HELD, HELD_PARENT)", "(SUPPRESSED, HELD_PARENT)", ROUTED),
    Mutant(GOVERNANCE, "(SUPPRESSED, HELD, HELD_PARENT)", "(SUPPRESSED, HELD)", ROUTED),
    Mutant(GOVERNANCE, "return [*found, *kinds.values()]", "return list(changed)", RELAY),
    Mutant(GOVERNANCE, "return [*found, *kinds.values()]", "return found", RELAY),
    Mutant(GOVERNANCE, "in _TAG_FIELDS or field in named]", "in _TAG_FIELDS]", RELAY),
    Mutant(
        EVENTS,
        'dict.fromkeys(sorted(data["changed"])[:MAX_NAMED], None)',
        'dict.fromkeys(data["changed"], None)',
        RELAY,
    ),
    Mutant(EVENTS, "list(names[:MAX_NAMED])", "list(names)", RELAY),
    Mutant(EVENTS, 'changed=sorted(data["changed"])[:MAX_NAMED]', 'changed=sorted(data["changed"])', RELAY),
    Mutant(
        ROUTING,
        "not governance.needs_graph(change.after) or change.asset_id in members",
        "not governance.needs_graph(change.after)",
        ROUTED + OUTBOX,
    ),
    Mutant(ROUTING, 'change.layer != "enriched" and not', "not", ROUTED),
    Mutant(ROUTING, "yield _outgoing(topics.LINEAGE, key,", "yield _outgoing(topics.METADATA, key,", OUTBOX),
    Mutant(PLAIN, "row.before is None or ", "", PLAIN_CHANGES),
    Mutant(PLAIN, "row.entity_type is None or ", "", PLAIN_CHANGES),
    Mutant(PLAIN, """ or '"from"' in row.causes""", "", PLAIN_CHANGES),
    Mutant(PLAIN, "TAGS not in changed and ", "", PLAIN_CHANGES),
    Mutant(PLAIN, """ and "$" not in "".join(changed)""", "", PLAIN_CHANGES),
    Mutant(PLAIN, """ or '"trace"' in causes""", "", PLAIN_CHANGES),
    Mutant(PLAIN, ":0<6}Z", "}Z", PLAIN_CHANGES),
    Mutant(PLAIN, "orjson.loads(causes)[-1]", "orjson.loads(causes)[0]", PLAIN_CHANGES),
    Mutant(ROUTING, "if not wanted and is_plain", "if is_plain", RELAY),
    Mutant(ROUTING, " and rule_attributes.isdisjoint(changed):", ":", RELAY),
    Mutant(ROUTING, "if len(value) <= change_events.MAX_EVENT_BYTES:", "if value:", RELAY),
    Mutant(
        f"{SQL}/tables_of_batches.sql",
        "from refresh_runs where finished_batch",
        "from refresh_runs where batch_id",
        postgres("test_refresher"),
    ),
    Mutant(EVENTS, 'event_id=f"change-{row.position}"', 'event_id=f"change-{row.committed_at}"', RELAY),
    Mutant(EVENTS, "{said.position:020d}", "{said.position}", RELAY),
    Mutant(EVENTS, "newest = causes[-1] if causes", "newest = causes[0] if causes", RELAY),
    Mutant(
        "store/postgres/progress/sql/advance.sql",
        "greatest(applied.next_offset, excluded.next_offset)",
        "excluded.next_offset",
        PROGRESS,
    ),
    Mutant(
        "store/postgres/lake/sql/upsert_freshness.sql",
        "greatest(lake_progress.fresh_as_of, excluded.fresh_as_of)",
        "excluded.fresh_as_of",
        PROGRESS,
    ),
    Mutant(
        "store/postgres/progress/sql/published_ends.sql",
        'b.end_offset > given."offset"',
        'b.end_offset >= given."offset"',
        OUTBOX,
    ),
    Mutant("store/postgres/progress/sql/published_ends.sql", 'where b.begin_offset <= given."offset"', "", OUTBOX),
    Mutant("store/postgres/progress/propagated.py", "int(end) - 1)", "int(end))", unit("test_published_positions")),
    Mutant(
        f"{SQL}/mark_published.sql",
        "where id = any(%(batches)s)",
        "where published_at is null and %(batches)s is not null",
        OUTBOX,
    ),
    Mutant(
        f"{SQL}/delete_published.sql", "published_at < now()", "coalesce(published_at, '-infinity') < now()", OUTBOX
    ),
    Mutant(
        f"{SQL}/delete_published.sql",
        "published_at < now() - %s::interval",
        "published_at < now() - 0 * %s::interval",
        OUTBOX,
    ),
    Mutant(
        f"{SQL}/dead_letters_of_batches.sql",
        "where batch_id = any(%s)",
        "where batch_id = any(%s) and topic not like '%%@%%'",
        OUTBOX,
    ),
    Mutant(
        "store/postgres/reactions/sql/dead_letter.sql", "set batch_id = excluded.batch_id, errors", "set errors", OUTBOX
    ),
    Mutant(f"{SQL}/changes_of_batches.sql", "order by position", "order by position desc", OUTBOX),
    Mutant(f"{SQL}/in_graph.sql", "   or exists (select from edges e where e.to_id = a.id offset 0)\n", "", OUTBOX),
    Mutant(f"{SQL}/unpublished.sql", "where published_at is null ", "", OUTBOX),
    Mutant(f"{SQL}/unpublished.sql", "order by commit_number", "order by id", postgres("test_publication_order")),
    Mutant(
        "store/postgres/usage/writer.py",
        "for record, event in events if record.offset >= reached]",
        "for record, event in events]",
        postgres("quality_policies/test_usage"),
    ),
]
