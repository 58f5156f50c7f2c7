"""What a campaign has to tell, for people."""

from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any

from lily.model.records import Record
from tests.faults.aftermath import repeats
from tests.faults.evidence import Evidence
from tests.faults.journal import Journal
from tests.faults.killer import Kill
from tests.faults.own_stack import OwnStack
from tests.faults.verifier import Account


def summary(stack: OwnStack, journal: Journal, kills: list[Kill], evidence: Evidence, account: Account) -> str:
    writes = Counter(f"{write.outcome} {write.kind}" for write in journal.writes)
    restarts = {part.name: part.restarts for part in stack.state.parts}
    lines = [
        f"log         {len(evidence.log)} records, {len(evidence.assets)} assets, {len(evidence.changes)} changes",
        f"lake        {len(evidence.lake_events)} events, {len(evidence.lake)} assets",
        f"writes      {_counts(writes)}",
        f"answers     {_counts(journal.answers())}",
        f"events      acknowledged: {_counts(account.acknowledged)}",
        f"            uncertain and found in the log: {_counts(account.uncertain) or 'none'}",
        f"published   changes: {_told(evidence.published)}; dead letters: {_told(evidence.buried)}",
        f"restarts    {_counts(restarts)}",
        f"kills       {len(kills)}",
        *(f"  {name:<20}{_recoveries(found)}" for name, found in _by_victim(kills).items()),
        f"  {'all':<20}{_recoveries([kill.seconds for kill in kills])}",
    ]
    return "\n".join(lines)


def _by_victim(kills: list[Kill]) -> dict[str, list[float | None]]:
    return {name: [kill.seconds for kill in kills if kill.victim == name] for name in sorted({k.victim for k in kills})}


def _recoveries(seconds: list[float | None]) -> str:
    known = [second for second in seconds if second is not None]
    if not known:
        return f"{len(seconds)} times not back yet"
    back = f"back after {median(known):4.1f} s (median), {max(known):4.1f} s (worst)"
    return f"{len(seconds):2} times {back}"


def _told(records: list[Record]) -> str:
    return f"{len(records)}, of them {repeats(records)} repeats"


def _counts(found: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
