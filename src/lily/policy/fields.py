"""Reads the fields of an administrative object and records every problem: unknown fields, types, choices."""

from collections.abc import Collection, Mapping
from typing import Any

from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint, similar
from lily.model.values import MAX_ITEMS, MAX_NAME, Checker
from lily.policy.names import EVERY, fold

MAX_REPORTED = 20  # unknown fields of one object


def the_object(data: Any, known: Collection[str], what: str) -> tuple[Checker, Mapping[str, Any]]:
    """A checker that has recorded the unknown fields. Raises Refused if the data is not an object."""
    if not isinstance(data, Mapping):
        raise Refused(Problem("INVALID_TYPE", f"a {what} must be a JSON object with the fields {', '.join(known)}"))
    checker = Checker()
    refuse_unknown(checker, data, known, "")
    return checker, data


def refuse_unknown(checker: Checker, data: Mapping[Any, Any], known: Collection[str], within: str) -> None:
    unknown = [str(field) for field in data if field not in known]
    for field in unknown[:MAX_REPORTED]:
        quoted = field[:MAX_LENGTH]
        entity = f"{within}.{quoted}" if within else quoted
        checker.refuse("UNKNOWN_FIELD", f"unknown field `{quoted}`; {hint(field, known)}", entity)


def choices(checker: Checker, value: Any, known: Collection[str], entity: str) -> list[str]:
    """A list of at least one of the known words, which compare without case, in the order in which they are known."""
    if not isinstance(value, list) or not value:
        checker.refuse("INVALID_TYPE", f"{entity} must be a list with at least one of: {', '.join(known)}", entity)
        return []
    by_fold = {fold(word): word for word in known}
    found: set[str] = set()
    for index, item in enumerate(value[:MAX_ITEMS]):
        word = by_fold.get(fold(item)) if isinstance(item, str) else None
        if word is None:
            described = f"unknown value {str(item)[:MAX_LENGTH]!r}; {hint_any_case(str(item), known)}"
            checker.refuse("INVALID_VALUE", described, f"{entity}[{index}]")
        else:
            found.add(word)
    return [word for word in known if word in found]


def hint_any_case(given: str, known: Collection[str]) -> str:
    """A hint for words that may be written in capitals."""
    by_fold = {fold(word): word for word in known}
    meant = similar(fold(given), by_fold)
    return f"did you mean `{by_fold[meant]}`?" if meant else hint(given, known)


def optional_names(checker: Checker, value: Any, entity: str, limit: int = MAX_NAME) -> tuple[str, ...]:
    """A list of names that may be absent. The same name in another case counts as a duplicate."""
    if value is None:
        return ()
    found = checker.names(value, entity, limit) or []
    if EVERY in found:
        checker.refuse("INVALID_VALUE", f"{entity} must name each one; `*` is allowed in policies only", entity)
    return tuple({fold(name): name for name in reversed(found)}.values())[::-1]


def own_name(checker: Checker, data: Mapping[str, Any], what: str) -> str:
    """The required field `name`."""
    if data.get("name") is None:
        checker.refuse("MISSING_FIELD", f"name is required: what the {what} is called", "name")
        return ""
    name = checker.name(data["name"], "name") or ""
    if name == EVERY:
        checker.refuse("INVALID_VALUE", f"a {what} cannot be called `*`, which stands for everyone in policies", "name")
    return name


def finish(checker: Checker) -> None:
    """Raises Refused if a problem was recorded."""
    if checker.problems:
        raise Refused(*checker.problems)
