"""Faults in what propagates, in claims and in runs."""

from tests.mutants.mutant import Mutant, postgres, unit

RECOMPUTATION, RULES = "lineage/attribute_recomputation.py", unit("test_attribute_rules")
CLAIMS, RUNS = (
    unit("test_claims", "test_runs"),
    unit("test_runs", "test_openlineage_lifecycle", "test_openlineage_lineage"),
)
REACH, RETAGGED = unit("test_tag_reach"), unit("test_retagging")

MUTANTS = [
    Mutant("lineage/graph.py", "            self.propagates\n            and ", "            ", RULES),
    Mutant(
        "lineage/graph.py",
        'if propagation.direction != "upstream":',
        'if propagation.direction == "downstream":',
        RULES,
    ),
    Mutant(
        "lineage/graph.py",
        'if propagation.direction != "downstream":',
        'if propagation.direction == "upstream":',
        RULES,
    ),
    Mutant(
        "lineage/graph.py",
        "            and not (self.masking and propagation.stopped_by_masking)\n",
        "",
        RULES,
        "Only attributes are recomputed with this graph, and masking never stops those. Tags are by SQL and by Spark.",
    ),
    Mutant(
        "lineage/definitions.py",
        "return kind != INFLUENCES if edge_types is None",
        "return True if edge_types is None",
        RULES,
    ),
    Mutant(RECOMPUTATION, "or depth <= max_depth)", "or depth < max_depth)", RULES),
    Mutant(RECOMPUTATION, "via = min(", "via = max(", RULES),
    Mutant(RECOMPUTATION, " or by_a_person or root)", " or by_a_person)", RULES),
    Mutant(RECOMPUTATION, 'cut = graph.deleted if graph.on_delete == "cut" else set()', "cut = set()", RULES),
    Mutant("lineage/value_propagation.py", "and depth >= max_depth:", "and depth > max_depth:", RULES),
    Mutant("lineage/value_propagation.py", "via < known.via", "via > known.via", RULES),
    Mutant(
        "lineage/value_propagation.py",
        "                if item in offers.get(asset, ()):\n                    continue\n",
        "",
        RULES,
    ),
    Mutant("lineage/attribute_region.py", "    not_roots |= _not_roots(", "    _not_roots(", RULES),
    Mutant("lineage/attribute_region.py", "if start not in cut} if cut else arcs", "} if cut else arcs", RULES),
    Mutant(
        "lineage/attribute_rules.py",
        'is_empty(value.user if rule.mode == "override" else value.own)',
        "is_empty(value.own)",
        RULES,
    ),
    Mutant(
        "lineage/attribute_rules.py",
        "self.source if self.user is None else self.user",
        "self.user or self.source",
        RULES,
    ),
    Mutant("lineage/attribute_rules.py", "sorted(items_by_text.keys() - known)", "sorted(items_by_text)", RULES),
    Mutant("lineage/attribute_rules.py", "MAX_ADDED = 256 << 10", "MAX_ADDED = 256 << 20", unit("test_model_limits")),
    Mutant("lineage/claims.py", "until = self.others_at if run == self.run else self.at", "until = self.at", CLAIMS),
    Mutant("lineage/claims.py", "        if at > self.at:\n", "        if at < self.at:\n", CLAIMS),
    Mutant(
        "lineage/claims.py", "masking=claim.masking and known.masking", "masking=claim.masking or known.masking", CLAIMS
    ),
    Mutant(
        "lineage/claims.py",
        "event.clock if event.complete and states else None",
        "event.clock if event.complete else None",
        CLAIMS,
    ),
    Mutant(
        "lineage/claims.py",
        "return not self.assumed, self.at",
        "return self.assumed, self.at",
        CLAIMS,
    ),
    Mutant(
        "lineage/claims.py",
        "or not completions[job].ends(run, _counts_from(at, lineage))",
        "or not completions[job].ends(run, at)",
        postgres("test_run_lineage", "test_repeated_claims"),
    ),
    Mutant("lineage/assumed_edges.py", "if key.from_id in inputs and key.type", "if key.type", RUNS),
    Mutant("lineage/assumed_edges.py", "        if start != end\n", "", CLAIMS),
    Mutant("lineage/assumed_edges.py", " if output not in explained]", "]", RUNS),
    Mutant("lineage/claims.py", "others_at=max(at, self.others_at or at)", "others_at=at", CLAIMS),
    Mutant("lineage/runs.py", "return max(clock, self.completed_at or clock)", "return clock", RUNS),
    Mutant("lineage/runs.py", "return max(found)[1]", "return min(found)[1]", RUNS),
    Mutant(
        "lineage/runs.py",
        'if self.state in {"START", "FAIL", "ABORT"}',
        'if self.state in {"FAIL", "ABORT"}',
        RUNS + postgres("test_run_lineage"),
    ),
    Mutant(
        "lineage/runs.py",
        "self.completed_at = max(clock,",
        "self.completed_at = min(clock,",
        RUNS + postgres("test_run_lineage", "test_repeated_claims"),
    ),
    Mutant("lineage/runs.py", "MAX_DATASETS = 5_000", "MAX_DATASETS = 5_000_000", unit("test_model_limits")),
    Mutant(
        "lineage/runs.py",
        "known[0] < event.clock:",
        "known[0] > event.clock:",
        unit("test_runs", "test_openlineage_kept"),
    ),
    Mutant("lineage/breadth_first.py", "self.depth < self._max_depth", "self.depth <= self._max_depth", REACH),
    Mutant("lineage/breadth_first.py", "        if neighbour.conducts:\n            self", "        self", REACH),
    Mutant("lineage/retagging.py", "if member.cut or (member", "if (member", RETAGGED),
    Mutant("lineage/retagging.py", "(member.suppresses and asset not in states)", "member.suppresses", RETAGGED),
    Mutant("lineage/retagging.py", "depth < region.max_depth", "depth <= region.max_depth", RETAGGED),
    Mutant("lineage/retagging.py", "content and not link.influences", "content", RETAGGED),
    Mutant("lineage/inheritance.py", "stopped |= ancestor.suppressed", "stopped |= set()", REACH),
    Mutant("lineage/inheritance.py", "if cut and ancestor.deleted:", "if ancestor.deleted:", REACH),
    Mutant("lineage/inheritance.py", "(ancestor.propagated - ancestor.suppressed)", "ancestor.propagated", REACH),
    Mutant("lineage/risk.py", "[*reached, *children.get(asset, ())]", "[*reached]", unit("test_at_risk")),
    Mutant(
        "lineage/waiting_queries.py",
        "authorised=event.authorised and authorised",
        "authorised=event.authorised or authorised",
        unit("test_waiting_queries"),
    ),
    Mutant(
        "lineage/waiting_queries.py",
        "run.query[0] < event.clock",
        "run.query[0] > event.clock",
        unit("test_waiting_queries"),
    ),
    Mutant(
        "lineage/repeated_claims.py",
        "claim.at != at or claim.masking or claim.aside",
        "claim.at != at or claim.aside",
        CLAIMS,
    ),
    Mutant(
        "lineage/repeated_claims.py",
        "if completes and digest == stored.digest",
        "if completes",
        postgres("test_repeated_claims"),
    ),
    Mutant(
        "lineage/lake_nodes.py",
        "    if state.qualified_name != node.qualified_name:\n        return False\n",
        "",
        unit("test_lake_nodes"),
    ),
]
