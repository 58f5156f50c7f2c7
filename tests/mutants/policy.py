"""Faults in what policies mean."""

from tests.mutants.mutant import Mutant, unit

TABLES, CONDITIONS = "policy/tables.py", "policy/conditions.py"
DECIDED = unit("policy/test_policy_decisions", "policy/test_policy_conditions", "policy/test_policy_properties")
NAMED = unit("policy/test_policy_checks", "policy/test_policy_decisions", "enforce/test_trino_operations")

KEYS = unit("test_tag_keys")

MUTANTS = [
    Mutant("model/assets.py", 'unicodedata.normalize("NFC", folded).casefold()', "folded", KEYS),
    Mutant("model/assets.py", 'unicodedata.normalize("NFD", tag).casefold()', "tag.casefold()", KEYS),
    Mutant("store/postgres/definitions/tags.py", "frozenset(map(tag_key, named))", "frozenset(named)", KEYS),
    Mutant("policy/names.py", 'f"t:{tag_key(tag)}"', '_key("t", tag)', KEYS),
    Mutant(TABLES, "if not bits & (self._deny | self._allow):", "if not bits:", DECIDED),
    Mutant(
        TABLES, ".outcome(principal, facts, context) is not False:", ".outcome(principal, facts, context):", DECIDED
    ),
    Mutant(TABLES, "(outcome is False or bit & self._allow)", "outcome is False", DECIDED),
    Mutant(TABLES, "self._conditional & (first - 1)", "self._conditional", DECIDED),
    Mutant(TABLES, "action in policy.actions and plane in policy.applies_to", "action in policy.actions", DECIDED),
    Mutant(TABLES, "bits = self._everywhere\n        by_key", "bits = 0\n        by_key", DECIDED),
    Mutant(
        TABLES,
        "return outcome if outcome is not None else policy.effect != ",
        "return bool(outcome) or policy.effect == ",
        unit("policy/test_policy_explanations", "policy/test_policy_properties"),
    ),
    Mutant(
        CONDITIONS,
        "return moment >= self.start or moment < self.end",
        "return moment >= self.start and moment < self.end",
        DECIDED,
    ),
    Mutant(CONDITIONS, "self.start <= moment < self.end", "self.start <= moment <= self.end", DECIDED),
    Mutant(CONDITIONS, "context.now < self.not_after", "context.now <= self.not_after", DECIDED),
    Mutant(CONDITIONS, "context.now.astimezone(self.zone).weekday()", "context.now.weekday()", DECIDED),
    Mutant(CONDITIONS, "        if outcome is None:\n            result = None\n", "", DECIDED),
    Mutant(CONDITIONS, " and isinstance(item, bool) == isinstance(wanted, bool)", "", DECIDED),
    Mutant(
        CONDITIONS,
        "            if value is None:\n                result = None\n            el",
        "            ",
        DECIDED,
    ),
    Mutant(CONDITIONS, "return None if self.asset else True", "return True", DECIDED),
    Mutant("policy/candidates.py", "strictest = min(decisions", "strictest = max(decisions", NAMED),
    Mutant(
        "policy/candidates.py",
        "if decision.reason == DISABLED or (",
        "if (",
        unit("policy/test_policy_checks", "enforce/test_trino_operations", "policy/test_policy_decisions"),
    ),
    Mutant(
        "policy/candidates.py",
        "for decision in decisions for one in",
        "for decision in decisions[:1] for one in",
        NAMED,
    ),
    Mutant(
        "policy/masks.py",
        '    "sha-256-query-local",\n    "sha-256-global",\n',
        '    "sha-256-global",\n    "sha-256-query-local",\n',
        DECIDED,
    ),
    Mutant("policy/index.py", 'if principal.disabled and plane == "data":', "if False:", DECIDED),
    Mutant("policy/roles.py", "                queue.append(above)\n", "", DECIDED),
    Mutant(
        "policy/index.py",
        "- {EVERY}",
        "",
        unit("policy/test_policy_decisions", "policy/test_policy_parsing", "policy/test_policy_checks"),
    ),
]
