"""Faults in the SQL of what is held, and of the list of what is pending."""

from tests.mutants.mutant import Mutant, postgres, unit

FUNCTIONS, EDGES = "store/postgres/migrations/functions/48_held.sql", "store/postgres/edges/sql"
PENDING, STEPS = "store/postgres/protection/sql/pending", "store/postgres/propagation/sql/held_steps.sql"
MERGE = "store/postgres/catalogue/sql/merge.sql"
CONDUCTS = postgres("test_held_claims", "test_edge_conduction")
QUEUED = postgres("test_pending_details", "test_pending")
CONDITIONS, EXPLAINED = unit("test_tenant_conditions"), postgres("test_held_steps")
MERGED = postgres("test_layer_merges")
PARENTS, MANY, NAMED = postgres("test_held_parents"), postgres("test_many_held"), postgres("test_inherited_names")
INHERITED = "store/postgres/migrations/functions/70_reached_from_elsewhere.sql"
ENDED = "store/postgres/catalogue/sql/ended_tags.sql"
PLACEHOLDER = "store/postgres/graph/sql/placeholder.sql"
NOT_DELETED_FROM, NOT_DELETED_TO = "e.from_id = n.id and not e.is_deleted", "e.to_id = n.id and not e.is_deleted"
AUTHORS, PLACEHOLDERS = postgres("test_pending_authors"), postgres("test_placeholders")
PROPAGATE = "store/postgres/migrations/functions/60_propagate.sql"
TAKEN_AWAY, MOVED = "store/postgres/table_changes/sql/columns.sql", postgres("test_table_changes")

MUTANTS = [
    Mutant(TAKEN_AWAY, "\n    and (t.is_table or a.parent = t.id::text or t.id = any (a.held_parents))", "", MOVED),
    Mutant(TAKEN_AWAY, "(t.is_table or a.parent = t.id::text or t.id = any (a.held_parents))", "t.is_table", MOVED),
    Mutant(TAKEN_AWAY, "h.parent = t.id and", "false and", MOVED),
    Mutant("reactions/table_changes/columns.py", "earliest = min(", "earliest = max(", MOVED),
    Mutant(
        MERGE,
        "\n                    and coalesce(s.fields -> 'tags' @> (a.{values} -> 'tags'), true)",
        "",
        MERGED,
    ),
    Mutant(
        MERGE,
        "\n                    and coalesce(s.fields -> '$parent' = a.{values} -> '$parent', true))",
        ")",
        MERGED,
    ),
    Mutant(FUNCTIONS, "     and (not fields ? 'tags' or fields -> 'tags' = \"values\" -> 'tags')\n", "", MERGED),
    Mutant(
        FUNCTIONS, "     and (not fields ? '$parent' or fields -> '$parent' = \"values\" -> '$parent')\n", "", MERGED
    ),
    Mutant(FUNCTIONS, "     and not (clocks::text like '%\"$held%'\n", "     and not (false\n", MERGED),
    Mutant(
        FUNCTIONS,
        "  union all\n  select h.parent from held_parents h where h.id = p_id and h.tenant_id = p_tenant\n",
        "",
        PARENTS,
    ),
    Mutant(
        FUNCTIONS,
        "  union all\n  select h.id from held_parents h where h.parent = p_id and h.tenant_id = p_tenant\n",
        "",
        PARENTS,
    ),
    Mutant(FUNCTIONS, "  ) || coalesce(enriched -> 'tags', '{}') end\n", "  ) end\n", PARENTS),
    Mutant(FUNCTIONS, "f.value order by layer.number)", "f.value order by layer.number desc)", PARENTS),
    Mutant(INHERITED, "select t.tag, bool_or(t.held)", "select t.tag, false", MANY),
    Mutant(INHERITED, "coalesce(own.names -> t.tag, to_jsonb(t.tag))", "to_jsonb(t.tag)", NAMED),
    Mutant(INHERITED, "coalesce(own.names -> t.tag, to_jsonb(t.tag))", "own.names -> t.tag", NAMED),
    Mutant(PROPAGATE, "    select unnest(nodes)\n    union\n", "    select unnest(nodes)\n    union all\n", MANY),
    Mutant(
        FUNCTIONS,
        "        and not coalesce(a.source ? '$authorised_parent', false) and not",
        "        and not",
        PARENTS,
    ),
    Mutant(FUNCTIONS, ' and not coalesce(a."user" @> \'{"$covers": true}\', false)\n', "\n", PARENTS),
    Mutant(FUNCTIONS, "          and (not a.awaits_lake or a.source", "          and (a.source", PARENTS),
    Mutant(
        FUNCTIONS,
        "      and not exists (select from wanted w where w.id = h.id and w.parent = h.parent)\n",
        "",
        PARENTS,
        "The same statement inserts the row again: more is computed, and nothing else is stored.",
    ),
    Mutant(STEPS, "bool_and(", "bool_or(", EXPLAINED),
    Mutant(STEPS, " or e.masking and f.stopped_by_masking)", ")", EXPLAINED),
    Mutant(STEPS, "(p.from_id, p.to_id) and f.direction <> 'upstream'", "(p.from_id, p.to_id)", EXPLAINED),
    Mutant(
        STEPS,
        "\n  and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = p.to_id"
        " and a.parent = p.from_id::text)",
        "",
        EXPLAINED,
    ),
    Mutant(f"{EDGES}/hold_claims.sql", "where e.at >= greatest(", "where e.at > greatest(", CONDUCTS),
    Mutant(f"{EDGES}/hold_claims.sql", ", coalesce(r.at, ''))", ")", CONDUCTS),
    Mutant(f"{EDGES}/hold_claims.sql", "greatest(coalesce(j.authorised_at, ''),", "greatest(", CONDUCTS),
    Mutant(f"{EDGES}/hold_claims.sql", " and not c.aside and", " and", CONDUCTS),
    Mutant(f"{EDGES}/hold_claims.sql", " and (e.masking or not c.masking))", ")", CONDUCTS),
    Mutant(f"{EDGES}/hold_claims.sql", "\nwhere excluded.at > h.at", "", CONDUCTS),
    Mutant(f"{EDGES}/release_claims.sql", " and h.at < j.authorised_at", "", CONDUCTS),
    Mutant(
        f"{EDGES}/losing_claims.sql", "where not s.masking and c.masking", "where not s.masking and false", CONDUCTS
    ),
    Mutant(
        f"{EDGES}/losing_claims.sql",
        "case when c.authorised and r.lineage ->> 'authorised_at' = r.completed_at then s.at\n"
        "            else greatest(s.at, r.completed_at) end",
        "greatest(s.at, r.completed_at)",
        CONDUCTS,
    ),
    Mutant(f"{EDGES}/losing_claims.sql", "case when c.authorised and ", "case when ", CONDUCTS),
    Mutant(f"{EDGES}/upsert_claims.sql", "case when w.authorised and ", "case when ", CONDUCTS),
    Mutant(f"{EDGES}/confirm_releases.sql", " where excluded.at > r.at", "", CONDUCTS),
    Mutant(f"{EDGES}/confirm_releases.sql", "\n  and h.at < c.at", "", CONDUCTS),
    Mutant(f"{PENDING}/claims.sql", "h.masking and exists (", "false and exists (", QUEUED),
    Mutant(f"{PENDING}/claims.sql", "h.tenant_id = %(tenant)s and ", "", CONDITIONS),
    Mutant(f"{PENDING}/claim_details.sql", "order by h.masking limit 1", "order by h.masking desc limit 1", QUEUED),
    Mutant(f"{PENDING}/tags.sql", "id >= %(after)s::uuid", "id > %(after)s::uuid", QUEUED),
    Mutant(f"{PENDING}/tag_details.sql", "where k.tag = any (%(protective)s::text[])", "where true", QUEUED),
    Mutant(
        f"{PENDING}/tag_details.sql",
        "  order by coalesce(c.before -> 'tags' ? k.tag, false) desc, c.position",
        "  order by c.position",
        AUTHORS,
    ),
    Mutant(f"{PENDING}/tag_details.sql", 'else a."user" end ?', "else a.source end ?", AUTHORS),
    Mutant(
        f"{PENDING}/tag_details.sql", "    and c.before -> 'tags' is distinct from c.after -> 'tags'\n", "", AUTHORS
    ),
    Mutant(FUNCTIONS, "order by c.cause ->> 'time' desc nulls last,", "order by", AUTHORS),
    Mutant(ENDED, "t.tag, coalesce(c.before -> 'tags' ? t.tag, false) desc,", "t.tag,", AUTHORS),
    Mutant(ENDED, " and c.before -> 'tags' is distinct from c.after -> 'tags'\n", "\n", AUTHORS),
    Mutant(PLACEHOLDER, "e.from_id = n.id and (not e.is_deleted or e.conduction > 0)", NOT_DELETED_FROM, PLACEHOLDERS),
    Mutant(PLACEHOLDER, "e.to_id = n.id and (not e.is_deleted or e.conduction > 0)", NOT_DELETED_TO, PLACEHOLDERS),
    Mutant(
        "model/assets.py", "names.get(tag, name) for tag, name in (", "name for tag, name in (", unit("test_assets")
    ),
    Mutant(f"{PENDING}/deletion_details.sql", "where %(cut)s and t.tags", "where t.tags", QUEUED),
    Mutant(
        f"{PENDING}/deletions.sql",
        "a.is_deleted and not a.is_cut",
        "a.is_deleted",
        QUEUED,
        "deletion_details.sql has the same condition. Here it saves reading what is not pending.",
    ),
    Mutant(f"{PENDING}/edges.sql", " or e.conduction = 2 and e.masking)", ")", QUEUED),
    Mutant(f"{PENDING}/edge_details.sql", " and not passes(w.shown, e.type, f)", "", QUEUED),
    Mutant(f"{PENDING}/edge_details.sql", "e.claims_mask_by_authority, 0::smallint", "false, 0::smallint", QUEUED),
    Mutant(f"{PENDING}/parallel_edges.sql", "\n    and passes(e, f)", "", QUEUED),
    Mutant(f"{PENDING}/parallel_edges.sql", " and e.type <> %(type)s", "", QUEUED),
    Mutant(f"{PENDING}/parent_details.sql", "then k.parent = any (a.held_parents)", "then true", QUEUED),
    Mutant(
        f"{PENDING}/parents.sql",
        "tenant_id = %(tenant)s and held_parents is not null",
        "held_parents is not null",
        CONDITIONS,
    ),
]
