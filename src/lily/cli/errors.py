"""Turns a LilyError into a message and an exit code."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lily.cli.hints import complete_hints, data_dir_of
from lily.cli.output import print_error, print_json
from lily.model.errors import LilyError, Refused


@contextmanager
def reporting_errors(argv: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except LilyError as error:
        problems = [
            problem | {"description": complete_hints(problem["description"], data_dir_of(argv))}
            for problem in problems_of(error)
        ]
        if wants_json(argv):
            print_json({"errors": problems})
        else:
            print_error(complete_hints(str(error), data_dir_of(argv)))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def wants_json(argv: Sequence[str]) -> bool:
    """Reads the words themselves, because an error may precede their parsing."""
    pairs = zip(argv, [*argv[1:], ""], strict=True)
    return any(word == "--format=json" or (word == "--format" and value == "json") for word, value in pairs)


def problems_of(error: LilyError) -> list[dict[str, str]]:
    """Returns the contract's form of an error. The code of an error without problems of its own is its type's name."""
    if isinstance(error, Refused):
        return [problem.as_dict() for problem in error.problems]
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).upper()
    return [{"code": code, "description": str(error), "entity": ""}]
