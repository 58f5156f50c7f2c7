"""What a dead letter of the worker shows of an error."""

from lily.model.errors import Terminal
from lily.reactions.failures import shown_cause


def test_lilys_own_message_is_shown() -> None:
    cause, _ = shown_cause(Terminal("the channel was deleted; choose another"))
    assert cause == "Terminal: the channel was deleted; choose another"


def test_the_text_of_another_error_is_replaced_by_a_correlation_id() -> None:
    cause, correlation = shown_cause(ValueError("postgresql://lily:secret@db"))
    assert "secret" not in cause
    assert correlation in cause
