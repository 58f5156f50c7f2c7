"""The analyzer process, `python -m lily.intake.sql`: one request per line of standard input, one result per line."""

import logging
import resource
import select
import sys
import threading

import orjson

from lily.intake.sql.analysis import analyze
from lily.intake.sql.protocol import AnalysisRequest
from lily.model.errors import Problem, Refused

IDLE_SECONDS = 120.0
MEMORY_BYTES = 1536 << 20  # of address space: a query can have exponentially many columns
STACK_BYTES = 256 << 20
RECURSION_LIMIT = 20_000  # sqlglot needs about 20 calls per level of nesting


def main() -> None:
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its warnings are part of the result
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=_serve)  # the stack size only applies to new threads
    thread.start()
    thread.join()


def _serve() -> None:
    """Returns at the end of the input, or after some time without a request."""
    while select.select([sys.stdin.buffer], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        sys.stdout.buffer.write(_reply(line) + b"\n")
        sys.stdout.buffer.flush()


def _reply(line: bytes) -> bytes:
    try:
        return orjson.dumps({"result": analyze(AnalysisRequest.from_json(orjson.loads(line))).as_json()})
    except Refused as error:
        return _refused(*error.problems)
    except (RecursionError, MemoryError):
        return _refused(
            Problem("TOO_COMPLEX", "the script is nested too deeply or has too many columns; split it", "sql")
        )
    except Exception as error:  # noqa: BLE001 - an error in sqlglot must not end the process
        why = f"the script could not be analyzed: {type(error).__name__}: {str(error)[:300]}"
        return _refused(Problem("SQL_NOT_FOLLOWED", why, "sql"))


def _refused(*problems: Problem) -> bytes:
    return orjson.dumps({"problems": [problem.as_dict() for problem in problems]})


if __name__ == "__main__":
    main()
