"""Turns a LilyError into a message, and any failure into an exit code."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lily.cli.answer import complain, print_json
from lily.model.errors import LilyError, Refused


@contextmanager
def reporting_errors(argv: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except LilyError as error:
        if asks_for_json(argv):
            print_json({"errors": problems_of(error)})
        else:
            complain(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def asks_for_json(argv: Sequence[str]) -> bool:
    """Read from the words themselves, because the error may come before they are parsed."""
    pairs = zip(argv, [*argv[1:], ""], strict=True)
    return any(word == "--format=json" or (word == "--format" and value == "json") for word, value in pairs)


def problems_of(error: LilyError) -> list[dict[str, str]]:
    """The contract's shape of an error: a refusal spells its problems out, any other is one by its type."""
    if isinstance(error, Refused):
        return [problem.as_dict() for problem in error.problems]
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).upper()
    return [{"code": code, "description": str(error), "entity": ""}]
