"""Errors as gRPC statuses: a code, a message, and for invalid input one field violation per problem in the details,
and for what may be repeated later the pause."""

from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from lily.api.http.errors import Declined
from lily.bus.producer import LogFull
from lily.model.errors import Problem, Refused, Transient

DETAILS = "grpc-status-details-bin"

# Both are sent in the trailing metadata, of which clients accept 8 KB by default. Every byte of the message that is not
# ASCII becomes three characters, and the details are base64.
MAX_MESSAGE_BYTES = 1_000
MAX_DETAILS_BYTES = 2_000

_CODES = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    413: StatusCode.RESOURCE_EXHAUSTED,
    422: StatusCode.FAILED_PRECONDITION,
    429: StatusCode.RESOURCE_EXHAUSTED,
}


class Failure(NamedTuple):
    code: StatusCode
    message: str
    trailing: tuple[tuple[str, bytes], ...] = ()


def failure_for(error: Exception, correlation: str = "") -> Failure:
    """The status for an exception. An unexpected one shows no details, only the correlation id."""
    match error:
        case Refused():
            status = error.status if isinstance(error, Declined) else 400
            pause = error.headers.get("Retry-After") if isinstance(error, Declined) else None
            return _refused(_CODES.get(status, StatusCode.FAILED_PRECONDITION), error.problems, pause)
        case LogFull():
            return Failure(StatusCode.RESOURCE_EXHAUSTED, f"LOG_FULL: {error}")
        case Transient():
            return Failure(StatusCode.UNAVAILABLE, f"UNAVAILABLE: {error}")
        case _:
            description = f"internal error; search the API's log for the correlation id {correlation}"
            return Failure(StatusCode.INTERNAL, f"INTERNAL: {description}")


def _refused(code: StatusCode, problems: tuple[Problem, ...], pause: str | None) -> Failure:
    message = _cut("; ".join(_line(problem) for problem in problems))
    status = Status(code=code.value[0], message=message)
    if code is StatusCode.INVALID_ARGUMENT:
        status.details.add().Pack(_violations(problems))
    elif pause is not None:
        status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=int(pause))))
    else:
        return Failure(code, message)
    return Failure(code, message, ((DETAILS, status.SerializeToString()),))


def _line(problem: Problem) -> str:
    fields = problem.as_dict()
    return f"{fields['code']}: {fields['description']}" + (f" ({fields['entity']})" if fields["entity"] else "")


def _violations(problems: tuple[Problem, ...]) -> BadRequest:
    """As many as fit. The first one always fits, because its texts are shortened."""
    violations = BadRequest()
    for problem in problems:
        fields = {key: _cut(value, MAX_DETAILS_BYTES // 4) for key, value in problem.as_dict().items()}
        violation = BadRequest.FieldViolation(
            field=fields["entity"], description=fields["description"], reason=fields["code"]
        )
        if violations.ByteSize() + violation.ByteSize() > MAX_DETAILS_BYTES:
            break
        violations.field_violations.append(violation)
    return violations


def _cut(text: str, size: int = MAX_MESSAGE_BYTES) -> str:
    return text.encode()[:size].decode(errors="ignore")
