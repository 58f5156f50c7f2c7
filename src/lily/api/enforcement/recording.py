"""What an engine was answered: counted, and kept in the log of decisions."""

from collections import Counter
from collections.abc import Sequence

from lily.api.calls import HttpCall
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decision_log import Decided
from lily.enforce.questions import Question
from lily.policy import Decision


def record(
    call: HttpCall, policies: TenantPolicies, user: str, questions: Sequence[Question], decisions: Sequence[Decision]
) -> None:
    for effect, count in Counter(decision.effect for decision in decisions).items():
        call.services.metrics.policy.decisions[effect].inc(count)
    decided = (
        Decided(user, question.action, "data", question.names[0], decision)
        for question, decision in zip(questions, decisions, strict=True)
    )
    call.services.decision_log.record(policies, call.principal.name, decided)
