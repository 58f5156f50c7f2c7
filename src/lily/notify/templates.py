"""Templates of subscriptions: Jinja2 in a sandbox, reduced to what cannot hang or exhaust a worker.

Beside the sandbox, a template is checked when it is stored: only the nodes, filters and names below, no assignment and
no function, and few steps in few loops over short lists. So its steps are bounded before it runs, and what its filters
write and its output while it runs.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, TemplateError, nodes
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from lily.model.errors import Problem, Refused
from lily.model.suggestions import hint
from lily.notify.template_filters import WORK, Work, filters_of

MAX_OUTPUT = 20_000  # characters of a rendered text
MAX_LOOPS, MAX_NESTED = 5, 2
MAX_ITEMS = 50  # of each list
MAX_STEPS = 200_000  # what is evaluated, if every list is that long
LISTS = ("assets", "owners", "tags", "changed")  # what a loop may go through
FIELDS = (
    *LISTS,
    "asset",
    "at",
    "by",
    "count",
    "incident",
    "kind",
    "mentions",
    "severity",
    "tenant",
    "text",
    "title",
    "url",
)
FILTERS = ("capitalize", "count", "default", "first", "join", "last", "length", "lower", "title", "trim", "upper")
_TESTS = ("defined", "undefined", "none", "eq", "ne", "in")
_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Const,
    nodes.Name,
    nodes.Getattr,
    nodes.For,
    nodes.If,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Filter,
    nodes.Test,
    nodes.Concat,
)


def check_template(source: str, entity: str) -> None:
    """Raises Refused with what is not permitted, and where."""
    try:
        tree = _environment().parse(source)
    except TemplateError as error:
        raise Refused(Problem("INVALID_TEMPLATE", f"the template cannot be read: {error}", entity)) from error
    except RecursionError as error:
        raise Refused(Problem("INVALID_TEMPLATE", "the template is nested too deeply", entity)) from error
    for problem in _problems(tree):
        raise Refused(Problem("INVALID_TEMPLATE", problem, entity))


def render(source: str, values: Mapping[str, Any]) -> str:
    """The text, cut to MAX_OUTPUT characters. Raises TemplateError. `values` are plain texts, numbers and lists."""
    parts: list[str] = []
    room = MAX_OUTPUT
    for part in _compiled(source).generate({**values, WORK: Work()}):
        parts.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return "".join(parts)


class _Sandbox(ImmutableSandboxedEnvironment):
    """Objects have fields, and a loop its state. A method would show the address of its text in memory."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return isinstance(obj, LoopContext) and super().is_safe_attribute(obj, attr, value)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    # Plain text: each channel escapes for its own format.
    environment = _Sandbox(
        undefined=ChainableUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    environment.filters = filters_of(environment)
    environment.tests = {name: environment.tests[name] for name in _TESTS}
    return environment


@lru_cache(maxsize=512)
def _compiled(source: str) -> Any:
    return _environment().from_string(source)


def _problems(tree: nodes.Template) -> Iterator[str]:
    targets = {"loop", *(node.target.name for node in tree.find_all(nodes.For) if isinstance(node.target, nodes.Name))}
    for node in _walk(tree):
        if not isinstance(node, _NODES):
            yield f"line {node.lineno}: `{type(node).__name__.lower()}` is not available in templates"
        elif isinstance(node, nodes.Filter) and node.name not in FILTERS:
            yield f"line {node.lineno}: unknown filter `{node.name[:64]}`; {hint(node.name, FILTERS)}"
        elif isinstance(node, nodes.Test) and node.name not in _TESTS:
            yield f"line {node.lineno}: unknown test `{node.name[:64]}`; {hint(node.name, _TESTS)}"
        elif isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in (*FIELDS, *targets):
            yield f"line {node.lineno}: unknown field `{node.name[:64]}`; {hint(node.name, FIELDS)}"
        elif isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
            yield f"line {node.lineno}: unknown field `{node.attr[:64]}`"
        elif isinstance(node, nodes.For):
            yield from _loop_problems(node)
    yield from _too_many(tree)


def _loop_problems(node: nodes.For) -> Iterator[str]:
    if not (isinstance(node.iter, nodes.Name) and node.iter.name in LISTS):
        yield f"line {node.lineno}: a loop goes through one of: {', '.join(LISTS)}"
    if not isinstance(node.target, nodes.Name) or node.target.name in FIELDS or node.recursive:
        yield f"line {node.lineno}: a loop needs one variable with a name of its own, and cannot be recursive"


def _too_many(tree: nodes.Template) -> Iterator[str]:
    loops = list(tree.find_all(nodes.For))
    if len(loops) > MAX_LOOPS:
        yield f"a template has at most {MAX_LOOPS} loops"
    if any(_depth(loop) > MAX_NESTED for loop in loops):
        yield f"at most {MAX_NESTED} loops can be nested"
    if _steps(tree) > MAX_STEPS:
        yield f"a template has at most {MAX_STEPS:,} steps, where one in a loop counts {MAX_ITEMS} times; shorten it"


def _steps(tree: nodes.Template) -> int:
    steps, waiting = 0, list[tuple[nodes.Node, int]]([(tree, 1)])
    while waiting:
        node, times = waiting.pop()
        steps += times
        inner = times * MAX_ITEMS if isinstance(node, nodes.For) else times
        waiting.extend((child, inner) for child in node.iter_child_nodes())
    return steps


def _depth(loop: nodes.For) -> int:
    return 1 + max((_depth(inner) for inner in loop.find_all(nodes.For)), default=0)


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.iter_child_nodes())
