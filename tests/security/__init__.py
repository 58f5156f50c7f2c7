"""One file per class of vulnerability that comparable systems had, so that what covers a class is found by its name.

Where the parts are tested elsewhere in depth, the file here calls the real API once for the class: access tokens of
OpenID Connect in `tests/unit/oidc/test_signatures.py`, outgoing calls in `tests/unit/outbound/`, row-level security in
`tests/integration/test_tenancy.py`, scopes and policies of every route in `tests/contract/test_route_authorisation.py`.
What can be is generated from the OpenAPI document: a new route is covered without a change here.
"""
