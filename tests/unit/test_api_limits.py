"""What a caller reads who has stored as much as the operator permits."""

import orjson

from lily.api.http.errors import error_response, limit_reached


def test_a_reached_limit_names_the_setting_and_the_remedy_and_is_not_to_be_repeated() -> None:
    response = error_response(limit_reached("quality_policies", 1_000, "/quality-policies/{id}"))
    (problem,) = orjson.loads(response.body)["errors"]
    assert (response.status_code, problem["code"]) == (409, "TOO_MANY_QUALITY_POLICIES")
    assert "retry-after" not in response.headers
    for part in ("1,000 quality policies", "LILY_LIMITS__QUALITY_POLICIES", "DELETE /quality-policies/{id}"):
        assert part in problem["description"]
