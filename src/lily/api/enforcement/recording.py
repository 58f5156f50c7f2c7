"""What an engine was answered: counted, and kept in the log of decisions."""

from collections.abc import Iterable, Mapping

from lily.api.calls import HttpCall
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decision_log import Decided
from lily.enforce.questions import Question
from lily.policy import Decision


def record(
    call: HttpCall,
    policies: TenantPolicies,
    user: str,
    effects: Mapping[str, int],
    decided: Iterable[tuple[Question, Decision]],
) -> None:
    """`effects` has how many decisions had which effect."""
    for effect, count in effects.items():
        call.services.metrics.policy.decisions[effect].inc(count)
    entries = (Decided(user, question.action, "data", question.names[0], decision) for question, decision in decided)
    call.services.decision_log.record(policies, call.principal.name, entries)
