"""An enforcer whose target cannot be read: it puts a file for each table into a directory that a tool empties."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lily.model.errors import Transient
from lily.plugins import Decision, Drift, Failure, Plan, Step


class MailboxConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Path


class Mailbox:
    """The newest decisions of a table are in the file of its name; no file: it is not enforced."""

    Config = MailboxConfig

    def __init__(self, config: MailboxConfig) -> None:
        self._path = config.path

    def inventory(self) -> None:
        return None

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        tables = sorted({one.table for one in decisions})
        return Plan(tuple(Step(table, self._text([d for d in decisions if d.table == table])) for table in tables))

    def apply(self, plan: Plan) -> Sequence[Failure]:
        self._check()
        for step in plan.steps:
            file = self._path / ".".join(step.table)
            if step.change:
                file.write_text(step.change)
            else:
                file.unlink(missing_ok=True)
        return []

    def verify(self, decisions: Sequence[Decision]) -> list[Drift]:  # noqa: ARG002
        return []

    def remove(self) -> None:
        self._check()
        for file in self._path.iterdir():
            file.unlink()

    def close(self) -> None:
        """Holds nothing."""

    def _check(self) -> None:
        if not self._path.is_dir():
            raise Transient(f"{self._path} is not there; it is tried again")

    @staticmethod
    def _text(decisions: Sequence[Decision]) -> str:
        """Empty for a table that is withdrawn."""
        if any(one.effect == "withdrawn" for one in decisions):
            return ""
        return json.dumps(sorted([one.column, one.effect, one.mask, list(one.principals)] for one in decisions))
