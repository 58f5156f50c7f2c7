"""What a policy is, once it has been validated."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from lily.policy.conditions import Conditions
from lily.policy.masks import Mask
from lily.policy.names import ResourceKind, SubjectKind
from lily.policy.row_filters import RowFilter

Action = Literal["READ", "WRITE", "DELETE"]
Effect = Literal["allow", "deny", "mask", "row-filter"]
Plane = Literal["metadata", "data"]
ACTIONS: tuple[Action, ...] = get_args(Action)
EFFECTS: tuple[Effect, ...] = get_args(Effect)
PLANES: tuple[Plane, ...] = get_args(Plane)


class Subject(NamedTuple):
    """`name` as stated; `key` as the index finds it."""

    kind: SubjectKind
    name: str
    key: str


class Resource(NamedTuple):
    """An asset that is stated by its qualified name has two keys: its id, and its name without case."""

    kind: ResourceKind
    value: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Who (any of `subjects`) may or may not do what (`actions`) to which assets (any of `resources`), and when
    (all `conditions`). `mask` and `row_filter` narrow an allow of another policy and never grant."""

    id: str
    name: str
    subjects: tuple[Subject, ...]
    resources: tuple[Resource, ...]
    actions: tuple[Action, ...]
    effect: Effect
    mask: Mask | None = None
    row_filter: RowFilter | None = None
    conditions: Conditions | None = None
    priority: int = 0
    applies_to: tuple[Plane, ...] = PLANES

    @property
    def order(self) -> tuple[int, int, str]:
        """Of two policies with the same effect the smaller decides: priority, strictness of the mask, id."""
        return (-self.priority, self.mask.strictness if self.mask else 0, self.id)

    def as_dict(self) -> dict[str, Any]:
        """The fields as the API takes and shows them, normalised. `parse_policy` returns the same policy from them."""
        shown: dict[str, Any] = {
            "name": self.name,
            "subjects": [{subject.kind: subject.name} for subject in self.subjects],
            "resources": [{resource.kind: resource.value} for resource in self.resources],
            "actions": list(self.actions),
            "effect": self.effect,
            "mask": self.mask and self.mask.as_json(),
            "row_filter": self.row_filter and self.row_filter.sql,
            "conditions": self.conditions and self.conditions.stated,
            "priority": self.priority,
            "applies_to": list(self.applies_to),
        }
        return {field: value for field, value in shown.items() if value is not None}
