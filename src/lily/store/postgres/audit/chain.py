"""Verifies a chain of audit entries: recomputes every hash from the entry and the hash before it.

Computed here, not by the function that PostgreSQL chains with: a function that was replaced would verify what it wrote.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from lily.model.errors import Problem, Refused

PRUNED = "audit.pruned"  # the entry that records a deletion by age
_HEAD = re.compile(r"[0-9]{1,18}:[0-9a-fA-F]{64}")
_ANEW = "the entry {} has another hash than was kept: the chain was written anew"
_RESTORE = "Find out who had the owner's access to the database, and compare with a backup."


class Head(NamedTuple):
    """The end of a chain: the number of its last entry, and its hash in hexadecimal digits."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


class Chained(NamedTuple):
    """An entry as it is stored. `fields` are what is hashed, in order; the number is None if it was never chained."""

    number: int | None
    previous_hash: str | None
    hash: str | None
    action: str
    fields: tuple[str | None, ...]


class Break(NamedTuple):
    """Where a chain is broken first. `number` is that of the entry, or of the first one that is missing."""

    number: int
    wrong: str
    remedy: str = _RESTORE


class Chain(NamedTuple):
    """What is stored about a chain: its end, None if there is no record of it, and the last entry deleted by age."""

    head: Head | None
    pruned: Head


class Verified(NamedTuple):
    entries: int
    head: Head
    broken: Break | None = None


def parse_head(text: str) -> Head:
    """`NUMBER:HASH`, as `lily audit head` prints it. Raises Refused."""
    if not _HEAD.fullmatch(text):
        described = f"{text[:100]!r} is not NUMBER:HASH with 64 hexadecimal digits; `lily audit head` prints it"
        raise Refused(Problem("INVALID_VALUE", described, "head"))
    number, _, digits = text.partition(":")
    return Head(int(number), digits.lower())


def entry_hash(previous: str, fields: Iterable[str | None]) -> str:
    """As `audit_hash` in PostgreSQL."""
    written = b"".join(b"-," if one is None else b"%d:%b," % (len(one.encode()), one.encode()) for one in fields)
    return hashlib.sha256(bytes.fromhex(previous) + written).hexdigest()


def verify(chain: Chain, entries: Iterable[Chained], kept: Head | None = None) -> Verified:
    """Stops at the first break. `kept` is the end of the chain at some earlier time, kept outside of the database:
    without it, nothing shows that the newest entries were deleted together with the record of the end."""
    last, count = chain.pruned, 0
    recorded, seen = chain.pruned.number == 0, kept is None or kept == chain.pruned
    for entry in entries:
        broken = _break_at(last, entry) or _differs(entry, kept)
        if broken is not None:
            return Verified(count, last, broken)
        last, count = Head(last.number + 1, entry.hash or ""), count + 1
        seen = seen or last == kept
        recorded = recorded or _records(entry, chain.pruned)
    return Verified(count, last, _break_of_end(chain, last, None if seen else kept, recorded=recorded))


def _break_at(last: Head, entry: Chained) -> Break | None:
    expected = last.number + 1
    if entry.number is None:
        return Break(expected, f"an entry ({entry.action}) has no number: it was inserted past the chain")
    if entry.number < expected:
        return Break(entry.number, f"the entry {entry.number} was deleted by age, and is there again")
    if entry.number > expected:
        return Break(expected, f"the entry {expected} is missing: {entry.number} follows {last.number}")
    named = f"the entry {expected} ({entry.action})"
    if entry.hash != entry_hash(entry.previous_hash or "", entry.fields):
        return Break(expected, f"{named} was changed: its content has another hash")
    if entry.previous_hash != last.hash:
        where = f"the entry {last.number}" if last.number else "the beginning"
        return Break(expected, f"{named} does not follow {where}: one of them was replaced")
    return None


def _differs(entry: Chained, kept: Head | None) -> Break | None:
    if kept is None or entry.number != kept.number or entry.hash == kept.hash:
        return None
    return Break(kept.number, _ANEW.format(kept.number))


def _break_of_end(chain: Chain, last: Head, missing: Head | None, *, recorded: bool) -> Break | None:
    if chain.head is None or last != chain.head:
        end = "no end is recorded" if chain.head is None else f"it has to end with {chain.head.number}"
        return Break(last.number + 1, f"the chain ends with the entry {last.number}, but {end}: entries were deleted")
    if not recorded:
        wrong = f"entries until {chain.pruned.number} are gone, but no entry records that they were deleted by age"
        return Break(chain.pruned.number + 1, wrong)
    if missing is None:
        return None
    if missing.number == chain.pruned.number:
        return Break(missing.number, _ANEW.format(missing.number))
    if missing.number < chain.pruned.number:
        wrong = f"the entry {missing.number} was deleted by age, so its hash cannot be compared"
        return Break(missing.number, wrong, "Compare with a newer head: `lily audit head` prints the present one.")
    wrong = f"the chain ends with the entry {last.number}, but once had {missing.number}: its end was cut off"
    return Break(last.number + 1, wrong)


def _records(entry: Chained, pruned: Head) -> bool:
    """Whether the entry records this deletion by age."""
    if entry.action != PRUNED:
        return False
    *_, entity, detail = entry.fields
    return entity == str(pruned.number) and json.loads(detail or "{}").get("hash") == pruned.hash
