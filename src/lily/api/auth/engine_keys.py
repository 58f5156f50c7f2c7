"""Engine keys: API tokens in the path, for engines that cannot send a header (`/enforce/opa/k/{key}/allow`).

The key is taken out of the path before anything else sees it, so it cannot reach a log, a trace, a metric or the body
of an error. Only a token with the single scope `enforce:read` is accepted there: a proxy on the way may log paths, and
what it logs must not open anything else.
"""

import re
from collections.abc import MutableMapping
from typing import Annotated, Any, Final

from fastapi import Depends, Path, Request
from pydantic import SecretStr

from lily.api.auth.oidc.bearer import looks_like_jwt
from lily.api.calls import HttpCall, address_of, begun, services_of
from lily.api.http.errors import forbidden, unauthenticated
from lily.api.http.query import refuse_unknown_parameters
from lily.model.access import Scope

NEEDED: Final[Scope] = "enforce:read"
HIDDEN = "~"  # what the path has in place of the key
_PREFIX = "/enforce/"
_KEYED = re.compile(r"(/enforce/[^/]+/k/)([^/]+)(.*)", re.DOTALL)
_SCOPE_KEY = "lily.engine_key"


def hide_engine_key(scope: MutableMapping[str, Any]) -> None:
    """Moves the key of a request from its path to where only `engine_call` looks."""
    path = scope.get("path", "")
    keyed = _KEYED.fullmatch(path) if path.startswith(_PREFIX) else None
    if keyed is not None:
        before, key, after = keyed.groups()
        scope[_SCOPE_KEY] = SecretStr(key)  # hidden also where a traceback shows the scope
        scope["path"] = f"{before}{HIDDEN}{after}"
        scope["raw_path"] = scope["path"].encode()


def has_engine_key(request: Request) -> bool:
    """Whether something was taken out of the path as a key."""
    return _SCOPE_KEY in request.scope


_NO_KEY = "the key in the path is not valid, or was revoked; `lily token create --engine` creates one"

KeyPath = Annotated[str, Path(description="An API token with the single scope enforce:read")]


async def engine_call(request: Request, key: KeyPath) -> HttpCall:  # noqa: ARG001 - the key itself was taken out of the path
    """Raises Declined with 401 unless the key in the path is a valid API token, with 403 if it has any other scope."""
    services = services_of(request)
    stated = request.scope.get(_SCOPE_KEY, SecretStr("")).get_secret_value()
    principal = None if looks_like_jwt(stated) else await services.principals.of(stated, address_of(request))
    if principal is None:
        raise unauthenticated(_NO_KEY)
    services.quotas.count(principal)
    call = begun(request, principal)
    if principal.scopes != {NEEDED}:
        raise forbidden(f"a key in a path needs the single scope {NEEDED}; `lily token create --engine` creates one")
    refuse_unknown_parameters(request)
    return call


Engine = Annotated[HttpCall, Depends(engine_call)]
