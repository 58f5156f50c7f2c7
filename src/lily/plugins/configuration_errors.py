"""What is wrong with a configuration, in the words of the person who wrote it instead of the validator's."""

from typing import Any

from pydantic import BaseModel, ValidationError

from lily.model.suggestions import MAX_LENGTH, hint


def described(error: ValidationError, shape: type[BaseModel]) -> str:
    """All problems as one sentence, with its full stop."""
    problems = "; ".join(_problem(entry["type"], entry["loc"], entry["msg"], shape) for entry in error.errors())
    return problems if problems.endswith("?") else f"{problems}."


def _problem(kind: str, where: tuple[int | str, ...], message: str, shape: type[BaseModel]) -> str:
    name = ".".join(map(str, where))[-MAX_LENGTH:] or "configuration"
    if kind == "missing":
        return f"`{name}` is missing"
    if kind == "extra_forbidden":
        known = known_names(shape, where[:-1])
        return f"unknown `{name}`" + (f"; {hint(str(where[-1]), known)}" if known else "")
    return f"`{name}`: {plain(message)}"


def plain(message: str) -> str:
    """A message of the validator without the prefix that it puts before those of Lily."""
    return message.removeprefix("Value error, ")


def known_names(shape: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    """The names at a place of the configuration; none where they are not those of a model."""
    inner: Any = shape
    for step in where:
        field = inner.model_fields.get(step) if _is_model(inner) else None
        inner = field.annotation if field else None
    return [field.alias or name for name, field in inner.model_fields.items()] if _is_model(inner) else []


def _is_model(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, BaseModel)
