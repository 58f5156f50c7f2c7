"""Faults in the lineage that SQL and OpenLineage events state."""

from tests.mutants.mutant import Mutant, postgres, unit

RELATIONS, STATEMENTS, OPENLINEAGE = "intake/sql/relations", "intake/sql/statements", "intake/openlineage"
SQL = unit("test_sql_relations", "test_sql_lineage", "test_lineage_corpus")
CORPUS, TABLES = unit("test_lineage_corpus"), postgres("test_table_changes")
EVENTS = unit("test_openlineage_lineage", "test_openlineage", "test_openlineage_facets")

FOUND = postgres("test_sql_tables")

MUTANTS = [
    Mutant("api/ingest/known_tables.py", "if columns > MAX_COLUMNS:", "if columns > 10 * MAX_COLUMNS:", FOUND),
    Mutant("api/ingest/sql_edges.py", "if start == end:", "if False:", SQL),
    Mutant(
        f"{RELATIONS}/queries.py",
        '("group", "having", "qualify")',
        '("group", "having")',
        SQL,
    ),
    Mutant(f"{RELATIONS}/queries.py", 'for name in ("prewhere", "where")]', 'for name in ("prewhere",)]', SQL),
    Mutant(f"{RELATIONS}/sources.py", '{"LEFT": left, "RIGHT": right}', '{"LEFT": right, "RIGHT": left}', SQL),
    Mutant(f"{RELATIONS}/sources.py", 'frozenset({"SEMI", "ANTI"})', 'frozenset({"SEMI"})', SQL),
    Mutant(
        f"{RELATIONS}/sources.py",
        'self._expressions.influence(join.args.get("on"), join.args.get("match_condition"))',
        'self._expressions.influence(join.args.get("match_condition"))',
        SQL,
    ),
    Mutant(f"{RELATIONS}/stars.py", "isinstance(entry, Field) and entry.name in self.without", "False", SQL),
    Mutant(f"{RELATIONS}/unions.py", "_without(result, read) if is_except else unite", "unite", SQL),
    Mutant(f"{RELATIONS}/unions.py", "MAX_ROUNDS = 8", "MAX_ROUNDS = 1", SQL),
    Mutant(f"{RELATIONS}/expressions.py", "                pending += subscripts(node)\n", "", SQL),
    Mutant(
        f"{RELATIONS}/expressions.py",
        'self._relation.influences |= self._subquery(node.args["query"])',
        'found |= self._subquery(node.args["query"])',
        SQL,
    ),
    Mutant(f"{RELATIONS}/scopes.py", "            scope = scope.outer\n", "            scope = None\n", SQL),
    Mutant(
        f"{STATEMENTS}/merges.py",
        "    reading.scope.sources = reading.scope.sources[:1]\n",
        "    reading.scope.sources = reading.scope.sources[::-1]\n",
        SQL,
    ),
    Mutant(
        f"{STATEMENTS}/updates.py",
        "for key in read.tables if key != target.key}",
        "for key in read.tables}",
        SQL,
        "The graph leaves out an edge from a table to itself.",
    ),
    Mutant(
        f"{STATEMENTS}/conflicts.py",
        "names = target.columns or session.tables.ordered_columns(target.key) or",
        "names = session.tables.ordered_columns(target.key) or",
        SQL,
    ),
    Mutant(f"{STATEMENTS}/writer.py", "sorted(rows.influences - shown)", "sorted(rows.influences)", SQL),
    Mutant(f"{STATEMENTS}/writer.py", "len(ordered) >= len(rows.fields)", "len(ordered) > len(rows.fields)", SQL),
    Mutant(f"{STATEMENTS}/writer.py", "        if target.key in rows.tables:", "        if False:", SQL),
    Mutant(
        "intake/sql/graph.py",
        "        self.defined[target] = {}\n",
        "        self.defined.setdefault(target, {})\n",
        SQL,
    ),
    Mutant("intake/sql/graph.py", "if self.writes(old)}", "}", SQL),
    Mutant(
        "intake/sql/script/piece.py",
        'return not {"TABLE", "VIEW"}.isdisjoint(head)',
        'return "TABLE" in head',
        SQL,
    ),
    Mutant(
        f"{STATEMENTS}/conflicts.py",
        '    reading.expressions.influence(conflict.args.get("where"))\n',
        "",
        CORPUS,
    ),
    Mutant(f"{RELATIONS}/functions.py", "parts if _shows_fields(source) else None", "parts", CORPUS),
    Mutant(f"{RELATIONS}/pivots.py", "_member(entry, at) if len(names) > 1 else entry", "entry", CORPUS),
    Mutant(
        f"{RELATIONS}/pivots.py",
        "Rest(item.tables, item.openness, item.without | names)",
        "item",
        CORPUS,
    ),
    Mutant(f"{STATEMENTS}/updates.py", "[table, *joined]", "[table]", CORPUS),
    Mutant(
        f"{STATEMENTS}/dispatch.py",
        "others = [other.copy() for other in common.expressions if other is not cte]",
        "others = []",
        CORPUS,
    ),
    Mutant("intake/sql/execution.py", "variables=variables", "variables=frozenset()", CORPUS),
    Mutant("intake/sql/script/piece.py", "        token.comments.clear()\n", "        pass\n", SQL),
    Mutant(
        f"{OPENLINEAGE}/event_shape.py",
        'if "dataset" in has and "job" not in has:',
        'if "dataset" in has:',
        unit("test_openlineage_input"),
    ),
    Mutant(f"{OPENLINEAGE}/flows.py", "indirect = all(", "indirect = any(", EVENTS),
    Mutant(
        f"{OPENLINEAGE}/flows.py",
        'all(step.get("masking") is True for step in steps)',
        'any(step.get("masking") is True for step in steps)',
        EVENTS,
    ),
    Mutant(f"{OPENLINEAGE}/flows.py", "len(steps) == len(transformations) and all(", "all(", EVENTS),
    Mutant(
        f"{OPENLINEAGE}/edge_claims.py",
        "masking and self._masking.get(key, True)",
        "masking or self._masking.get(key, False)",
        EVENTS,
    ),
    Mutant(
        f"{OPENLINEAGE}/edge_claims.py", "        if start != end:  # a table", "        if True:  # a table", EVENTS
    ),
    Mutant(
        f"{OPENLINEAGE}/edge_claims.py",
        "            if EdgeKey(start, end, DERIVED_FROM) not in self._masking:\n                self",
        "            self",
        EVENTS,
    ),
    Mutant(
        f"{OPENLINEAGE}/column_lineage.py",
        "            self.is_doubtful = True\n            return None\n",
        "            return None\n",
        unit("test_openlineage_sql"),
    ),
    Mutant(f"{OPENLINEAGE}/naming.py", '"s3a": "s3", ', "", unit("test_openlineage_names")),
    Mutant(
        f"{OPENLINEAGE}/naming.py",
        'return name.replace("/", ".") if "." not in name else name',
        'return name.replace("/", ".")',
        unit("test_openlineage_names"),
    ),
    Mutant(
        f"{OPENLINEAGE}/symlinks.py",
        "        if own.entity_type == LOCATION:\n",
        "        if False:\n",
        unit("test_openlineage_symlinks"),
    ),
    Mutant(
        f"{OPENLINEAGE}/edge_claims.py",
        "                self._named[source.qualified_name] = None\n",
        "                pass\n",
        unit("test_openlineage_symlinks"),
    ),
    Mutant(
        f"{OPENLINEAGE}/given_names.py",
        "spelled = [_spelled(table) for table in tables]",
        "spelled = []",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        f"{OPENLINEAGE}/schemas.py",
        "if not _VERSION.fullmatch(part)",
        "if part",
        unit("test_openlineage_schemas", "test_openlineage_scopes"),
    ),
    Mutant(
        f"{OPENLINEAGE}/conversion.py",
        "complete = claimed.complete and lineage.understood",
        "complete = claimed.complete",
        EVENTS,
    ),
    Mutant(
        f"{OPENLINEAGE}/conversion.py",
        "        complete and query is None,",
        "        complete,",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        f"{OPENLINEAGE}/run_query.py",
        "not is_doubtful and all(asset in sources for asset in inputs)",
        "all(asset in sources for asset in inputs)",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        f"{OPENLINEAGE}/run_query.py",
        "is_loose and (combines_queries(sql.text) or has_windows(sql.text))",
        "is_loose and has_windows(sql.text)",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        f"{OPENLINEAGE}/run_query.py",
        "(combines_queries(sql.text) or has_windows(sql.text))",
        "combines_queries(sql.text)",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        f"{OPENLINEAGE}/lineage.py",
        "        return loose.leave_to(query)\n",
        "        return query\n",
        unit("test_openlineage_sql"),
    ),
    Mutant(
        "reactions/run_queries/stated_columns.py",
        "{} if combines else result.named",
        "result.named",
        unit("test_run_query_additions"),
    ),
    Mutant(
        f"{OPENLINEAGE}/lineage.py",
        "for output in filter(None, written if happened else ()):",
        "for output in filter(None, written):",
        unit("test_openlineage_lifecycle"),
    ),
    Mutant(
        f"{OPENLINEAGE}/lineage.py",
        "tuple(asset for asset in written_ids if asset not in gone)",
        "written_ids",
        unit("test_openlineage_lifecycle"),
    ),
    Mutant(
        f"{OPENLINEAGE}/assertions.py",
        "identity = [part for part in (self.name, self.parameters) if part]",
        "identity = list[str]()",
        ("tests/unit/incidents/test_openlineage_assertions.py",),
    ),
    Mutant(
        f"{OPENLINEAGE}/assertions.py",
        "if series not in failed | known",
        "if series not in known",
        ("tests/unit/incidents/test_openlineage_assertions.py",),
    ),
    Mutant(
        "reactions/table_changes/moves.py",
        "schemas = [self._schema(table, found) for",
        "schemas = [] and [self._schema(table, found) for",
        TABLES,
    ),
    Mutant("reactions/table_changes/columns.py", "range(MAX_RENAMES)", "range(0)", TABLES),
    Mutant("store/postgres/table_changes/ledger.py", "and found[1] < before", "", TABLES),
    Mutant(
        "intake/sql/statements/inserts.py",
        "conditions = [*before, condition] if is_first",
        "conditions = [condition] if is_first",
        CORPUS,
    ),
    Mutant(
        f"{OPENLINEAGE}/event_time.py",
        'zone = "Z" if zulu or not hours else',
        'zone = "Z" if True else',
        unit("test_openlineage_names"),
    ),
]
