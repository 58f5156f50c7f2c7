"""How much of a body with many rows, or of an OpenLineage event, was taken."""

from typing import Literal

from pydantic import BaseModel

from lily.api.http.openapi.responses.errors import Problem


class RowProblem(Problem):
    row: int


class Bulk(BaseModel):
    accepted: int
    rejected: int
    errors: list[RowProblem]


class LineageTaken(BaseModel):
    """The number of assets and edges in an OpenLineage event; `warnings` lists what is wrong with facets that were
    ignored, and is absent if none were."""

    status: Literal["success"]
    assets: int
    edges: int
    warnings: list[Problem] = []


class LineageTakenMany(Bulk):
    """As for other bulk bodies, with the warnings of all events."""

    warnings: list[RowProblem] = []
