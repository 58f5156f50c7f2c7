"""Reads the facets of one run, job or dataset, each on its own: what is wrong with one is reported, and spoils that
facet alone."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from lily.model.errors import Problem, Refused
from lily.model.values import Checker

Json = dict[str, Any]
Found = TypeVar("Found")

MAX_REPORTED = 10  # problems of one facet: they repeat themselves, and a facet may have a million entries


class FacetReader:
    """`warnings` collects what is wrong. `spoiled` has the names of the facets of this holder that were left out."""

    __slots__ = ("_given", "_where", "spoiled", "warnings")

    def __init__(self, warnings: list[Problem], holder: Json, entity: str, place: str = "facets") -> None:
        self.warnings = warnings
        self.spoiled: set[str] = set()
        self._where = f"{entity}.{place}"
        given = holder.get(place)
        self._given: Json = given if isinstance(given, dict) else {}
        if given is not None and not isinstance(given, dict):
            warnings.append(Problem("INVALID_TYPE", f"{self._where} must be an object; it was ignored", self._where))

    def __bool__(self) -> bool:
        return bool(self._given)

    def places(self, names: Iterable[str]) -> list[str]:
        """Where those of the facets are that are present."""
        return [f"{self._where}.{name}" for name in names if self._given.get(name) is not None]

    def read(self, name: str, parse: Callable[[Checker, Json, str], Found]) -> Found | None:
        """What `parse` returns of the facet; None if it is absent, null, or something in it is wrong."""
        facet = self._given.get(name)
        if facet is None:
            return None
        where, checker = f"{self._where}.{name}", Checker()
        found = None
        if isinstance(facet, dict):
            with suppress(Refused):  # too many problems: the checker has them
                found = parse(checker, facet, where)
        else:
            checker.refuse("INVALID_TYPE", f"{where} must be an object", where)
        if not checker.problems:
            return found
        self.spoil(name, checker.problems)
        return None

    def spoil(self, name: str, problems: list[Problem]) -> None:
        self.spoiled.add(name)
        self.warnings.extend(
            Problem(code, f"{described}; the facet {name} was ignored", entity)
            for code, described, entity in ((p.code, p.description, p.entity) for p in problems[:MAX_REPORTED])
        )
