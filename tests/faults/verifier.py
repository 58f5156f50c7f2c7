"""Holds the stack to its promises: every acknowledged event is applied, superseded or a dead letter, and nothing else
has happened."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from lily.bus.authority import Verifier
from lily.bus.topics import ASSETS
from lily.model.assets import LayerName
from lily.model.events import AssetEvent
from lily.model.layers import TAGS, Layer, holds
from lily.model.records import Record, Refusal
from lily.pipeline.validation import validate_asset_record
from tests.faults import aftermath
from tests.faults.evidence import Evidence
from tests.faults.journal import Journal, Write, mark_in

LOST = "an event in the log is in no layer and no dead letter"

Fate = Literal["applied", "superseded", "dead letter", "lost"]
Place = tuple[str, LayerName]  # a layer of an asset


class Entry(NamedTuple):
    """A record of the log, the write it came from, and what the pipeline should have made of it."""

    record: Record
    write: Write
    verdict: AssetEvent | Refusal


@dataclass(slots=True)
class Account:
    """What became of the events, and every way in which that is not as promised."""

    acknowledged: Counter[Fate] = field(default_factory=Counter)
    uncertain: Counter[Fate] = field(default_factory=Counter)
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def lost(self) -> int:
        return self.acknowledged["lost"]

    def complain(self, problem: str, example: str) -> None:
        self.problems[problem].append(example)

    def complaints(self) -> str:
        """Each problem once, with how often and an example."""
        return "\n".join(f"{len(found)} times {problem}: {found[0]}" for problem, found in self.problems.items())


def verify(journal: Journal, evidence: Evidence, signatures: Verifier) -> Account:
    account = Account()
    entries = list(_entries(account, journal, evidence, signatures))
    events = [entry.verdict for entry in entries if isinstance(entry.verdict, AssetEvent)]
    _check_promises(account, journal, entries)
    sent = _clocks_sent(events)
    for entry in entries:
        fate = _fate(account, evidence, sent, entry)
        (account.acknowledged if entry.write.outcome == "acknowledged" else account.uncertain)[fate] += 1
        if fate == "lost":
            account.complain(LOST, f"{entry.write.kind} {entry.record}")
    hot = {e.verdict.asset_id for e in entries if isinstance(e.verdict, AssetEvent) and e.record.topic == ASSETS}
    for problem, example in aftermath.problems(evidence, events, hot):
        account.complain(problem, example)
    return account


def _entries(account: Account, journal: Journal, evidence: Evidence, signatures: Verifier) -> Iterator[Entry]:
    written = journal.by_mark()
    for record in evidence.log:
        verdict = validate_asset_record(record, evidence.tenants.__contains__, verifier=signatures)
        if verdict is None:
            continue  # a ping
        write = written.get(mark_in(record.value))
        if write is None:
            account.complain("the log holds what nobody sent", str(record))
        else:
            yield Entry(record, write, verdict)


def _check_promises(account: Account, journal: Journal, entries: Iterable[Entry]) -> None:
    """What was acknowledged stands in the log as it was stated; what a door refused does not."""
    found: dict[str, list[Record]] = defaultdict(list)
    for entry in entries:
        found[entry.write.mark].append(entry.record)
    for write in journal.writes:
        records = found.get(write.mark, [])
        if write.outcome == "refused" and records:
            account.complain("a write that was refused is in the log", str(write))
        if write.outcome == "acknowledged" and (missing := _missing(write, records)):
            account.acknowledged["lost"] += missing
            account.complain("an acknowledged write is not in the log as it was stated", f"{write} found {records}")


def _missing(write: Write, records: list[Record]) -> int:
    """How many of a write's events the log does not hold."""
    if write.cause:
        return 0 if records else 1
    said = Counter(_data(data) for data in write.stated)
    there = Counter(_said(write, orjson.loads(record.value or b"")) for record in records)
    return (said - there).total()


def _said(write: Write, event: Mapping[str, Any]) -> bytes:
    if event["tenantid"] != write.tenant or (write.time is not None and event["time"] != write.time):
        return b""
    return _data(event["data"])


def _data(stated: Mapping[str, Any]) -> bytes:
    """Without what the API adds: who said it, whether they may remove a protective tag, and in the user layer the type
    that the asset has."""
    added = {"by", "authorised"} if stated["layer"] == "source" else {"by", "authorised", "entity_type"}
    data = {key: value for key, value in stated.items() if key not in added}
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)


def _fate(account: Account, evidence: Evidence, sent: Mapping[Place, set[str]], entry: Entry) -> Fate:
    record, write, verdict = entry
    letter = evidence.letters.get((record.topic, record.partition, record.offset))
    if isinstance(verdict, Refusal):
        codes = [error["code"] for error in letter.errors] if letter else []
        if letter is None or bytes(letter.original) != record.value:
            return "lost"
        if not write.cause or write.cause not in codes:
            account.complain("a record was refused for another reason than it should", f"{write} got {codes}")
        return "dead letter"
    if write.cause or letter:
        account.complain("refused and applied are mixed up", f"{write} {record} {letter}")
    find = evidence.assets.get if record.topic == ASSETS else evidence.asset
    asset = find(verdict.asset_id)
    layer = asset.layers.get(verdict.statement.layer) if asset else None
    return event_fate(verdict, layer, sent[verdict.asset_id, verdict.statement.layer])


def event_fate(event: AssetEvent, layer: Layer | None, sent: set[str]) -> Fate:
    """Superseded is only what a newer event stands in the place of, and only if that one was really sent."""
    if layer is None:
        return "lost"
    if holds(layer, event.layer()):
        return "applied"
    standing = clocks_of(layer)
    for key, at in clocks_of(event.layer()).items():
        now = standing.get(key) or (standing.get(f"{TAGS}/") if key.startswith(f"{TAGS}/") else None)
        if now is None or now < at or now not in sent:
            return "lost"
    return "superseded"


def clocks_of(layer: Layer) -> dict[str, str]:
    """The clock of each statement that stands: of every field, tag (`tags/pii`) and list of tags (`tags/`)."""
    clocks = layer.clocks or {}
    found = {key: clocks.get(key, layer.at) for key in (layer.fields.keys() | clocks.keys()) - {TAGS}}
    tags: dict[str, str] = clocks.get(TAGS) or {}
    if TAGS in layer.fields and TAGS not in clocks:
        tags = dict.fromkeys(["", *layer.fields[TAGS]], layer.at)
    return found | {f"{TAGS}/{tag}": at for tag, at in tags.items()}


def _clocks_sent(events: Iterable[AssetEvent]) -> Mapping[Place, set[str]]:
    sent: dict[Place, set[str]] = defaultdict(set)
    for event in events:
        sent[event.asset_id, event.statement.layer].add(event.clock)
    return sent
