"""Faults in what WebSocket listeners are sent, and in receipts."""

from tests.mutants.mutant import Mutant, unit

HUB, MESSAGES = "api/websocket/hub.py", "api/websocket/messages.py"
LIVE, PAST, SHARES = unit("test_api_hub"), unit("test_api_replayed_messages"), unit("test_api_hub_shares")

MUTANTS = [
    Mutant(HUB, "_messages(record) if tenant_of(record) == listener.tenant else ()", "_messages(record)", PAST),
    Mutant(
        HUB,
        "self._listeners.get(tenant_of(record), ())",
        "[one for some in self._listeners.values() for one in some]",
        LIVE,
    ),
    Mutant(
        HUB,
        "                    if listener.filter.matches(message):\n                        found",
        "                    found",
        PAST,
    ),
    Mutant(HUB, "since.get(at, 0) if at[0] in named else offset", "since.get(at, offset)", PAST),
    Mutant(HUB, "since.get(at, 0) if at[0] in named else offset", "since.get(at, 0)", PAST),
    Mutant(HUB, "yield message, after if number == len(messages) else before", "yield message, after", LIVE),
    Mutant(HUB, "            self.overrun.set()\n", "            pass\n", LIVE),
    Mutant(HUB, "any(offset > self._offsets[partition]", "any(offset < self._offsets[partition]", PAST),
    Mutant(HUB, "with self._connections.one(tenant, most):", 'with self._connections.one("", most):', SHARES),
    Mutant(HUB, "with self._replays.one(listener.tenant):", 'with self._replays.one(""):', SHARES),
    Mutant(HUB, "            self._listeners[listener.tenant].discard(listener)\n", "", LIVE + PAST),
    Mutant(
        MESSAGES,
        'return [] if event["data"]["change"] == PROMOTED else [_changed(event)]',
        "return [_changed(event)]",
        LIVE,
    ),
    Mutant(MESSAGES, "            and (not self.assets or message.metadata_id in self.assets)\n", "", LIVE),
    Mutant(MESSAGES, "            and (not self.changes or message.change in self.changes)\n", "", LIVE),
    Mutant(
        "api/receipts/receipt.py",
        "sealed.unseal(text, _SHAPE, _PURPOSE, tenant)",
        "sealed.unseal(text, _SHAPE, _PURPOSE)",
        unit("test_api_receipts"),
    ),
]
