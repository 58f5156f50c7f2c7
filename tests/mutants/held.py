"""Faults in what is held: what ends without authority, and who has authority."""

from tests.mutants.mutant import Mutant, unit

HELD, RELEASES, LAYERS, STATE = "model/held.py", "model/releases.py", "model/edge_layers.py", "lineage/edge_state.py"
PENDING, DECISIONS, AUTHORITY = "lineage/pending.py", "lineage/pending_decisions.py", "bus/authority.py"
MERGED, RELEASED, CONDUCTS = (
    unit("test_held", "test_layers", "test_releases"),
    unit("test_releases"),
    unit("test_edge_conduction"),
)
NAMED, SIGNED, DECIDED = unit("test_pending_ids"), unit("test_authority"), unit("test_pending_decisions")

MUTANTS = [
    Mutant(HELD, "        if tag not in shown:\n", "        if tag in shown:\n", MERGED),
    Mutant(HELD, "if tag in shown or fields[field][0] <", "if fields[field][0] <", MERGED),
    Mutant(
        HELD,
        "fields[field][0] < max(listed, _clock(fields, RELEASED + tag))",
        "fields[field][0] <= max(listed, _clock(fields, RELEASED + tag))",
        MERGED,
    ),
    Mutant(HELD, "max(listed, _clock(fields, RELEASED + tag))", "listed", MERGED),
    Mutant(HELD, "max(listed, _clock(fields, RELEASED + tag))", "_clock(fields, RELEASED + tag)", MERGED),
    Mutant(HELD, "if parent is not None and parent != shown:", "if parent is not None and parent == shown:", MERGED),
    Mutant(HELD, "if parent == shown or fields[field][0]", "if fields[field][0]", MERGED),
    Mutant(HELD, "max(ended, _clock(fields, RELEASED_PARENT + parent))", "ended", MERGED),
    Mutant(
        HELD,
        "max(ended, _clock(fields, RELEASED_PARENT + parent))",
        "_clock(fields, RELEASED_PARENT + parent)",
        MERGED,
    ),
    Mutant(HELD, "    if at > _clock(fields, field):\n", "    if at:\n", MERGED),
    Mutant(RELEASES, 'if data.get("authorised") is not True:', 'if data.get("authorised") is False:', RELEASED),
    Mutant(RELEASES, '"deletion": CUT', '"deletion": COVERS', RELEASED),
    Mutant(
        RELEASES, 'key = tag_key(checker.name(given.get("key")', 'key = str(checker.name(given.get("key")', RELEASED
    ),
    Mutant(RELEASES, 'key = str(given.get("key", "")).lower()', 'key = str(given.get("key", ""))', RELEASED),
    Mutant(RELEASES, "if not ids.looks_like_uuid(key):", "if not key:", RELEASED),
    Mutant(LAYERS, "    if authorised:\n", "    if True:\n", CONDUCTS),
    Mutant(LAYERS, "if value is None or value is _OPEN[key]}", "if value is _OPEN[key]}", CONDUCTS),
    Mutant(LAYERS, "or stated[0] > merged[key][0]:", "or stated[0] < merged[key][0]:", CONDUCTS),
    Mutant(LAYERS, "if MASKING not in counts and layer.fields.get(DELETED) is False:", "if False:", CONDUCTS),
    Mutant(
        LAYERS,
        "        found[MASKING] = counts[MASKING]  # of an edge that exists it goes without saying\n",
        "        pass\n",
        CONDUCTS,
    ),
    Mutant(LAYERS, "PROPAGATES: UNSET, MASKING: NEVER}", "PROPAGATES: UNSET, MASKING: UNSET}", CONDUCTS),
    Mutant(STATE, " or self.claims.held > Conduction.NOTHING\n", "\n", CONDUCTS),
    Mutant(
        STATE,
        "if user.deleted is None else not user.deleted",
        "if user.deleted is None else not user.deleted or claimed",
        CONDUCTS,
    ),
    Mutant(STATE, "if claims.held == Conduction.ALL or (", "if (", CONDUCTS),
    Mutant(STATE, "(claims.mask_by_authority and claims.held", "(claims.mask and claims.held", CONDUCTS),
    Mutant(STATE, " and not user.never_open and not others_mask", " and not others_mask", CONDUCTS),
    Mutant(STATE, "(source.never_open if source.masking is None else source.masking)", "source.masking", CONDUCTS),
    Mutant(STATE, " or (shown.masking and conduction == Conduction.ALL)", "", DECIDED),
    Mutant(PENDING, "return self.keys[: _IDS[self.kind]]", "return self.keys[:1]", NAMED),
    Mutant(PENDING, "len(keys) != ids + bool(text_length)", "len(keys) < ids", NAMED),
    Mutant(PENDING, " or not all(map(looks_like_uuid, keys[:ids]))", "", NAMED),
    Mutant(PENDING, '"\\x00" in key or ', "", NAMED),
    Mutant(PENDING, "(*(key.lower() for key in keys[:ids])", "(*(key for key in keys[:ids])", NAMED),
    Mutant(DECISIONS, "        if time < self.time:\n", "        if time:\n", DECIDED),
    Mutant(DECISIONS, 'layers[name].clock_of(HELD + tag) or ""', '""', DECIDED),
    Mutant(DECISIONS, " and tag in held_tags(layers[name])", "", DECIDED),
    Mutant(DECISIONS, "if fields.get(PARENT_ID) == parent != shown:", "if False:", DECIDED),
    Mutant(DECISIONS, "layers[name].fields.get(DELETED) is True", "layers[name].fields", DECIDED),
    Mutant(DECISIONS, "    author = author.after(held_at)\n", "", DECIDED),
    Mutant(DECISIONS, "    if _is_still_held(state, found):\n", "    if False:\n", DECIDED),
    Mutant(DECISIONS, "        settings[PROPAGATES] = True\n", "        pass\n", DECIDED),
    Mutant(DECISIONS, " and (shown.masking or shown.is_deleted)", " and shown.masking", DECIDED),
    Mutant(DECISIONS, '"delete" if layer.fields.get(DELETED) else "upsert"', '"upsert"', DECIDED),
    Mutant(DECISIONS, "state.claims._replace(held=Conduction.NOTHING)", "state.claims", DECIDED),
    Mutant(AUTHORITY, "key is not None and hmac.compare_digest(key.mac(prefix), mac)", "key is not None", SIGNED),
    Mutant(AUTHORITY, "{key.name: key for key in keys}", "{key.name: key for key in keys[:1]}", SIGNED),
    Mutant(AUTHORITY, "self.rejected += not accepted", "self.rejected += 0", SIGNED),
    Mutant(AUTHORITY, "value.rpartition(_ATTRIBUTE)", "value.partition(_ATTRIBUTE)", SIGNED),
    Mutant(AUTHORITY, "if changed_at != self._changed_at:", "if self._changed_at < 0:", SIGNED),
    Mutant(AUTHORITY, ".derive(master_key)", ".derive(bytes(32))", SIGNED),
    Mutant("pipeline/validation.py", "verifier.accepts(record.value)", "True", SIGNED),
    Mutant("pipeline/validation.py", "if event.statement.release is not None:", "if False:", SIGNED),
    Mutant("pipeline/validation.py", "isinstance(event, ClaimsEvent) and event.released", "False", SIGNED),
    Mutant("lineage/runs.py", " or self._is_too_large_to_assume()", "", unit("test_runs")),
]
