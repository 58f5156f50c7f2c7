"""The masks: the nine actions of Iceberg's read restrictions, and which of two reveals less."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from lily.model.suggestions import MAX_LENGTH, hint
from lily.model.values import MAX_NAME, Checker
from lily.policy.fields import refuse_unknown

MaskAction = Literal[
    "replace-with-null",
    "mask-to-fixed-value",
    "mask-alphanum",
    "sha-256-query-local",
    "sha-256-global",
    "truncate-to-year",
    "truncate-to-month",
    "show-last-4",
    "show-first-4",
]
# The strictest first, by what is left of a value: nothing, a constant, its shape, equality within a query, equality
# everywhere (which a dictionary of likely values undoes), its year, its month, four characters at the end (often the
# check digits), four at the beginning (often the whole of a short name).
MASK_ACTIONS: tuple[MaskAction, ...] = get_args(MaskAction)
FIXED_VALUE: MaskAction = "mask-to-fixed-value"
# What `mask-to-fixed-value` shows where the policy names no value: texts that engines read as values of such a type.
FIXED_VALUES = {
    "text": "xxxx",
    "number": "0",
    "boolean": "false",
    "date": "1970-01-01",
    "timestamp": "1970-01-01 00:00:00",
    "uuid": "00000000-0000-0000-0000-000000000000",
}
SHOWN_CHARACTERS = 4  # what `show-first-4` and `show-last-4` leave


@dataclass(frozen=True, slots=True)
class Mask:
    """`value` is what `mask-to-fixed-value` shows; None leaves the choice to the enforcer, by the column's type."""

    action: MaskAction
    value: str | int | float | bool | None = None

    @property
    def strictness(self) -> int:
        """0 is the strictest."""
        return MASK_ACTIONS.index(self.action)

    def as_json(self) -> str | dict[str, Any]:
        return self.action if self.value is None else {"action": self.action, "value": self.value}


def parse_mask(checker: Checker, given: Any) -> Mask | None:
    """`"show-last-4"` or `{"action": "mask-to-fixed-value", "value": …}`; records what is wrong with it."""
    if isinstance(given, str):
        given = {"action": given}
    if not isinstance(given, dict):
        checker.refuse("INVALID_TYPE", "mask must be an action, or an object with `action` and `value`", "mask")
        return None
    refuse_unknown(checker, given, ("action", "value"), "mask")
    action, value = given.get("action"), given.get("value")
    if action not in MASK_ACTIONS:
        described = f"unknown mask {str(action)[:MAX_LENGTH]!r}; {hint(str(action), MASK_ACTIONS)}"
        checker.refuse("INVALID_VALUE", described, "mask.action")
        return None
    if value is not None and not _is_fixed_value(checker, action, value):
        return None
    return Mask(action, value)


def _is_fixed_value(checker: Checker, action: MaskAction, value: Any) -> bool:
    if action != FIXED_VALUE:
        checker.refuse("INVALID_VALUE", f"only {FIXED_VALUE} has a value; leave it out with {action}", "mask.value")
        return False
    if isinstance(value, str) and len(value) > MAX_NAME:
        checker.refuse("TOO_LONG", f"mask.value must not exceed {MAX_NAME} characters", "mask.value")
        return False
    if isinstance(value, str):
        return checker.text(value, "mask.value") is not None
    if not isinstance(value, bool | int | float):
        checker.refuse("INVALID_TYPE", "mask.value must be a string, a number or a boolean", "mask.value")
        return False
    return True
