"""Requests about the script of a target: to hand it out, and to confirm that it was run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from lily.plugins.enforcers import Enforcer, Finding, Path, Plan
from lily.reactions.enforcement.run import called
from lily.reactions.enforcement.scripts import Kind, OtherScript, Script, for_script, lost, merged, parsed, script
from lily.reactions.enforcement.wanted import Enforced
from lily.store.postgres.enforcement.ledger import StoredTarget, TargetLedger

NOT_IN_SCRIPT = "it is not in the script; the findings state why"
LEFT = (
    "it is no longer in the catalogue, or has another data source: what earlier scripts did to it stays; the script "
    "with --remove takes it back"
)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ScriptRequests:
    """Of one target, by what was `decided` from what was committed before `began`. Each returns the plan, and what is
    kept with it."""

    ledger: TargetLedger
    target: StoredTarget
    enforcer: Enforcer
    decided: Enforced
    began: datetime

    def hand_out(self, kind: Kind) -> tuple[Plan, dict[str, Any]]:
        plan, made = self._made(kind)
        written = parsed(self.ledger.written(self.target.key))
        kept = merged(written, self.decided.decisions if kind == "apply" else ())
        return plan, {"digest": made.digest, "script": made.text, "written": kept}

    def confirm(self, digest: str) -> tuple[Plan, dict[str, Any]]:
        """Raises OtherScript if the digest is not that of the present script. A table that is not in the script is not
        confirmed."""
        plan, made = self._made("apply")
        left = lost(parsed(self.ledger.written(self.target.key)), self.decided.decisions)
        if digest != made.digest:
            raise OtherScript(
                f"the decisions have changed since the script {digest[:64]} was made, or something else was run; run "
                f"`lily enforce script {self.target.name}` again: its digest is {made.digest}"
            )
        self._record(
            plan, dict.fromkeys(self.decided.digests.keys() - {step.table for step in plan.steps}, NOT_IN_SCRIPT)
        )
        _log.info("script confirmed", target=self.target.name, digest=digest)
        return plan, {"digest": digest, "confirmed": True, "written": merged(left, self.decided.decisions)}

    def _made(self, kind: Kind) -> tuple[Plan, Script]:
        written = parsed(self.ledger.written(self.target.key))
        gone = [path for path in self.ledger.sent(self.target.key) if path not in self.decided.digests]
        decisions = for_script(self.decided.decisions, written, gone, kind)
        plan = called(lambda: self.enforcer.plan(decisions))
        if kind == "apply":
            left = [Finding(".".join(path), LEFT) for path in lost(written, self.decided.decisions)]
            plan = plan._replace(findings=(*plan.findings, *left))
        return plan, script(self.target.name, plan, kind)

    def _record(self, plan: Plan, missing: Mapping[Path, str]) -> None:
        self.ledger.confirm(self.target.key, self.decided.digests, missing)
        self.ledger.finish(
            self.target.key,
            self.began,
            steps=len(plan.steps),
            error=f"{len(missing)} tables are not in the script; see the findings" if missing else None,
            tables=self.decided.tables,
            columns=self.decided.columns,
            findings=[finding._asdict() for finding in (*self.decided.findings, *plan.findings)],
        )
