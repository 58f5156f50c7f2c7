"""Faults in what is deleted by age: what must not be deleted."""

from tests.mutants.mutant import Mutant, postgres

SQL = "store/postgres/retention/sql"
RETENTION = postgres("test_retention")

MUTANTS = [
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
