"""Lets a method show the signature and the words of the call that it makes."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

M = TypeVar("M", bound=Callable[..., Any])


def worded_as(describe: Callable[..., Any]) -> Callable[[M], M]:
    """For `help()` and notebooks; type checkers see the same through the ParamSpec."""

    def decorate(method: M) -> M:
        update_wrapper(method, describe)
        shown = inspect.signature(describe)
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [itself, *shown.parameters.values()]
        # update_wrapper's own __wrapped__ would hide that the method takes a self.
        vars(method)["__signature__"] = shown.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
        return method

    return decorate
