"""Scripts of targets whose changes a person makes: the complete one, the one that takes all back, and what is known to
be in them.

What earlier scripts restricted is kept with the plan (`written`): a column that is no longer restricted has to be
released by the next script, whether or not an earlier one was run.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from lily.model.errors import Terminal
from lily.plugins.enforcers import Decision, Path, Plan

Kind = Literal["apply", "remove"]
Written = Mapping[Path, Collection[str]]  # by table: the columns that scripts restrict
SEPARATOR = ";\n"
MAX_LENGTH = 64_000_000  # characters: it is kept in one value of PostgreSQL, and in the memory of who reads it


class ScriptTooLong(Terminal):
    """The target has more tables than one script can have."""


class NotByHand(Terminal):
    """The target is one that Lily changes itself."""


class OtherScript(Terminal):
    """The script that was run is not the one of the present decisions."""


class Script(NamedTuple):
    text: str
    digest: str


def restricted(decisions: Iterable[Decision]) -> dict[Path, set[str]]:
    """By table: the columns that have a decision of their own."""
    found: dict[Path, set[str]] = {}
    for decision in decisions:
        found.setdefault(decision.table, set()).update({decision.column} - {""})
    return found


def for_script(decisions: Sequence[Decision], written: Written, gone: Iterable[Path], kind: Kind) -> list[Decision]:
    """All decisions, with what takes back what earlier scripts may have done. `gone` are tables that are no longer
    enforced: they stay as they are until all is taken back, because a table that somebody deleted from the catalogue,
    or gave another data source, may still be there with its data."""
    now, kinds = restricted(decisions), {decision.table: decision.table_kind for decision in decisions}
    earlier = {path: set(columns) for path, columns in written.items()}
    if kind == "remove":
        everything = {*now, *earlier, *gone}
        columns = {path: now.get(path, set()) | earlier.get(path, set()) for path in everything}
        return [
            replace(one, table_kind=kinds.get(path, ""))
            for path in sorted(everything)
            for one in _withdrawn(path, columns[path], whole=True)
        ]
    released = [one for path in now for one in _withdrawn(path, earlier.get(path, set()) - now[path], whole=False)]
    return [*decisions, *released]


def lost(written: Written, decisions: Iterable[Decision]) -> dict[Path, Collection[str]]:
    """What earlier scripts restrict and is no longer enforced."""
    now = restricted(decisions)
    return {path: columns for path, columns in sorted(written.items()) if path not in now}


def merged(written: Written, decisions: Iterable[Decision]) -> list[list[list[str]]]:
    """What scripts restrict, this one included, as it is stored."""
    now = restricted(decisions)
    return [[list(path), sorted({*written.get(path, ()), *now.get(path, ())})] for path in sorted({*written, *now})]


def parsed(stored: Any) -> dict[Path, set[str]]:
    return {tuple(path): set(columns) for path, columns in stored or ()}


def script(name: str, plan: Plan, kind: Kind) -> Script:
    """Raises NotByHand if Lily makes the changes itself, and ScriptTooLong."""
    if not plan.by_hand:
        raise NotByHand(f"Lily changes {name} itself. `lily enforce plan {name}` shows what it would change.")
    body = "".join(step.change + SEPARATOR for step in plan.steps)
    if len(body) > MAX_LENGTH:
        described = f"the script of {name} has more than {MAX_LENGTH:,} characters"
        raise ScriptTooLong(f"{described}. Divide its data source into several, with a target each.")
    digest = hashlib.sha256(body.encode()).hexdigest()
    purpose = "takes back what Lily's scripts did" if kind == "remove" else "brings the warehouse in line"
    lines = [
        f"Lily: {purpose}, for the target {name}.",
        f"Statements: {len(plan.steps)}. Stop at the first that fails: what follows may depend on it.",
        f"Digest: {digest}",
        *(f"Note: {finding.subject}: {finding.description}" for finding in plan.findings),
    ]
    return Script("".join(f"-- {_one_line(line)}\n" for line in lines) + "\n" + body, digest)


def _withdrawn(path: Path, columns: Iterable[str], *, whole: bool) -> list[Decision]:
    listed = ["", *sorted(columns)] if whole else sorted(columns)
    return [Decision(".".join(path), path, (), "withdrawn", column) for column in listed]


def _one_line(text: str) -> str:
    """A comment ends with its line, so nothing in it may begin a new one."""
    return "".join(character if character.isprintable() else " " for character in text)
