"""Faults in the short way of plain events: what it must leave to the full one, and what becomes of several events."""

from tests.mutants.mutant import Mutant, unit

READ, SHORT = "pipeline/plain_records.py", unit("test_plain_events")

MUTANTS = [
    Mutant(READ, 'key != f"{tenant}/{asset_id}".encode()', "False", SHORT),
    Mutant(READ, "        or time > latest\n", "", SHORT),
    Mutant(READ, "entity_type not in ENTITY_TYPES", "False", SHORT),
    Mutant(READ, "is_plain_name(qualified_name, MAX_QUALIFIED_NAME)", "True", SHORT),
    Mutant(READ, "by is None or is_plain_name(by, MAX_NAME)", "True", SHORT),
    Mutant(READ, "        or ids.looks_like_uuid(qualified_name)\n", "", SHORT),
    Mutant(READ, '        or "name" not in fields\n', "", SHORT),
    Mutant(READ, "        or not PLAIN_ATTRIBUTES.issuperset(fields)\n", "", SHORT),
    Mutant(READ, "len(texts) <= MAX_NAME", "True", SHORT),
    Mutant(READ, "parent == qualified_name or ids.looks_like_uuid(parent)", "ids.looks_like_uuid(parent)", SHORT),
    Mutant(READ, "parent == qualified_name or ids.looks_like_uuid(parent)", "parent == qualified_name", SHORT),
    Mutant(READ, "        clock.require_second(time[:19])\n", "", SHORT),
    Mutant(READ, ':"(?! ){_LETTER}++(?<! )"', ':"(?! ){_LETTER}++"', SHORT),
    Mutant(READ, ':"(?! ){_LETTER}++(?<! )"', ':"{_LETTER}++(?<! )"', SHORT),
    Mutant("pipeline/validation.py", "plain is not None and knows_tenant(plain.tenant)", "plain is not None", SHORT),
    Mutant("pipeline/validation.py", "clock.stamp(clock.parse(min(", "clock.stamp(clock.parse(max(", SHORT),
    Mutant(
        "store/postgres/catalogue/aggregation.py",
        'rows.setdefault(("source", event.asset_id), event) is event',
        'rows.setdefault(("source", event.asset_id), event) is not None',
        SHORT,
    ),
    Mutant("model/states.py", "        if known is piece:\n", "        if known is not None:\n", SHORT),
]
