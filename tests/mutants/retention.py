"""Faults in what is deleted by age, and in what is read of the past: what must not be deleted or taken for known."""

from tests.mutants.mutant import Mutant, postgres, unit

SQL = "store/postgres/retention/sql"
RETENTION = postgres("test_retention")
HISTORY, RECENT = postgres("test_archived_history"), postgres("test_recent_past")
CATALOGUE = "store/postgres/catalogue/sql"
AS_OF, PAST = "api/reads/as_of.py", unit("test_api_as_of")

MUTANTS = [
    Mutant(AS_OF, "or later.are_promoted or", "or", RECENT),
    Mutant(AS_OF, "asset.awaits_lake or later.are_archived or", "asset.awaits_lake or", PAST),
    Mutant(AS_OF, "    if _deletion_depends_on_clocks(state.layers):\n        return None\n", "", RECENT),
    Mutant(
        f"{CATALOGUE}/changes_after.sql", "order by l.layer, l.position", "order by l.layer, l.position desc", RECENT
    ),
    Mutant(f"{SQL}/changes.sql", "    and not exists (select from batches b where b.id = c.batch_id)\n", "", HISTORY),
    Mutant(
        f"{SQL}/changes.sql", "least(now() - %(keep)s::interval, p.fresh_as_of)", "now() - %(keep)s::interval", HISTORY
    ),
    Mutant(f"{SQL}/changes.sql", "a.held is not null and", "false and", HISTORY),
    Mutant(f"{SQL}/changes.sql", "has_first = a.has_first or excluded.has_first", "has_first = false", HISTORY),
    Mutant(
        f"{SQL}/edge_changes.sql",
        "and not (c.after @> '{\"held\": true}' and exists (",
        "and not (false and exists (",
        RETENTION,
    ),
    Mutant(
        "api/reads/asset_history.py",
        "later = archived.later_events - self._replayed(promoted).positions.keys()",
        "later = archived.later_events & self._replayed(promoted).positions.keys()",
        HISTORY,
    ),
    Mutant(
        "api/reads/asset_history.py",
        "for one in (position.below, end) if",
        "for one in (position.below,) if",
        HISTORY,
    ),
    Mutant(
        f"{SQL}/propagated.sql",
        "    and not exists (select from batches b where b.id = p.batch_id)\n",
        "",
        RETENTION,
    ),
    Mutant(f"{SQL}/decisions.sql", "('tag', 'setting')", "('tag')", RETENTION),
    Mutant(
        f"{SQL}/dead_letters.sql",
        "    and not (d.topic = 'governance-events@propagation' and d.replayed_at is null)\n",
        "",
        RETENTION,
    ),
    Mutant(
        f"{SQL}/dead_letters.sql",
        "('asset-ingestion-events', 'asset-ingestion-events-bulk')",
        "('asset-ingestion-events')",
        RETENTION,
    ),
    Mutant(f"{SQL}/lake_batches.sql", "where n.number > l.number", "where n.number >= l.number", RETENTION),
    Mutant(
        f"{SQL}/incidents.sql",
        "where a.tenant_id = l.tenant_id and a.incident_id",
        "where a.incident_id",
        RETENTION,
    ),
    Mutant(
        "store/postgres/outbox/sql/delete_published.sql", "is_propagated(ends) or ", "true or ", postgres("test_outbox")
    ),
]
