"""Every failure as gRPC answers it: a code, a message, and for bad input each problem by itself in the details."""

from typing import NamedTuple

from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from lily.api.http.errors import Declined
from lily.bus.producer import LogFull
from lily.model.errors import Problem, Refused, Transient

DETAILS = "grpc-status-details-bin"

# Both travel in the trailing metadata, of which a client takes 8 KB if nobody told it otherwise: the message with three
# letters for each that is not ASCII, the details in base64.
MOST_MESSAGE_BYTES = 1_000
MOST_DETAILS_BYTES = 2_000

_CODES = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    413: StatusCode.RESOURCE_EXHAUSTED,
    422: StatusCode.FAILED_PRECONDITION,
}


class Failure(NamedTuple):
    code: StatusCode
    message: str
    trailing: tuple[tuple[str, bytes], ...] = ()


def failure_for(error: Exception, correlation: str = "") -> Failure:
    """What Lily did not raise on purpose says nothing but where to look it up."""
    match error:
        case Refused():
            status = error.status if isinstance(error, Declined) else 400
            return _refused(_CODES.get(status, StatusCode.FAILED_PRECONDITION), error.problems)
        case LogFull():
            return Failure(StatusCode.RESOURCE_EXHAUSTED, f"LOG_FULL: {error}")
        case Transient():
            return Failure(StatusCode.UNAVAILABLE, f"UNAVAILABLE: {error}")
        case _:
            where = f"INTERNAL: something went wrong here; the log knows more under {correlation}"
            return Failure(StatusCode.INTERNAL, where)


def _refused(code: StatusCode, problems: tuple[Problem, ...]) -> Failure:
    message = _cut("; ".join(_line(problem) for problem in problems))
    if code is not StatusCode.INVALID_ARGUMENT:
        return Failure(code, message)
    status = Status(code=code.value[0], message=message)
    status.details.add().Pack(_violations(problems))
    return Failure(code, message, ((DETAILS, status.SerializeToString()),))


def _line(problem: Problem) -> str:
    told = problem.as_dict()
    return f"{told['code']}: {told['description']}" + (f" ({told['entity']})" if told["entity"] else "")


def _violations(problems: tuple[Problem, ...]) -> BadRequest:
    """As many as fit; the first one, shortened, always does."""
    found = BadRequest()
    for problem in problems:
        told = {key: _cut(value, MOST_DETAILS_BYTES // 4) for key, value in problem.as_dict().items()}
        violation = BadRequest.FieldViolation(
            field=told["entity"], description=told["description"], reason=told["code"]
        )
        if found.ByteSize() + violation.ByteSize() > MOST_DETAILS_BYTES:
            break
        found.field_violations.append(violation)
    return found


def _cut(text: str, most: int = MOST_MESSAGE_BYTES) -> str:
    return text.encode()[:most].decode(errors="ignore")
