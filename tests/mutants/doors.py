"""Faults in quotas, strangers, the audit, Kafka's settings, replays and the review of what is pending."""

from tests.mutants.mutant import Mutant, postgres, unit

QUOTAS, STRANGERS, CHAIN, BROKERS = (
    "api/quotas/quotas.py",
    "api/auth/strangers.py",
    "store/postgres/audit/chain.py",
    "brokers.py",
)
KNOWN_NO_LONGER = "                self.failed(address)\n            return self._remembered(digest, found)"

MUTANTS = [
    Mutant("api/quotas/bucket.py", "self._left = min(self.room, left)", "self._left = left", unit("test_quotas")),
    Mutant(QUOTAS, "        found.octets.take(octets)\n", "", unit("test_quotas")),
    Mutant(QUOTAS, "if principal.scopes == ENGINE:", "if principal.scopes >= ENGINE:", unit("test_quotas")),
    Mutant(
        QUOTAS,
        "max(found.events.seconds(now), found.octets.seconds(now))",
        "found.events.seconds(now)",
        unit("test_quotas"),
    ),
    Mutant(
        STRANGERS,
        KNOWN_NO_LONGER,
        KNOWN_NO_LONGER.partition("\n")[2],
        unit("test_strangers"),
    ),
    Mutant(STRANGERS, " and self._would_be_notified()", "", unit("test_strangers")),
    Mutant(CHAIN, "if entry.previous_hash != last.hash:", "if False:", unit("test_audit_chain")),
    Mutant(CHAIN, ' and json.loads(detail or "{}").get("hash") == pruned.hash', "", unit("test_audit_chain")),
    Mutant("store/postgres/audit/sql/chain.sql", "order by a.number", "order by a.at desc", postgres("test_audit")),
    Mutant(BROKERS, 'self.security_protocol.endswith("SSL")', 'self.security_protocol == "SSL"', unit("test_brokers")),
    Mutant(BROKERS, """.replace('"', '\\\\"')""", "", unit("test_brokers")),
    Mutant(
        "api/ingest/replay.py",
        '({AUTHORITY} if data.get("authorised") is True else set())',
        "set()",
        unit("test_api_replay"),
    ),
    Mutant(
        "api/auth/refusals.py",
        "            window.count += count\n            log.warning",
        "            log.warning",
        postgres("test_audited_refusals"),
    ),
    Mutant("api/protections/deciding.py", "if item.reviewed in reviewed]", "if reviewed]", unit("test_reviews")),
    Mutant("api/auth/dead_letters.py", "        *datasets,\n", "", unit("test_replayable_letters")),
    Mutant("api/auth/dead_letters.py", '("edges", "released")', '("edges",)', unit("test_replayable_letters")),
]
