"""A method of both clients, made from the description of one call: `Lily` blocks, `AsyncLily` is awaited.

The parameters come from the description and the result from the kind of client, for type checkers, editors and
`help()` alike.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from lily.client.call import Call
from lily.client.results import Page

P = ParamSpec("P")
T = TypeVar("T")
Blocked = TypeVar("Blocked")
Awaited = TypeVar("Awaited")


class Blocking(Protocol):
    """Sends calls and returns their results. Raises LilyApiError."""

    def send(self, call: Call[T]) -> T: ...

    def pages(self, call: Call[Page[T]]) -> Iterator[T]: ...


class Awaiting(Protocol):
    """Sends calls within an event loop. Raises LilyApiError when awaited."""

    def send(self, call: Call[T]) -> Coroutine[Any, Any, T]: ...

    def pages(self, call: Call[Page[T]]) -> AsyncIterator[T]: ...


class Method(Generic[P, Blocked, Awaited]):
    """A function as a method. What it returns depends on the client; at run time the client's own verbs decide."""

    def __init__(self, function: Callable[Concatenate[Any, P], Blocked | Awaited], describe: Callable[P, Any]) -> None:
        self._function = update_wrapper(function, describe)
        signature = inspect.signature(describe)
        client = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [client, *signature.parameters.values()]
        # The description lacks `self` and returns a Call, so its own signature would mislead.
        shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
        vars(function)["__signature__"] = shown

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], Any]: ...

    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Blocked]: ...

    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Awaited]: ...

    def __get__(self, client: Blocking | Awaiting | None, owner: type) -> Callable[..., Any]:
        return self._function if client is None else MethodType(self._function, client)


def sends(describe: Callable[P, Call[T]]) -> Method[P, T, Coroutine[Any, Any, T]]:
    """A method that sends the described call and returns its result."""

    def send(client: Blocking | Awaiting, /, *args: P.args, **kwargs: P.kwargs) -> T | Coroutine[Any, Any, T]:
        return client.send(describe(*args, **kwargs))

    return Method(send, describe)


def pages(describe: Callable[P, Call[Page[T]]]) -> Method[P, Iterator[T], AsyncIterator[T]]:
    """A method that iterates over the items of all pages, from the described call on."""

    def fetch(client: Blocking | Awaiting, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T] | AsyncIterator[T]:
        return client.pages(describe(*args, **kwargs))

    return Method(fetch, describe)
