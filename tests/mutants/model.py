"""Faults in what assets, edges and events are."""

from tests.mutants.mutant import Mutant, unit

LAYERS, ASSETS, EDGES = "model/layers.py", "model/assets.py", "model/edges.py"
MERGE, SHOWN, VALID = unit("test_layers"), unit("test_assets", "test_effective_tags"), unit("test_validation")
FUTURE, LIMITS = unit("test_future_times"), unit("test_model_limits")
AHEAD = "skew=timedelta(days=36_500)"

MUTANTS = [
    Mutant(LAYERS, "entry[0] > fields[key][0]", "entry[0] < fields[key][0]", MERGE),
    Mutant(LAYERS, "stated[0] > tags[tag][0]", "stated[0] < tags[tag][0]", MERGE),
    Mutant(LAYERS, "if stated[0] >= list_at}", "if stated[0] > list_at}", MERGE),
    Mutant(LAYERS, "        and older.clocks is None\n", "", MERGE),
    Mutant(LAYERS, "        and newer.clocks is None\n", "", MERGE),
    Mutant(LAYERS, "        and older.fields.keys() <= newer.fields.keys()\n", "", MERGE),
    Mutant(LAYERS, "list_at = max(filter(", "list_at = min(filter(", MERGE),
    Mutant(LAYERS, "if when != at or value is None", "if when != at", MERGE),
    Mutant(LAYERS, "return fields and tags and stated", "return fields and stated", MERGE),
    Mutant(LAYERS, " and stated.list_at in (None, expanded.list_at)", "", MERGE),
    Mutant(
        ASSETS,
        'shown = stated["source"] or stated["user"]',
        'shown = stated["source"] if "source" in layers and TAGS in layers["source"].fields else stated["user"]',
        SHOWN,
    ),
    Mutant(ASSETS, "set(source or user or ())", "set((user if source is None else source) or ())", SHOWN),
    Mutant(ASSETS, "    if person is True:\n        return True\n", "", SHOWN),
    Mutant(ASSETS, "if tag in protective and tag not in hidden}", "if tag in protective}", SHOWN),
    Mutant(ASSETS, "if enriched or (source and user):", "if enriched:", SHOWN),
    Mutant(
        ASSETS,
        "for name in reversed(LAYERS):\n        if (layer := layers.get(name)) is not None",
        "for name in LAYERS:\n        if (layer := layers.get(name)) is not None",
        unit("test_assets", "test_lake_nodes"),
    ),
    Mutant(
        ASSETS,
        "for name in reversed(LAYERS):\n        if (layer := layers.get(name)) is None",
        "for name in LAYERS:\n        if (layer := layers.get(name)) is None",
        SHOWN,
    ),
    Mutant("model/clock.py", 'if sign == "+" else', 'if sign == "-" else', unit("test_clock")),
    Mutant("model/clock.py", "[:6]:0<6}", "[:3]:0<6}", unit("test_clock")),
    Mutant("model/envelopes.py", "- clock.parse(received) > skew:", "- clock.parse(received) >= skew:", FUTURE),
    Mutant("model/envelopes.py", "if time > received and", "if time < received and", FUTURE),
    Mutant(EDGES, "EDGE_STATED, received=received, skew=skew", f"EDGE_STATED, received=received, {AHEAD}", FUTURE),
    Mutant(EDGES, "EDGES_CLAIMED, received=received, skew=skew", f"EDGES_CLAIMED, received=received, {AHEAD}", FUTURE),
    Mutant(
        "model/columns.py", "COLUMNS_STATED, received=received, skew=skew", "COLUMNS_STATED, received=received", FUTURE
    ),
    Mutant(EDGES, "MAX_CLAIMS = 20_000", "MAX_CLAIMS = 2_000_000", LIMITS),
    Mutant("model/values.py", "MAX_NAME = 512", "MAX_NAME = 51_200", LIMITS),
    Mutant("model/values.py", "MAX_DEPTH = 16", "MAX_DEPTH = 1_600", LIMITS),
    Mutant("model/values.py", "MAX_ITEMS = 500", "MAX_ITEMS = 50_000", LIMITS),
    Mutant("model/columns.py", "MAX_COLUMNS = 500", "MAX_COLUMNS = 50_000", LIMITS),
    Mutant("model/usage.py", "MAX_QUERIES = 10**9", "MAX_QUERIES = 10**15", LIMITS),
    Mutant("settings.py", "bulk_bytes: int = Field(4 << 30", "bulk_bytes: int = Field(4 << 50", LIMITS),
    Mutant(EDGES, 'deleted=self.operation == "delete"', "deleted=False", unit("test_edge_conduction")),
    Mutant(EDGES, "0 < len(kind) <= MAX_TYPE and start != end", "0 < len(kind) <= MAX_TYPE", VALID),
    Mutant(EDGES, 'by or "", data.get("authorised") is True', 'by or "", bool(data.get("authorised"))', VALID),
    Mutant("model/lanes.py", "        and not statement.attributes.get(TAGS)\n", "", unit("test_lanes")),
    Mutant("model/lanes.py", 'statement.layer == "source"\n        and ', "", unit("test_lanes")),
    Mutant("model/ids.py", 'f"{tenant}\\x00{text}"', 'f"{text}"', unit("test_ids")),
    Mutant("model/ids.py", "return reference.lower() if", "return reference if", unit("test_ids")),
    Mutant(
        "model/states.py",
        "min(self.first, other.first)",
        "max(self.first, other.first)",
        unit("test_compaction", "test_columns_event", "test_lake_reader"),
    ),
    Mutant("model/columns.py", "TAGS in attributes or ", "", unit("test_columns_event")),
    Mutant(
        "model/usage.py",
        "date.fromisoformat(time[:10]) <= oldest",
        "date.fromisoformat(time[:10]) < oldest",
        unit("quality/test_usage_events"),
    ),
    Mutant("pipeline/validation.py", "if record.key != expected:", "if False:", VALID),
]
