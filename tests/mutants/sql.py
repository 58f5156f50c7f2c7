"""Faults in the SQL of the catalogue, of edges and of propagation."""

from tests.mutants.mutant import Mutant, postgres, unit

CATALOGUE, EDGES, LETTERS = (f"store/postgres/{subject}/sql" for subject in ("catalogue", "edges", "dead_letters"))
FUNCTIONS = "store/postgres/migrations/functions"
MERGED, CONDITIONS = postgres("test_catalogue_merge"), unit("test_tenant_conditions")
CONVERGES, CONCURRENT, STORED = (
    postgres("test_lineage_convergence"),
    postgres("test_concurrent_merges"),
    postgres("test_stored_letters"),
)
MADE, PROPAGATED = postgres("test_edge_conduction") + CONVERGES, postgres("test_stopped_tags") + CONVERGES
CLAIMED = MADE + postgres("test_run_lineage", "test_repeated_claims")
OF_THE_TENANT = "tenant_id = %(tenant)s and "

SEARCHED, SINCE = postgres("test_search"), postgres("test_tags_keep_their_time")

MUTANTS = [
    Mutant(f"{FUNCTIONS}/30_search.sql", "(start is null or reversed(f.id) > start)", "true", SEARCHED),
    Mutant(f"{FUNCTIONS}/30_search.sql", "(start is null or m.place > start)", "true", SEARCHED),
    Mutant(f"{FUNCTIONS}/30_search.sql", "order by m.rank, m.place", "order by m.place", SEARCHED),
    Mutant(f"{FUNCTIONS}/30_search.sql", "order by reversed(f.id)) filter", "order by f.id) filter", SEARCHED),
    Mutant(f"{FUNCTIONS}/30_search.sql", "    width := 1;\n", "    width := 16;\n", SEARCHED),
    Mutant(
        "store/postgres/catalogue/words.py", 'return [exact, f"{begins} & !{exact}"', "return [exact, begins", SEARCHED
    ),
    Mutant("model/search_terms.py", "return 1 if self.beginning == sought else 2", "return 2", SEARCHED),
    Mutant(f"{CATALOGUE}/merge.sql", "s.clocks is null and s.at > a.{at}", "s.clocks is null", MERGED),
    Mutant(
        f"{CATALOGUE}/merge.sql",
        "else keeps_clocked(a.{values}, a.{clocks}, s.fields, s.keys) end",
        "else true end",
        MERGED,
    ),
    Mutant(f"{CATALOGUE}/merge.sql", "(s.clocks is null and s.at", "(s.at", MERGED),
    Mutant(f"{CATALOGUE}/merge.sql", "then a.{values} - s.keys = '{{}}'", "then true", MERGED),
    Mutant(f"{CATALOGUE}/merge.sql", "least(a.created_at, s.first)", "greatest(a.created_at, s.first)", MERGED),
    Mutant(f"{CATALOGUE}/merge.sql", "greatest(a.updated_at, s.last)", "s.last", MERGED),
    Mutant(f"{CATALOGUE}/merge.sql", "where created or coalesce(before, '{{}}') <> after", "where true", MERGED),
    Mutant(f"{CATALOGUE}/merge.sql", "on a.tenant_id = s.tenant_id and a.id = s.id", "on a.id = s.id", CONDITIONS),
    Mutant(f"{CATALOGUE}/unmerged.sql", "\nfor update of a", "", CONCURRENT),
    Mutant(f"{CATALOGUE}/unmerged.sql", "where s.layer = %(layer)s", "where %(layer)s is not null", MERGED),
    Mutant(f"{CATALOGUE}/reconcile.sql", "where before is distinct from {values}", "where true", MERGED),
    Mutant(f"{CATALOGUE}/history.sql", OF_THE_TENANT, "", CONDITIONS),
    Mutant(f"{CATALOGUE}/history.sql", "position < %(below)s", "position <= %(below)s", STORED),
    Mutant(f"{CATALOGUE}/event_outcome.sql", "d.tenant_id = given.tenant_id and ", "", CONDITIONS),
    Mutant(f"{LETTERS}/claim.sql", " and (replayed_at is null or replayed_at = %(claimed_at)s)", "", STORED),
    Mutant(f"{LETTERS}/unreplayed.sql", "replayed_at is null and ", "", STORED),
    Mutant(f"{LETTERS}/unreplayed.sql", "id <= %(newest)s", "id < %(newest)s", STORED),
    Mutant(f"{LETTERS}/undo_claim.sql", " and replayed_at = %(claimed_at)s", " and %(claimed_at)s is not null", STORED),
    Mutant(f"{LETTERS}/list.sql", "id < %(below)s::bigint)", "id <= %(below)s::bigint)", STORED),
    Mutant(f"{LETTERS}/list.sql", OF_THE_TENANT, "", CONDITIONS),
    Mutant("store/postgres/runs/sql/find.sql", "r.tenant_id = %(tenant)s and ", "", CONDITIONS),
    Mutant("store/postgres/progress/sql/propagation_of_write.sql", OF_THE_TENANT, "", CONDITIONS),
    Mutant("store/postgres/incidents/sql/history/list.sql", OF_THE_TENANT, "", CONDITIONS),
    Mutant(f"{EDGES}/merge.sql", "and e.{clocks} is null and excluded.{at} > e.{at}", "and e.{clocks} is null", MADE),
    Mutant(
        f"{EDGES}/merge.sql",
        "excluded.{clocks} is null and e.{clocks} is null and",
        "excluded.{clocks} is null and",
        MADE,
    ),
    Mutant(
        f"{EDGES}/merge.sql",
        "        and (excluded.{values} ? 'masking' or not e.{values} ? 'masking')\n",
        "",
        MADE,
    ),
    Mutant(
        f"{EDGES}/unmerged.sql",
        "\nfor no key update of e",
        "",
        CONCURRENT,
        "INSERT … ON CONFLICT DO UPDATE in merge.sql has locked the edge before, also where its condition is false.",
    ),
    Mutant(
        f"{EDGES}/upsert_claims.sql", "where (not excluded.assumed, excluded.at) > (not c.assumed, c.at)", "", CLAIMED
    ),
    Mutant(
        f"{EDGES}/update_touched_edges.sql",
        "coalesce(bool_and(c.masking), false)",
        "coalesce(bool_or(c.masking), false)",
        CLAIMED,
    ),
    Mutant(
        f"{EDGES}/delete_superseded_claims.sql",
        "then j.others_at else j.completed_at end",
        "then j.completed_at else j.completed_at end",
        CLAIMED,
    ),
    Mutant(
        f"{EDGES}/lock_completions.sql",
        "\nfor update of j",
        "",
        CLAIMED,
        "The events of a job have one key, so one partition and one transaction at a time: the lock is a second line.",
    ),
    Mutant(f"{FUNCTIONS}/50_edge_passage.sql", " and not (conduction = 1 and f.stopped_by_masking)", "", PROPAGATED),
    Mutant(
        f"{FUNCTIONS}/50_edge_passage.sql",
        "then type <> 'influences' else",
        "then true else",
        PROPAGATED + postgres("test_influence"),
    ),
    Mutant(
        f"{FUNCTIONS}/50_edge_passage.sql",
        "when content and type <> 'influences'",
        "when type <> 'influences'",
        PROPAGATED + postgres("test_influence"),
    ),
    Mutant(f"{FUNCTIONS}/50_edge_passage.sql", " and p_tag <> all (coalesce(a.suppressed, '{}'))", "", PROPAGATED),
    Mutant(f"{FUNCTIONS}/50_edge_passage.sql", "\n  where not (p_cut and coalesce(a.is_cut, false))", "", PROPAGATED),
    Mutant(
        f"{FUNCTIONS}/60_propagate.sql",
        "where g.parent = d.via and c.content and (c.depth, c.steps + 1) <= (d.depth, d.steps))",
        "where g.parent = d.via and c.content)",
        PROPAGATED,
    ),
    Mutant(f"{FUNCTIONS}/60_propagate.sql", "where s.sure or a.states", "where s.sure", PROPAGATED),
    Mutant(f"{FUNCTIONS}/60_propagate.sql", "b.root, not b.states and not exists", "b.root, not exists", SINCE),
    Mutant(f"{FUNCTIONS}/60_propagate.sql", "where l.alone and (d.depth", "where (d.depth", SINCE),
    Mutant("store/postgres/access/sql/disabled_since.sql", "tenant_id = %(tenant)s", "true", CONDITIONS),
]
