"""One run of a connector: reads the source, applies the transforms, sends the result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from lily.connect.recipes import Recipe
from lily.model.errors import LilyError, Problem, Refused
from lily.plugins import (
    CONNECTORS,
    TRANSFORMS,
    BrokenPlugin,
    Connector,
    Registry,
    SourceAsset,
    SourceEdge,
    SourceItem,
    Transform,
)

MAX_ERRORS = 1_000  # listed in a report; all are counted
T = TypeVar("T")
Stated = SourceAsset | SourceEdge
Transforms = Sequence[tuple[str, Transform]]  # each with its name


@dataclass(slots=True)
class Report:
    """The outcome of a run."""

    read: int = 0
    dropped: int = 0  # by a transform
    accepted: int = 0
    edges: int = 0
    rejected: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)

    def reject(self, *problems: Problem, asset: str = "") -> None:
        self.rejected += 1
        self.describe(*problems, asset=asset)

    def describe(self, *problems: Problem, asset: str) -> None:
        room = max(MAX_ERRORS - len(self.errors), 0)
        self.errors += [problem.as_dict() | {"asset": asset} for problem in problems[:room]]


class Sink(Protocol):
    """Receives the statements of a run. Raises Transient or Terminal if it accepts no more: that ends the run."""

    def send(self, stated: Iterable[Stated], report: Report, on_progress: Callable[[], None]) -> None: ...


def run(recipe: Recipe, plugins: Registry, sink: Sink, on_progress: Callable[[Report], None]) -> Report:
    """Raises what the connector or the sink raises, BrokenPlugin if a plug-in raises anything else."""
    report = Report()
    transforms = [(part.type, plugins.make(TRANSFORMS, part.type, part.settings)) for part in recipe.transforms]
    with closing(plugins.make(CONNECTORS, recipe.source.type, recipe.source.settings)) as connector:
        _check(recipe.source.type, connector)
        found = _guarded(recipe.source.type, connector.read())
        sink.send(_stated(found, transforms, report), report, lambda: on_progress(report))
    on_progress(report)
    return report


def _check(name: str, connector: Connector) -> None:
    try:
        connector.check()
    except LilyError:
        raise
    except Exception as error:
        raise _broken(name, error) from error


def _stated(items: Iterable[SourceItem], transforms: Transforms, report: Report) -> Iterator[Stated]:
    for one in items:
        report.read += 1
        if isinstance(one, Problem):
            report.reject(one)
            continue
        try:
            left = _transformed(one, transforms)
        except Refused as error:
            report.reject(*error.problems, asset=_named(one))
            continue
        report.dropped += not left
        yield from left


def _transformed(one: Stated, transforms: Transforms) -> list[Stated]:
    """A list, because a statement counts only if no transform refuses it."""
    left: list[Stated] = [one]
    for name, transform in transforms:
        left = [after for before in left for after in _guarded(name, _applied(transform, before))]
    return left


def _applied(transform: Transform, stated: Stated) -> Iterator[Stated]:
    yield from transform.asset(stated) if isinstance(stated, SourceAsset) else transform.edge(stated)


def _guarded(name: str, results: Iterable[T]) -> Iterator[T]:
    try:
        yield from results
    except LilyError:
        raise
    except Exception as error:
        raise _broken(name, error) from error


def _broken(name: str, error: Exception) -> BrokenPlugin:
    return BrokenPlugin(f"{name} failed with {type(error).__name__}: {error}. This is a bug of the plug-in.")


def _named(one: Stated) -> str:
    return one.name if isinstance(one, SourceAsset) else f"{one.origin} -> {one.target}"
