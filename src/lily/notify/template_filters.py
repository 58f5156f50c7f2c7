"""The filters of templates. Those that write a text pay for its length, so that no chain of them is expensive: `join`
of a text by a text would square its length each time."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, TemplateRuntimeError, Undefined, pass_context
from jinja2.filters import do_join
from jinja2.runtime import Context

MAX_WORK = 1_000_000  # characters that the filters of one rendering may read and write
WORK = "_work"  # what the context has besides the fields; a template cannot name it
KEPT = ("count", "default", "first", "last", "length")  # as Jinja has them: they write nothing
LETTERS = ("capitalize", "lower", "title", "upper")

Filter = Callable[..., Any]


class Work:
    """What one rendering has left."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def pay(self, characters: int) -> None:
        """Raises TemplateRuntimeError if it is more than is left."""
        self._left -= characters
        if self._left < 0:
            raise TemplateRuntimeError(f"its filters write more than {MAX_WORK:,} characters; use fewer of them")


def filters_of(environment: Environment) -> dict[str, Filter]:
    """By name: all that a template can use."""
    known = environment.filters
    kept = {name: known[name] for name in KEPT}
    return kept | {name: _paid(known[name]) for name in LETTERS} | {"join": join, "trim": trim}


@pass_context
def join(context: Context, value: Any, separator: Any = "", attribute: str | int | None = None) -> str:
    """Of lists alone. Raises TypeError for anything else."""
    if not isinstance(value, list | tuple | Undefined):
        raise TypeError(f"join takes a list, not {type(value).__name__}")
    items = list(value)
    context[WORK].pay(sum(len(str(one)) for one in items) + len(str(separator)) * len(items))
    return str(do_join(context.eval_ctx, items, str(separator), attribute))


@pass_context
def trim(context: Context, value: Any, characters: str | None = None) -> str:
    text = str(value)
    context[WORK].pay(len(text) * len(characters or " "))  # each letter is compared with each of them
    return text.strip(characters)


def _paid(original: Filter) -> Filter:
    @pass_context
    def paid(context: Context, value: Any) -> str:
        text = str(value)
        context[WORK].pay(len(text))
        return str(original(text))

    return paid
