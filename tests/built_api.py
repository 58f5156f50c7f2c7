"""The API without its services, and its document, built once per process: each takes a second."""

from functools import cache
from typing import Any

from lily.api.application import Application
from lily.api.server import build
from lily.settings import Settings


@cache
def built_api() -> Application:
    return build(Settings())


def document() -> dict[str, Any]:
    return built_api().openapi()


def operations() -> list[str]:
    return [f"{method.upper()} {path}" for path, methods in document()["paths"].items() for method in methods]
