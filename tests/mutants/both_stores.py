"""Faults in what PostgreSQL and the lake add up to: what is held, promotion, and columns that only the lake has."""

from tests.mutants.mutant import Mutant, postgres, unit

FUNCTIONS = "store/postgres/migrations/functions"
SEARCHED = postgres("test_both_stores_stateful")
LISTED = postgres("test_lake_parents")
MERGE = "store/postgres/catalogue/sql/merge.sql"
BELOW = postgres("test_lake_columns_decided")
BESIDE_TAGS = postgres("test_columns_beside_tags")
PLACED = "store/postgres/propagation/sql/placed_beside_tags.sql"
PACING, PACED = "pipeline/lake/pacing.py", unit("test_lake_pacing")
RULES, NAMES_BELOW = "policy/candidates.py", postgres("test_names_below")
FACTS, MEANT = f"{FUNCTIONS}/80_decision_facts.sql", "store/postgres/policies/any_case.py"

MUTANTS = [
    Mutant("model/layers.py", "    hold_parents(fields, one.fields, other.fields)\n", "", SEARCHED),
    Mutant(
        "model/layers.py",
        "    hold_tags(fields, (*one.presences(), *other.presences()), {tag for tag, _, _ in merged.presences()})\n",
        "",
        SEARCHED,
    ),
    Mutant("model/held.py", "if parent is not None and parent != shown:", "if False:", SEARCHED),
    Mutant("model/held.py", "or fields[field][0] < max(ended,", "or fields[field][0] > max(ended,", SEARCHED),
    Mutant("model/assets.py", "        found |= conducting_parents(layer)\n", "        pass\n", SEARCHED),
    Mutant("model/statements.py", "fields[COVERS] = self.authorised", "fields[COVERS] = True", SEARCHED),
    Mutant("model/statements.py", "fields[CUT] = self.authorised", "fields[CUT] = True", SEARCHED),
    Mutant(
        "model/columns.py",
        "        if self.authorised:\n            implied[AUTHORISED_PARENT]",
        "        if True:\n            implied[AUTHORISED_PARENT]",
        SEARCHED,
    ),
    Mutant("lineage/lake_nodes.py", "deleted, frozenset(held_parents(layers)))", "deleted)", SEARCHED),
    Mutant("lineage/lake_nodes.py", "((PARENT_ID, node.parent), (", "((", SEARCHED),
    Mutant(
        "lineage/lake_nodes.py", "value is None or layer.clocks is None or key not in layer.clocks", "True", SEARCHED
    ),
    Mutant("store/assets.py", "            whole.merge(state)\n", "            pass\n", SEARCHED),
    Mutant(
        "store/postgres/catalogue/reader.py",
        "for parent in sorted(held_parents(asset.layers))]",
        "for parent in ()]",
        SEARCHED,
    ),
    Mutant(
        "store/postgres/catalogue/writer.py",
        "for state in states for row in rows_of_state(state)]",
        "for state in () for row in rows_of_state(state)]",
        SEARCHED,
    ),
    Mutant(
        "store/postgres/catalogue/writer.py",
        "            existing = self._existing(states)\n",
        "            existing: set[TenantAsset] = set()\n",
        SEARCHED,
    ),
    Mutant(
        "store/postgres/graph/sql/update_held_parents.sql",
        "insert into held_parents (tenant_id, id, parent) select w.tenant_id, w.id, w.parent from wanted w",
        "insert into held_parents (tenant_id, id, parent) select w.tenant_id, w.id, w.parent from wanted w where false",
        SEARCHED,
    ),
    Mutant(
        f"{FUNCTIONS}/48_held.sql",
        "where a.awaits_lake and n.parent_before <>",
        "where false and n.parent_before <>",
        SEARCHED,
    ),
    Mutant(
        f"{FUNCTIONS}/80_decision_facts.sql",
        "then nullif(coalesce(q.above, a.above), '00000000-0000-0000-0000-000000000000') end",
        "then null end",
        SEARCHED,
    ),
    Mutant(
        f"{FUNCTIONS}/80_decision_facts.sql", "when f.above_unknown then p_tags", "when false then p_tags", SEARCHED
    ),
    Mutant(
        "pipeline/lake/row_merge.py",
        "merge_states(read_states(table.filter(repeated))).values()",
        "list(read_states(table.filter(repeated)))[-1:]",
        SEARCHED,
    ),
    Mutant(MERGE, "            or case when exists (", "            or case when false and exists (", SEARCHED),
    Mutant(MERGE, "l.tenant_id = s.tenant_id and l.place = '*'\n", "false\n", LISTED),
    Mutant(MERGE, "\n                and l.id = id_above_name(s.tenant_id, s.qualified_name)", "", LISTED),
    Mutant(
        "store/postgres/catalogue/writer.py",
        "        self._lake_parents.add(event for _, event in events)\n",
        "",
        SEARCHED,
    ),
    Mutant("store/postgres/lake/parents.py", "pg_advisory_xact_lock(%s)", "%s", LISTED),
    Mutant(
        "store/postgres/migrations/functions/80_decision_facts.sql",
        " or a.awaits_lake or n.id is not null or exists (",
        " or n.id is not null or exists (",
        BELOW,
    ),
    Mutant(FACTS, "substr(q.id::text, 1, 4) and l.id = t.id)", "substr(q.id::text, 1, 4))", BELOW),
    Mutant(FACTS, "n.id is not null or exists (", "n.id is not null or false and exists (", BELOW),
    Mutant(FACTS, "l.tenant_id = p_tenant and l.id = p_id\n", "l.tenant_id = p_tenant\n", BELOW),
    Mutant(f"{FUNCTIONS}/66_fact_changes.sql", "    ['lake_parents', 'c.id', '100'],\n", "", BELOW),
    Mutant(MEANT, "in TABLE_TYPES or asset.id in self._have_columns", "in TABLE_TYPES", BELOW),
    Mutant(MEANT, "            if table not in certain:\n", "            if False:\n", NAMES_BELOW),
    Mutant(RULES, "tags={*asset.tags, *above.tags}", "tags=asset.tags", NAMES_BELOW),
    Mutant(
        "policy/candidates.py",
        "Ancestor(above.id, above.qualified_name), *above.ancestors)",
        "*above.ancestors)",
        ("tests/unit/policy/test_restricting_names.py",),
    ),
    Mutant(RULES, "data_source=above.data_source or asset.data_source,", "", NAMES_BELOW),
    Mutant(MEANT, "replace(only, attributes=None) if len(known) > 1 else only", "only", NAMES_BELOW),
    Mutant(MEANT, "        self._have_columns.update(asset_id for (asset_id,) in rows)\n", "", NAMES_BELOW),
    Mutant(MEANT, "if alone else {}", "if False else {}", NAMES_BELOW),
    Mutant(FACTS, "or a.awaits_lake or n.id is not null or", "or a.awaits_lake or", NAMES_BELOW),
    Mutant("api/policy/dependencies.py", "    if ids.looks_like_uuid(reference):\n", "    if False:\n", NAMES_BELOW),
    Mutant(MEANT, "in RELATIONAL or table.id in self._have_columns or", "in RELATIONAL or", BELOW),
    Mutant(PLACED, "where p.known\n   or", "where", BESIDE_TAGS),
    Mutant(
        PLACED, "   or p.parent is not null and p.parent not in (select parent from without_tags)\n", "", BESIDE_TAGS
    ),
    Mutant(
        PLACED,
        "   or exists (select from derived_tags d where d.asset_id = p.id and d.tenant_id = %(tenant)s offset 0)\n",
        "",
        BESIDE_TAGS,
    ),
    Mutant(
        PLACED,
        "where exists (select from graph_nodes g where g.id = p.parent and g.tenant_id = %(tenant)s offset 0)\n    and",
        "where",
        BESIDE_TAGS,
    ),
    Mutant(
        PLACED,
        "    and not exists (select from derived_tags d where d.asset_id = p.parent",
        "    and not exists (select from derived_tags d where false and d.asset_id = p.parent",
        BESIDE_TAGS,
    ),
    Mutant(
        PLACED, "a.id = p.parent and a.stated <> '{}' offset 0)", "a.id = p.parent and false offset 0)", BESIDE_TAGS
    ),
    Mutant(
        "store/postgres/propagation/propagator.py",
        "if marked := below_others.union(",
        "if marked := set[str]().union(",
        BESIDE_TAGS,
    ),
    Mutant(
        "store/postgres/propagation/propagator.py",
        "if not placed or self._propagation.rule_attributes(tenant):",
        "if not placed:",
        ("tests/integration/test_attribute_rules.py",),
    ),
    Mutant(
        f"{FUNCTIONS}/60_propagate.sql",
        "e.from_id = m.id offset 0)\n       or",
        "e.from_id = m.id)\n       or",
        postgres("test_plans_of_emptied_tables"),
    ),
    Mutant(
        "store/postgres/catalogue/writer.py",
        '        self._connection.execute("set plan_cache_mode = force_custom_plan")\n',
        "",
        postgres("test_plans_of_emptied_tables"),
    ),
    Mutant(
        f"{FUNCTIONS}/60_propagate.sql",
        "    from marked m where m.id not in (select unnest(given));\n",
        "    from marked m where false;\n",
        postgres("test_propagation_in_pages"),
    ),
    Mutant(
        "store/postgres/propagation/propagator.py",
        "; delete from concerned",
        "",
        postgres("test_propagation_in_pages"),
    ),
    Mutant(PACING, "max(LEAST, apart / 2)", "LEAST", PACED),
    Mutant(
        "store/postgres/run_queries/ledger.py",
        "if of_schema and (path := _nested_path(name, qualified_name)):",
        "if of_schema and (path := ''):",
        postgres("test_run_query_columns"),
    ),
    Mutant(PACING, "return has_more and now", "return now", PACED),
    Mutant(PACING, "now >= self._soonest and ", "", PACED),
    Mutant(PACING, " and now - self._moved >= SILENT", "", PACED),
    Mutant(PACING, "        if now >= self._latest:\n            return True\n", "", PACED),
]
