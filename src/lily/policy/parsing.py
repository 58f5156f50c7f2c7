"""Validates a policy as the API takes it."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from lily.model import ids
from lily.model.assets import ENTITY_TYPES
from lily.model.suggestions import MAX_LENGTH
from lily.model.values import MAX_ITEMS, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG, Checker
from lily.policy import names
from lily.policy.condition_parsing import parse_conditions
from lily.policy.fields import choices, finish, hint_any_case, own_name, the_object
from lily.policy.masks import parse_mask
from lily.policy.names import EVERY, EVERYONE, EVERYTHING, ResourceKind, SubjectKind
from lily.policy.policies import ACTIONS, EFFECTS, PLANES, Effect, Policy, Resource, Subject
from lily.policy.row_filters import RowFilter, checked_row_filter

FIELDS = (
    "name",
    "subjects",
    "resources",
    "actions",
    "effect",
    "mask",
    "row_filter",
    "conditions",
    "priority",
    "applies_to",
)
SUBJECT_KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)
RESOURCE_KINDS: tuple[ResourceKind, ...] = get_args(ResourceKind)
MAX_PRIORITY = 1_000_000


def parse_policy(data: Any, *, tenant: str, policy_id: str) -> Policy:
    """Raises Refused with every problem found."""
    return _policy(data, tenant, policy_id, stored=False)


def stored_policy(data: Any, *, tenant: str, policy_id: str) -> Policy:
    """A policy that `parse_policy` accepted before: its row filter is parsed when it is rendered, not now, because
    that takes milliseconds and an index has thousands. Raises Refused for anything else that is wrong. A policy that
    is refused must not be left out of an index: it may be a deny.
    """
    return _policy(data, tenant, policy_id, stored=True)


def _policy(data: Any, tenant: str, policy_id: str, *, stored: bool) -> Policy:
    checker, fields = the_object(data, FIELDS, "policy")
    name = own_name(checker, fields, "policy")
    subjects = [
        _subject(checker, entry, f"subjects[{at}]") for at, entry in enumerate(_entries(checker, fields, "subjects"))
    ]
    resources = [
        _resource(checker, entry, tenant, f"resources[{at}]")
        for at, entry in enumerate(_entries(checker, fields, "resources"))
    ]
    actions: Any = choices(checker, fields.get("actions"), ACTIONS, "actions")
    effect = _effect(checker, fields.get("effect"))
    planes: Any = PLANES
    if fields.get("applies_to") is not None:
        planes = choices(checker, fields["applies_to"], PLANES, "applies_to")
    _refuse_contradictions(checker, fields, effect, actions, planes)
    mask = parse_mask(checker, fields["mask"]) if fields.get("mask") is not None else None
    row_filter = _row_filter(checker, fields.get("row_filter"), stored=stored)
    conditions = parse_conditions(checker, fields.get("conditions"))
    priority = _priority(checker, fields.get("priority"))
    finish(checker)
    return Policy(
        policy_id,
        name,
        tuple(dict.fromkeys(subject for subject in subjects if subject is not None)),
        tuple(dict.fromkeys(resource for resource in resources if resource is not None)),
        tuple(actions),
        effect or "deny",
        mask,
        row_filter,
        conditions,
        priority,
        tuple(planes),
    )


def _entries(checker: Checker, fields: Mapping[str, Any], field: str) -> list[Any]:
    kinds = SUBJECT_KINDS if field == "subjects" else RESOURCE_KINDS
    value = fields.get(field)
    if isinstance(value, list) and 0 < len(value) <= MAX_ITEMS:
        return value
    code = "MISSING_FIELD" if value is None else "INVALID_TYPE"
    example = f'{{"{kinds[0]}": NAME}}'
    described = f"{field} must be a list of 1 to {MAX_ITEMS} objects such as {example}, each with one of: "
    checker.refuse(code, described + ", ".join(kinds), field)
    return []


def _subject(checker: Checker, entry: Any, entity: str) -> Subject | None:
    kind, value = _kind_and_value(checker, entry, SUBJECT_KINDS, entity)
    name = checker.name(value, f"{entity}.{kind}", MAX_NAME) if kind else None
    if name is None:
        return None
    if name == EVERY:
        return Subject(kind, name, EVERYONE)
    key_of = {"user": names.user_key, "group": names.group_key, "role": names.role_key}
    return Subject(kind, name, key_of[kind](name))


def _resource(checker: Checker, entry: Any, tenant: str, entity: str) -> Resource | None:
    kind, given = _kind_and_value(checker, entry, RESOURCE_KINDS, entity)
    limits = {"asset": MAX_QUALIFIED_NAME, "tag": MAX_TAG}
    value = checker.name(given, f"{entity}.{kind}", limits.get(kind, MAX_NAME)) if kind else None
    if value is None:
        return None
    if kind == "entity_type" and value != EVERY:
        value = names.fold(value)
        if value not in ENTITY_TYPES:
            described = f"unknown entity type {value[:MAX_LENGTH]!r}; {hint_any_case(value, ENTITY_TYPES)}"
            checker.refuse("UNKNOWN_ENTITY_TYPE", described, f"{entity}.{kind}")
            return None
    return Resource(kind, value, _resource_keys(kind, value, tenant))


def _resource_keys(kind: ResourceKind, value: str, tenant: str) -> tuple[str, ...]:
    if value == EVERY and kind in {"asset", "entity_type"}:
        return (EVERYTHING,)
    if kind == "asset":
        return asset_keys(tenant, value)
    key_of: dict[str, Callable[[str], str]] = {
        "tag": names.tag_resource_key,
        "data_source": names.source_key,
        "entity_type": names.type_key,
    }
    return (key_of[kind](value),)


def asset_keys(tenant: str, reference: str) -> tuple[str, ...]:
    """The keys of an asset that is stated by its id or by its qualified name."""
    if ids.looks_like_uuid(reference):
        return (names.id_key(reference),)
    return (names.id_key(ids.asset_id(tenant, reference)), names.name_key(reference))


def _kind_and_value(checker: Checker, entry: Any, kinds: tuple[Any, ...], entity: str) -> tuple[Any, Any]:
    """The one field of a subject or resource; the kind is empty if there is not exactly one."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        checker.refuse("INVALID_TYPE", f"{entity} must be an object with exactly one of: {', '.join(kinds)}", entity)
        return "", None
    ((kind, value),) = entry.items()
    if kind not in kinds:
        quoted = str(kind)[:MAX_LENGTH]
        described = f"unknown field `{quoted}`; {hint_any_case(str(kind), kinds)}"
        checker.refuse("UNKNOWN_FIELD", described, f"{entity}.{quoted}")
        return "", None
    return kind, value


def _effect(checker: Checker, given: Any) -> Effect | None:
    if given is None:
        checker.refuse("MISSING_FIELD", f"effect is required: one of {', '.join(EFFECTS)}", "effect")
        return None
    if given not in EFFECTS:
        described = f"unknown effect {str(given)[:MAX_LENGTH]!r}; {hint_any_case(str(given), EFFECTS)}"
        checker.refuse("INVALID_VALUE", described, "effect")
        return None
    return EFFECTS[EFFECTS.index(given)]


def _refuse_contradictions(
    checker: Checker, fields: Mapping[str, Any], effect: Effect | None, actions: list[str], planes: tuple[str, ...]
) -> None:
    """A policy that could not do what it states is refused, so that nobody relies on it."""
    if effect is None:
        return
    for owner, field in (("mask", "mask"), ("row-filter", "row_filter")):
        if effect == owner and fields.get(field) is None:
            checker.refuse("MISSING_FIELD", f"{field} is required with the effect {owner}", field)
        if effect != owner and fields.get(field) is not None:
            described = f"{field} needs the effect {owner}, not {effect}; change the effect or make two policies"
            checker.refuse("INVALID_VALUE", described, field)
    if effect in {"mask", "row-filter"} and planes and "data" not in planes:
        described = f"the effect {effect} applies to data only; add data to applies_to or use the effect deny"
        checker.refuse("INVALID_VALUE", described, "applies_to")
    if effect == "mask" and actions and actions != ["READ"]:
        described = 'a mask changes what is read; use "actions": ["READ"] and a policy of its own for the others'
        checker.refuse("INVALID_VALUE", described, "actions")


def _row_filter(checker: Checker, given: Any, *, stored: bool) -> RowFilter | None:
    if given is None:
        return None
    if not isinstance(given, str):
        checker.refuse("INVALID_TYPE", "row_filter must be a string: one SQL expression", "row_filter")
        return None
    return RowFilter(given) if stored else checked_row_filter(checker, given)


def _priority(checker: Checker, given: Any) -> int:
    if given is None:
        return 0
    if not isinstance(given, int) or isinstance(given, bool) or abs(given) > MAX_PRIORITY:
        checker.refuse(
            "INVALID_VALUE", f"priority must be a whole number between -{MAX_PRIORITY} and {MAX_PRIORITY}", "priority"
        )
        return 0
    return given
