"""The declaration of a route that creates an object."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Responses = Mapping[int | str, dict[str, Any]]


def creates(
    router: APIRouter, path: str, model: type[BaseModel], body: dict[str, Any], *refusals: Responses
) -> Callable[[Endpoint], Endpoint]:
    """`POST path` responds with 201 and the model, or refuses as stated. `body` is what `body_model` returns."""
    responses: dict[int | str, dict[str, Any]] = {201: {"model": model}}
    for refusal in refusals:
        responses |= refusal
    return router.post(path, status_code=201, responses=responses, openapi_extra=body)
