"""Answers questions about SQL, a line each, until nobody asks any more: `python -m lily.intake.sql`."""

import logging
import resource
import select
import sys
import threading

import orjson

from lily.intake.sql.analysis import answer
from lily.intake.sql.questions import Question
from lily.model.errors import Problem, Refused

IDLE_SECONDS = 120.0
MEMORY_BYTES = 1536 << 20  # of addresses: a query can ask for exponentially many columns
STACK_BYTES = 256 << 20
DEEPEST = 20_000  # calls: sqlglot reads what is nested by recursion, about 20 a level


def main() -> None:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # what it would warn of is part of the answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.setrecursionlimit(DEEPEST)
    threading.stack_size(STACK_BYTES)
    answering = threading.Thread(target=_serve)
    answering.start()
    answering.join()


def _serve() -> None:
    """Ends when the one who asks is gone, or has not asked for a while."""
    while select.select([sys.stdin.buffer], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        sys.stdout.buffer.write(_answered(line) + b"\n")
        sys.stdout.buffer.flush()


def _answered(line: bytes) -> bytes:
    try:
        return orjson.dumps({"answer": answer(Question.of_json(orjson.loads(line))).as_json()})
    except Refused as error:
        return _refused(*error.problems)
    except (RecursionError, MemoryError):
        return _refused(Problem("TOO_COMPLEX", "the script is nested too deep or too wide", "sql"))
    except Exception as error:  # noqa: BLE001 - a statement that sqlglot stumbles over must not end the process
        why = f"the script could not be followed: {type(error).__name__}: {str(error)[:300]}"
        return _refused(Problem("SQL_NOT_FOLLOWED", why, "sql"))


def _refused(*problems: Problem) -> bytes:
    return orjson.dumps({"problems": [problem.as_dict() for problem in problems]})


if __name__ == "__main__":
    main()
