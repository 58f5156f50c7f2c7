"""What a request needs: the questions that must all be allowed."""

from collections.abc import Sequence

from lily.enforce.questions import Question
from lily.enforce.trino.objects import ObjectNames, Path, is_builtin, operator
from lily.enforce.trino.operations import OPERATIONS, Operation
from lily.enforce.trino.requests import Request, Resource
from lily.model.errors import Problem, Refused
from lily.policy import Action

_PARTS = {"catalog": 1, "schema": 2, "table": 3, "columns": 3, "function": 3, "moved": 3}


def needs(request: Request, resource: Resource, names: ObjectNames) -> list[Question] | None:
    """None if the operation is unknown, and so denied. Raises Refused if the request lacks what it is about."""
    operation = OPERATIONS.get(request.operation)
    if operation is None:
        return None
    if operation.subject == "free":
        return []
    if operation.subject == "own" and resource.user == request.user:
        return []
    if operation.subject in ("own", "operator"):
        return [operator(action) for action in operation.actions]
    path = _path(request.operation, operation, resource)
    return [
        question for action in operation.actions for question in _about(operation, action, path, resource, names)
    ] + _moved(request, operation, path, names)


def _about(
    operation: Operation, action: Action, path: Path, resource: Resource, names: ObjectNames
) -> Sequence[Question]:
    match operation.subject:
        case "columns":
            return names.columns(action, path, resource.columns)
        case "table" | "moved":
            return [names.table(action, path, operation.rule)]
        case "function" if is_builtin(path):
            return []
        case _:
            return [names.question(action, path, operation.rule)]


def _moved(request: Request, operation: Operation, path: Path, names: ObjectNames) -> list[Question]:
    """Under another name the data would have neither its tags nor its policies: only who may read all of it as it is
    may move it, and only where new tables may be created."""
    if operation.subject != "moved":
        return []
    clear = names.table("READ", path)
    clear = clear._replace(in_clear=True, whole=(*clear.whole, *names.of(path)))
    if request.operation == "RenameColumn":
        return [clear]
    return [clear, names.table("WRITE", _path(request.operation, operation, request.target), "new")]


def _path(name: str, operation: Operation, resource: Resource) -> Path:
    wanted = _PARTS[operation.subject]
    if len(resource.path) < wanted:
        described = f"{name} is about a {operation.subject}, but the request names none; check Trino's version"
        raise Refused(Problem("MISSING_FIELD", described, "input.action.resource"))
    return resource.path[:wanted]
